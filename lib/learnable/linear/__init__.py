"""Linear methods: rules whose decision is the sign of a linear function."""
