"""Relevant is not enough: redundancy analysis and the fast correlation-based filter."""
