from .debiased_lasso import (
    DebiasedLasso as DebiasedLasso,
)
from .debiased_lasso import (
    adjust_pvalues as adjust_pvalues,
)
from .debiased_lasso import (
    multi_split as multi_split,
)
from .debiased_lasso import (
    ridge_projection as ridge_projection,
)
from .debiased_lasso import (
    scaled_lasso as scaled_lasso,
)
from .debiased_lasso import (
    sqrt_lasso as sqrt_lasso,
)
from .quic_graphical_lasso import (
    QUIC as QUIC,
)
from .quic_graphical_lasso import (
    GraphicalLassoQUIC as GraphicalLassoQUIC,
)
from .quic_graphical_lasso import (
    GraphicalLassoQUICCV as GraphicalLassoQUICCV,
)
from .quic_graphical_lasso import (
    l1_logistic as l1_logistic,
)
from .quic_graphical_lasso import (
    neighbourhood_lasso as neighbourhood_lasso,
)
from .quic_graphical_lasso import (
    quic_path as quic_path,
)
