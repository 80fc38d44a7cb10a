from .coherence import (
    default_mu as default_mu,
)
from .inference import (
    ConfidenceRegion as ConfidenceRegion,
    DebiasedLasso as DebiasedLasso,
    adjust_pvalues as adjust_pvalues,
    two_sided_pvalues as two_sided_pvalues,
)
from .influence import (
    bounded_decorrelating_matrix as bounded_decorrelating_matrix,
)
from .programme import (
    Decorrelation as Decorrelation,
    decorrelate as decorrelate,
)
from .scaled import (
    ScaledLasso as ScaledLasso,
    scaled_lasso as scaled_lasso,
    universal_lam0 as universal_lam0,
)
