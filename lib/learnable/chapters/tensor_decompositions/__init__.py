"""Latent variable models by orthogonal tensor decompositions (Anandkumar, Ge, Hsu, Kakade, Telgarsky 2014)."""
