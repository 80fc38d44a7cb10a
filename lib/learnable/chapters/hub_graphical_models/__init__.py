"""Graphical models with hubs: one convex penalty, three models, one engine (Tan et al. 2014)."""
