"""Chapters of the part “Latent variables and information”."""
