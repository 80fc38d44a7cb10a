"""Foundations: what can be known before, and learned from, a sample."""
