from .debiased_lasso.inference import (
    DebiasedLasso as DebiasedLasso,
    adjust_pvalues as adjust_pvalues,
)
from .debiased_lasso.scaled import (
    scaled_lasso as scaled_lasso,
)
from .neighbourhoods import (
    neighbourhood_lasso as neighbourhood_lasso,
)
from .quic.estimators import (
    GraphicalLassoQUIC as GraphicalLassoQUIC,
    GraphicalLassoQUICCV as GraphicalLassoQUICCV,
    quic_path as quic_path,
)
from .quic.logistic import (
    l1_logistic as l1_logistic,
)
from .quic.solver import (
    QUIC as QUIC,
)
