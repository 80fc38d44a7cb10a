"""Claims of the sources, by chapter. A package, because a chapter and its method may share a name."""
