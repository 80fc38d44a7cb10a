from .estimators import (
    FCI as FCI,
    RFCI as RFCI,
    fci as fci,
    possible_d_sep as possible_d_sep,
    rfci as rfci,
)
