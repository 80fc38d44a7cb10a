"""Why the error bar of cross-validation is wrong, and what can be said instead (Bengio and Grandvalet 2004)."""
