"""QUIC: proximal Newton steps for sparse inverse covariances (Hsieh, Sustik, Dhillon and Ravikumar 2014)."""
