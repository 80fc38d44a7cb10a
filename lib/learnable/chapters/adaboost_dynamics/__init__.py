"""AdaBoost as a dynamical system: its weights, their cycles, and the margins that come out."""
