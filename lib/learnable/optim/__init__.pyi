from . import (
    admm as admm,
    coordinate_descent as coordinate_descent,
    homotopy as homotopy,
    proximal as proximal,
    quadratic_program as quadratic_program,
)
