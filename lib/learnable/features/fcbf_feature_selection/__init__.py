"""Relevant is not enough: redundancy analysis and the fast correlation-based filter.

The idea in two sentences, and the source (Author year).

By concept:

- :mod:`.means`: running means, and from when on to believe them;
- :mod:`.experiments`: the tables of the source, at any scale.
"""

from learnable.features.fcbf_feature_selection.means import Settling, running_mean, settle, standard_error

__all__ = ["Settling", "running_mean", "settle", "standard_error"]
