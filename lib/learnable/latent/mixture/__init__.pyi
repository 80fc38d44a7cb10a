from .gaussian import (
    EMClusterer as EMClusterer,
    MixtureFit as MixtureFit,
    em as em,
    m_step as m_step,
)
from .order import (
    HardClusters as HardClusters,
    OrderSearch as OrderSearch,
    em_k as em_k,
)
