from ._registry import (
    available as available,
    benchmark_sets as benchmark_sets,
    describe as describe,
)
from ._loaders import (
    load as load,
    load_mnist as load_mnist,
    load_movielens as load_movielens,
    load_newsgroups as load_newsgroups,
    load_picture as load_picture,
    load_splice_bits as load_splice_bits,
)
from .bags import (
    make_digit_bags as make_digit_bags,
    make_scene_bags as make_scene_bags,
)
from .classification import (
    make_gaussian_classes as make_gaussian_classes,
    make_hidden_clusters as make_hidden_clusters,
    make_logistic as make_logistic,
    make_mixture_means as make_mixture_means,
    make_noisy_product as make_noisy_product,
    make_ringnorm as make_ringnorm,
    make_softmax_field as make_softmax_field,
    make_subspace_mixture as make_subspace_mixture,
    make_threenorm as make_threenorm,
    make_twonorm as make_twonorm,
    make_waveform as make_waveform,
)
from .control import (
    cart_pole_step as cart_pole_step,
    colored_grid_world as colored_grid_world,
    deep_sea_treasure as deep_sea_treasure,
    pyramid_mdp as pyramid_mdp,
    random_mdp as random_mdp,
    ring_mdp as ring_mdp,
    three_state_mdp as three_state_mdp,
)
from .counts import (
    discrete_law as discrete_law,
    make_genotypes as make_genotypes,
    make_spike_words as make_spike_words,
    make_symbols as make_symbols,
    pitman_yor_sticks as pitman_yor_sticks,
    pitman_yor_weights as pitman_yor_weights,
)
from .functions import (
    Objective as Objective,
    gp_draw as gp_draw,
    make_electrode_twin as make_electrode_twin,
    make_vaccine_twin as make_vaccine_twin,
    mm1_waiting_times as mm1_waiting_times,
    objective as objective,
    objectives as objectives,
)
from .geometry import (
    filament_graph as filament_graph,
    make_filaments as make_filaments,
    make_harmonic_curve as make_harmonic_curve,
    make_spiral as make_spiral,
)
from .graphical import (
    hub_adjacency as hub_adjacency,
    make_bayesnet as make_bayesnet,
    make_binary_tree_field as make_binary_tree_field,
    make_gaussian_graph as make_gaussian_graph,
    make_ising as make_ising,
    make_linear_sem as make_linear_sem,
    precision_from_adjacency as precision_from_adjacency,
    precision_matrix as precision_matrix,
    random_dag as random_dag,
    sample_bayesnet as sample_bayesnet,
)
from .images import (
    ROOM_CLASSES as ROOM_CLASSES,
    make_blurred as make_blurred,
    make_noisy_silhouette as make_noisy_silhouette,
    make_room as make_room,
    make_room_video as make_room_video,
    make_rotated_objects as make_rotated_objects,
    make_spike_train as make_spike_train,
    shake_kernel as shake_kernel,
    shepp_logan as shepp_logan,
)
from .matrices import (
    make_low_rank as make_low_rank,
    make_mixed_sources as make_mixed_sources,
    make_planted_nmf as make_planted_nmf,
    make_ratings as make_ratings,
    make_symmetric_tensor as make_symmetric_tensor,
)
from .motion import (
    make_curve_gestures as make_curve_gestures,
    make_depth_gestures as make_depth_gestures,
    make_gesture_stream as make_gesture_stream,
    make_motion_stream as make_motion_stream,
    make_skeleton_gestures as make_skeleton_gestures,
    make_vibrations as make_vibrations,
)
from .multilabel import (
    make_label_laws as make_label_laws,
    make_label_prototypes as make_label_prototypes,
    make_or_chain as make_or_chain,
    make_tagged_digits as make_tagged_digits,
)
from .networks import (
    make_area_similarity as make_area_similarity,
    make_block_model as make_block_model,
    make_bounded_digraph as make_bounded_digraph,
    make_connectomes as make_connectomes,
    make_correlated_graphs as make_correlated_graphs,
    make_matched_regions as make_matched_regions,
    make_mesh as make_mesh,
    make_preferential_attachment as make_preferential_attachment,
    make_roll_calls as make_roll_calls,
    make_small_world as make_small_world,
)
from .rankings import (
    make_bradley_terry as make_bradley_terry,
    make_mallows as make_mallows,
    make_mallows_mixture as make_mallows_mixture,
    make_movie_scores as make_movie_scores,
    make_plackett_luce as make_plackett_luce,
    make_rank_ratings as make_rank_ratings,
    make_schedule as make_schedule,
    make_sushi_twin as make_sushi_twin,
    reveal_pairs as reveal_pairs,
)
from .records import (
    make_author_records as make_author_records,
)
from .regression import (
    design_covariance as design_covariance,
    make_copy_number as make_copy_number,
    make_curve as make_curve,
    make_friedman as make_friedman,
    make_gapped_sinc as make_gapped_sinc,
    make_gene_regression as make_gene_regression,
    make_heavy_design as make_heavy_design,
    make_robot_arm as make_robot_arm,
    make_sparse_linear as make_sparse_linear,
    make_voxels as make_voxels,
)
from .rules import (
    almost_disjoint_triples as almost_disjoint_triples,
    boolean_function as boolean_function,
    make_balance_scale as make_balance_scale,
    make_balloons as make_balloons,
    make_corral as make_corral,
    make_led as make_led,
    make_m_of_n as make_m_of_n,
    make_monks as make_monks,
    make_tic_tac_toe as make_tic_tac_toe,
)
from .sequences import (
    hmm_parameters as hmm_parameters,
    make_control_charts as make_control_charts,
    make_dialogues as make_dialogues,
    make_dna_hmm as make_dna_hmm,
    make_hmm as make_hmm,
    make_switching_series as make_switching_series,
    make_two_view_sequences as make_two_view_sequences,
    sample_hmm as sample_hmm,
)
from .shapes import (
    make_checkerboard as make_checkerboard,
    make_circle as make_circle,
    make_intervals as make_intervals,
    make_margin_sphere as make_margin_sphere,
    make_nested_spheres as make_nested_spheres,
    make_spirals as make_spirals,
    make_tanh_majority as make_tanh_majority,
    make_threshold as make_threshold,
    make_two_balls as make_two_balls,
)
from .staircase import (
    make_staircase as make_staircase,
)
from .strings import (
    make_markov_strings as make_markov_strings,
    make_motif_strings as make_motif_strings,
    make_protein_families as make_protein_families,
)
from .tasks import (
    make_mean_tasks as make_mean_tasks,
    make_star_ratings as make_star_ratings,
)
from .topics import (
    load_docstrings as load_docstrings,
    make_single_topic as make_single_topic,
    make_topics as make_topics,
    make_two_sources as make_two_sources,
    make_two_topic_documents as make_two_topic_documents,
)
from .transactions import (
    make_baskets as make_baskets,
    make_categorical_transactions as make_categorical_transactions,
    make_clickstreams as make_clickstreams,
    utility_example as utility_example,
)
from .wide import (
    make_graded_shift as make_graded_shift,
    make_microarray as make_microarray,
    make_mislabelled as make_mislabelled,
    make_one_shift as make_one_shift,
    make_redundant_bits as make_redundant_bits,
    make_rotated_spectra as make_rotated_spectra,
    make_sparse_binary as make_sparse_binary,
    make_switching_inputs as make_switching_inputs,
    make_two_diagonals as make_two_diagonals,
)
