"""Plug-in rules, histograms, nearest neighbours and CART: four rules whose large-sample behaviour is understood."""
