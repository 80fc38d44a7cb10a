from .bn_learning_np_hard import (
    conditional_dependence as conditional_dependence,
    faithful_network as faithful_network,
    faithful_table as faithful_table,
    markov_boundary as markov_boundary,
    minimal_imap as minimal_imap,
    minimum_feedback_arcs as minimum_feedback_arcs,
    order_search as order_search,
    perfectness_report as perfectness_report,
    population_scores as population_scores,
)
