from .socp_feature_selection import (
    LPSelector as LPSelector,
    RobustSOCPSelector as RobustSOCPSelector,
    SOCPSelector as SOCPSelector,
    SparseFisher as SparseFisher,
    cantelli_bound as cantelli_bound,
    eta_path as eta_path,
    loo_selection as loo_selection,
    minimax_probability_machine as minimax_probability_machine,
)
