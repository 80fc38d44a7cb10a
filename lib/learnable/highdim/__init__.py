"""Chapters of the part “High-dimensional inference”."""
