from .estimators import (
    GraphicalLassoQUIC as GraphicalLassoQUIC,
    GraphicalLassoQUICCV as GraphicalLassoQUICCV,
    QUICPath as QUICPath,
    quic_path as quic_path,
)
from .history import (
    QUICHistory as QUICHistory,
)
from .logistic import (
    l1_logistic as l1_logistic,
)
from .problem import (
    penalty_matrix as penalty_matrix,
)
from .solver import (
    QUIC as QUIC,
)
