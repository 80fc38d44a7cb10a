from .counts import (
    entropy_chao_shen as entropy_chao_shen,
    entropy_grassberger as entropy_grassberger,
    entropy_miller_madow as entropy_miller_madow,
    entropy_plugin as entropy_plugin,
    entropy_zhang as entropy_zhang,
    multiplicities as multiplicities,
)
from .dirichlet import (
    entropy_nsb as entropy_nsb,
)
from .pitman_yor import (
    log_prior as log_prior,
)
from .pym import (
    PYMEntropy as PYMEntropy,
    entropy_pym as entropy_pym,
    mutual_information_pym as mutual_information_pym,
)
from .special import (
    log_progression as log_progression,
)
