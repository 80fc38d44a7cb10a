from .path import (
    SVMPath as SVMPath,
)
from .validation import (
    OneVersusRestPath as OneVersusRestPath,
    StepCurve as StepCurve,
    cv_path as cv_path,
)
