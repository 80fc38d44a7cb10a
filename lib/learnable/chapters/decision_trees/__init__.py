"""Decision trees: grow, read, prune."""
