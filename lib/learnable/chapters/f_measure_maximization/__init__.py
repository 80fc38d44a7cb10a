"""Predicting for the F-measure: what is optimal, what is cheap, what is wrong (Waegeman et al. 2014)."""
