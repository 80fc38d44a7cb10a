from . import (
    datasets as datasets,
    ensembles as ensembles,
    foundations as foundations,
    highdim as highdim,
    kernels as kernels,
    latent as latent,
    linear as linear,
    graphs as graphs,
    selection as selection,
    features as features,
)

__version__: str
