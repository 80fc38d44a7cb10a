"""What every simulator promises: the seed decides, a Generator is accepted, bad sizes are refused with a message."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import learnable.datasets as package
from learnable.datasets import _loaders

MODULES = [m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")]


def simulators():
    for module in MODULES:
        home = importlib.import_module(f"learnable.datasets.{module}")
        for name in home.__all__:
            function = getattr(home, name)
            if inspect.isfunction(function):
                yield f"{module}.{name}", function


ALL = dict(simulators())
SEEDED = {k: f for k, f in ALL.items() if "random_state" in inspect.signature(f).parameters}
# What a call needs besides the defaults, and smaller sizes where the defaults take long.
ARGUMENTS = {
    "graphical.precision_from_adjacency": {"adjacency": np.eye(6, k=1) + np.eye(6, k=-1)},
    "graphical.make_gaussian_graph": {"kind": "hubs", "p": 30, "n_hubs": 2},
    "graphical.make_ising": {"n_samples": 5, "n_sweeps": 3},
    "graphical.random_dag": {"p": 8},
    "graphical.sample_bayesnet": {"net": package.load("asia")},
    "rankings.reveal_pairs": {"rankings": [[2, 0, 1, 3], [1, 0, 3, 2]], "share": 0.5},
    "sequences.sample_hmm": {"startprob": [0.5, 0.5], "transmat": [[0.9, 0.1], [0.2, 0.8]], "means": [0.0, 1.0]},
    "strings.make_protein_families": {"n_folds": 1},
    "counts.pitman_yor_sticks": {"discount": 0.1, "concentration": 5.0},
    "counts.pitman_yor_weights": {"discount": 0.1, "concentration": 5.0},
    "counts.make_spike_words": {"n_bins": 500},
    "counts.discrete_law": {"kind": "pitman-yor"},
    "functions.gp_draw": {"points": np.linspace(0, 1, 6)[:, None]},
    "functions.mm1_waiting_times": {"utilisation": [0.5], "run_length": 50},
    "networks.make_mesh": {"n": 60},
    "networks.make_roll_calls": {"n_periods": 4, "n_members": 10, "n_votes": 20},
    "images.make_room_video": {"n_frames": 2, "shape": (12, 16)},
    "images.make_rotated_objects": {"names": ["coffee"], "n_angles": 2, "size": 8},
    "images.make_blurred": {"shape": (40, 40)},
    "matrices.make_ratings": {"n_users": 40, "n_items": 30, "n_ratings": 200},
    "motion.make_depth_gestures": {"n_batches": 1, "n_gestures": 2, "n_test": 1},
    "records.make_author_records": {"n_persons": 60},
    "rules.make_corral": {"kind": "random"},
    "rules.boolean_function": {"kind": "random", "n": 8},
    "wide.make_sparse_binary": {"d": 500},
    "wide.make_redundant_bits": {"d": 500},
    "regression.design_covariance": {"kind": "toeplitz", "p": 5},
    "regression.make_gapped_sinc": {"dimension": 1},
    "transactions.make_baskets": {"n_transactions": 50},
    "transactions.make_clickstreams": {"n_sequences": 50},
}


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if sparse.issparse(a):
        return a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if callable(a):
        return a is b
    return a == b or (isinstance(a, float) and np.isnan(a) and np.isnan(b))


def call(name, **more):
    return ALL[name](**{**ARGUMENTS.get(name, {}), **more})


def test_there_are_simulators_of_every_field():
    assert len(SEEDED) > 100
    assert {name.split(".")[0] for name in SEEDED} == set(MODULES)


@pytest.mark.parametrize("name", SEEDED)
def test_the_seed_decides(name):
    first = call(name, random_state=3)
    assert same(first, call(name, random_state=3))
    assert same(first, call(name, random_state=np.random.default_rng(3)))
    fixed = name in ("graphical.precision_matrix", "geometry.filament_graph")  # defaults without chance
    assert same(first, call(name, random_state=4)) == fixed


@pytest.mark.parametrize("name", SEEDED)
def test_bad_seeds_are_refused(name):
    for seed in (-1, "seven", 1.5):
        with pytest.raises(ValueError, match="random_state"):
            call(name, random_state=seed)


COUNTS = {
    name: [p for p in inspect.signature(f).parameters if p.startswith("n_") or p in ("n", "p", "d", "k", "m", "length")]
    for name, f in ALL.items()
}
# Arguments with such names that may be fractions.
REAL = {
    "networks.make_correlated_graphs": {"p"},
    "networks.make_small_world": {"p"},
    "motion.make_vibrations": {"n_seconds"},
}


@pytest.mark.parametrize("name", [n for n, c in COUNTS.items() if c])
def test_impossible_sizes_are_refused(name):
    for argument in COUNTS[name]:
        for bad in (-1, 2.5) if argument not in REAL.get(name, ()) else (-1,):
            with pytest.raises((ValueError, TypeError)) as caught:
                call(name, **{argument: (bad, bad) if argument == "length" else bad})
            assert caught.type is ValueError, f"{name}({argument}={bad}) raised {caught.value!r}"
            assert str(caught.value)


def test_every_public_simulator_says_its_law_and_shows_an_example():
    for name, function in ALL.items():
        doc = inspect.getdoc(function)
        assert doc and "Examples" in doc and ">>>" in doc, name


def test_a_random_state_of_the_old_kind_is_refused_with_the_way_to_write_it():
    with pytest.raises(TypeError, match=r"in place of RandomState\(7\) write 7"):
        ALL["classification.make_twonorm"](3, random_state=np.random.RandomState(0))


def test_the_package_exports_every_simulator_and_loader_once():
    own = [name for module in MODULES for name in importlib.import_module(f"learnable.datasets.{module}").__all__]
    loading = [*_loaders.__all__, "available", "benchmark_sets", "describe"]
    assert sorted(package.__all__) == sorted([*own, *loading]) == dir(package)
    for name, function in ALL.items():
        assert getattr(package, name.split(".")[1]) is function


def test_the_package_imports_a_module_when_a_name_of_it_is_used():
    code = (
        "import sys, learnable.datasets as data; before = set(sys.modules); data.make_twonorm\n"
        "print(*(sorted(m for m in loaded if m.startswith('learnable.datasets.') and '._' not in m)"
        " for loaded in (before, set(sys.modules))), 'numpy' in before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] ['learnable.datasets.classification'] False\n"
    assert package.make_twonorm.__module__ == "learnable.datasets.classification"


def test_an_unknown_name_is_no_attribute_of_the_package():
    assert hasattr(package, "make_twonorm") and not hasattr(package, "make_nothing")
    with pytest.raises(ImportError, match="make_nothing"):
        from learnable.datasets import make_nothing  # noqa: F401


def test_the_reference_lists_a_simulator_once_under_its_module():
    from tools.site.api_pages import entries

    labels = [entry.label for entry in entries().values() if entry.exported.startswith("learnable.datasets")]
    assert "learnable.datasets.load" in labels and len(labels) == len(set(labels)) == len(package.__all__)
    assert [name for name in ALL if f"learnable.datasets.{name}" not in labels] == []
