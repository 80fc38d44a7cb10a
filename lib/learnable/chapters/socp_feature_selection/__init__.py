"""Sparse linear classifiers from class moments: Chebyshev bounds and second-order cones (Bhattacharyya 2004)."""
