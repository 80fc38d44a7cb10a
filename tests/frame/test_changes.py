"""Whoever changes a parameter in a lecture can run the cells below it.

Run live, as in JupyterLab: a claim that the change touches becomes a note. One chapter runs here; LEARNABLE_CHANGES=all
runs the whole table.
"""

import os

import nbformat
import pytest

from tools.project import chapters
from tools.run.environment import kernel_environment
from tools.run.kernels import run_live

CHANGES = {
    "svm_regularization_path": ("lop = SVMPath(gamma=1.0,", "lop = SVMPath(gamma=2.0,"),
    "bayes_decision_theory": ("t = 0.35", "t = 0.3"),
    "vc_theory": ("V = np.array([1, 2, 5, 10, 20])", "V = np.array([1, 2, 5, 10, 30])"),
    "classical_rules": ("points = rng.uniform(0, 4, (60, 2))", "points = rng.uniform(0, 3, (60, 2))"),
    "linear_discrimination": ("np.repeat([0, 1], [90, 60])", "np.repeat([0, 1], [80, 70])"),
    "support_vector_machines": ("[1.6, 0.9]", "[1.8, 0.9]"),
    "kernels_and_regression": ("K = Gaussian(0.6)", "K = Gaussian(0.8)"),
    "boosting_adaboost": ("S = rng.normal(size=(60, 3))", "S = rng.normal(size=(80, 3))"),
    "adaboost_dynamics": ("np.random.default_rng(4).dirichlet", "np.random.default_rng(5).dirichlet"),
    "boosting_l1_path": ("norms = [5.0, 20.0, 50.0, 1000.0]", "norms = [5.0, 20.0, 40.0, 800.0]"),
    "hmm_alignment": ("KS = [2, 3, 5, 10, 50]", "KS = [2, 3, 5, 8, 40]"),
    "tensor_decompositions": ("words = [0, 0, 1, 3, 3, 3]", "words = [0, 0, 1, 1, 3, 3]"),
    "entropy_estimation": ("rng, A = np.random.default_rng(0), 1000", "rng, A = np.random.default_rng(0), 800"),
    "debiased_lasso": ("asymptotic_power(0.05, ", "asymptotic_power(0.1, "),
    "quic_graphical_lasso": ("P = 400", "P = 300"),
}
RUN = list(CHANGES) if os.environ.get("LEARNABLE_CHANGES") == "all" else list(CHANGES)[:1]


def changed(slug):
    chapter = next(c for c in chapters() if c.slug == slug)
    notebook = nbformat.read(chapter.lecture, as_version=4)
    old, new = CHANGES[slug]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and old in cell.source]
    assert cells, f"{chapter.name}: no cell has {old!r} any more"
    cells[0].source = cells[0].source.replace(old, new, 1)
    return chapter, notebook


@pytest.mark.parametrize("slug", CHANGES)
def test_the_parameter_is_still_there(slug):
    changed(slug)


@pytest.mark.parametrize("slug", RUN)
def test_a_changed_parameter_does_not_break_the_cells_below(slug):
    chapter, notebook = changed(slug)
    with kernel_environment(LEARNABLE_EXPLORE="widget"):
        run_live(notebook, chapter.lecture.parent)
