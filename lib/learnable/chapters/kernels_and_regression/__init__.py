"""Kernels, the representer theorem, kernel ridge and epsilon-insensitive regression."""
