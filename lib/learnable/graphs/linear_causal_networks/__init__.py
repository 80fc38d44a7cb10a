from learnable.graphs.linear_causal_networks.local_scores import *
from learnable.graphs.linear_causal_networks.treewidth import *
