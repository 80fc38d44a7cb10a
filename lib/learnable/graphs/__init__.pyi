from .hub_graphical_models import (
    HubBinaryNetwork as HubBinaryNetwork,
    HubCovarianceGraph as HubCovarianceGraph,
    HubGraphicalLasso as HubGraphicalLasso,
    gibbs_ising as gibbs_ising,
    hub_path as hub_path,
)
