from .cantelli import (
    cantelli_bound as cantelli_bound,
    chebyshev_factor as chebyshev_factor,
)
from .columns import (
    ConeSolution as ConeSolution,
    solve_cone_program as solve_cone_program,
)
from .moments import (
    ClassMoments as ClassMoments,
    FisherDirection as FisherDirection,
    MinimaxMachine as MinimaxMachine,
    fisher_direction as fisher_direction,
    minimax_probability_machine as minimax_probability_machine,
)
from .paths import (
    EtaPath as EtaPath,
    LOOSelection as LOOSelection,
    eta_path as eta_path,
    loo_selection as loo_selection,
)
from .programs import (
    ConeProgram as ConeProgram,
    fisher_program as fisher_program,
    robust_program as robust_program,
    two_class_program as two_class_program,
)
from .selectors import (
    LPSelector as LPSelector,
    RobustSOCPSelector as RobustSOCPSelector,
    SOCPSelector as SOCPSelector,
    SparseFisher as SparseFisher,
)
