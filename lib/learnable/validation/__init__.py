"""Checks on arguments, labels, randomness and results: what every module needs.

A check takes the value and the *name* of the argument, and either returns the value in the form the
code below it needs (contiguous float64, integer codes, ...) or raises a ``ValueError`` that names the
argument, says what came and what is accepted. Nothing is repaired silently.
"""

import learnable.validation._compiling  # noqa: F401  says so when a first call compiles for long
from learnable.validation.arrays import (
    check_finite_array,
    check_magnitude,
    check_real_array,
    check_row_values,
    check_symmetric,
    check_weights,
)
from learnable.validation.classifiers import BinaryClassifierMixin
from learnable.validation.indices import check_codes, check_permutation
from learnable.validation.labels import (
    NO_SENTINEL,
    binary_codes,
    check_binary,
    check_class_labels,
    check_sentinel,
    decode_labels,
    encode_labels,
    signed_labels,
)
from learnable.validation.probabilities import (
    check_probabilities,
    check_probability_rows,
    check_probability_vector,
    probability_tolerance,
)
from learnable.validation.randomness import check_rng, check_seed
from learnable.validation.results import Result, Summary, warn_not_converged
from learnable.validation.scalars import (
    check_bool,
    check_callable,
    check_choice,
    check_has,
    check_instance,
    check_number_or_word,
    check_scalar,
)
from learnable.validation.tables import check_adjacency, check_covariance, check_design, check_table, check_zero_one

__all__ = [
    "NO_SENTINEL",
    "BinaryClassifierMixin",
    "Result",
    "Summary",
    "binary_codes",
    "check_adjacency",
    "check_binary",
    "check_bool",
    "check_callable",
    "check_choice",
    "check_class_labels",
    "check_codes",
    "check_covariance",
    "check_design",
    "check_finite_array",
    "check_has",
    "check_instance",
    "check_magnitude",
    "check_number_or_word",
    "check_permutation",
    "check_probabilities",
    "check_probability_rows",
    "check_probability_vector",
    "check_real_array",
    "check_rng",
    "check_row_values",
    "check_scalar",
    "check_seed",
    "check_sentinel",
    "check_symmetric",
    "check_table",
    "check_weights",
    "check_zero_one",
    "decode_labels",
    "encode_labels",
    "probability_tolerance",
    "signed_labels",
    "warn_not_converged",
]
