"""Predicting for the F-measure: what is optimal, what is cheap, what is wrong: the idea in two sentences, and the source (Author year).

By concept:

- :mod:`.means`: running means, and from when on to believe them;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.selection.f_measure_maximization.means import Settling, running_mean, settle, standard_error

__all__ = ["Settling", "running_mean", "settle", "standard_error"]
