from . import (
    datasets as datasets,
    ensembles as ensembles,
    features as features,
    foundations as foundations,
    graphs as graphs,
    highdim as highdim,
    kernels as kernels,
    latent as latent,
    linalg as linalg,
    linear as linear,
    neighbors as neighbors,
    optim as optim,
    problems as problems,
    selection as selection,
    trees as trees,
    validation as validation,
)

__version__: str
