"""The whole regularization path of the support vector machine (Hastie, Rosset, Tibshirani and Zhu 2004)."""
