from .unsupervised_feature_selection import (
    FSSEM as FSSEM,
    EMClusterer as EMClusterer,
    cross_projection as cross_projection,
    em_k as em_k,
    trace_criterion as trace_criterion,
)
