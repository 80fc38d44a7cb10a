"""Linear algebra that several chapters share."""
