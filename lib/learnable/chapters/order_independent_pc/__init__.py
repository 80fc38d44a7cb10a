"""Causal graphs that do not depend on the order of the columns (Colombo and Maathuis 2014)."""
