"""Confidence intervals and p-values for high-dimensional regression (Javanmard and Montanari 2014)."""
