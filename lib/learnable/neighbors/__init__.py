"""Exact nearest neighbours with a stated order: by distance, and among equal distances by index."""

from learnable.neighbors.index import NeighborIndex

__all__ = ["NeighborIndex"]
