"""Hidden Markov models: the model, its recursions, its estimation, and which path to report.

- :mod:`.model`: the chain and its emissions;
- :mod:`.recursions`: filtering, prediction, smoothing, scaled and in logarithms;
- :mod:`.estimation`: Baum-Welch, and counting where states are known;
- :mod:`.alignments`: Viterbi, PMAP and what lies between them; :mod:`.path_risks` says what a path may cost.
"""

import lazy_loader

# The names stand in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
