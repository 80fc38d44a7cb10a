"""A wrapper that takes big random steps: RVE and RVErS."""
