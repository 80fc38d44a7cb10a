from .debiased_lasso import (
    DebiasedLasso as DebiasedLasso,
    adjust_pvalues as adjust_pvalues,
    multi_split as multi_split,
    ridge_projection as ridge_projection,
    scaled_lasso as scaled_lasso,
    sqrt_lasso as sqrt_lasso,
)
from .quic_graphical_lasso import (
    QUIC as QUIC,
    GraphicalLassoQUIC as GraphicalLassoQUIC,
    GraphicalLassoQUICCV as GraphicalLassoQUICCV,
    l1_logistic as l1_logistic,
    neighbourhood_lasso as neighbourhood_lasso,
    quic_path as quic_path,
)
