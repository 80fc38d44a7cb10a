"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

from learnable.chapters.quic_graphical_lasso import experiments


def test_a_chain_is_found_with_few_false_edges():
    setting = {"graph": "chain", "p": 1000, "alpha": 0.4, "shift": 0.4}
    found = experiments.recovery.cell(setting, 0)
    assert found["true nonzeros"] == 2998 and found["TPR"] == 1.0 and found["FPR"] < 1e-4
    assert found == experiments.recovery.cell(setting, 0)


def test_a_larger_diagonal_hides_the_edges():
    near, far = (
        experiments.recovery.cell({"graph": "random", "p": 200, "alpha": 0.1, "shift": shift}, 0)
        for shift in (0.3, 3.0)
    )
    assert near["TPR"] > far["TPR"] + 0.2


def test_first_order_methods_take_longer():
    # Processor time of one small run each; the true ratio is about seven.
    quick, slow = (
        experiments.race.cell({"graph": "chain", "p": 200, "alpha": 0.4, "method": method}, 0)["seconds"]
        for method in ("QUIC", "ADMM")
    )
    assert quick < slow


def test_the_free_set_is_hardly_larger_than_the_answer():
    assert experiments.free_set.cell({"graph": "chain", "p": 200, "alpha": 0.4}, 0)["largest over final"] < 2


def test_one_sweep_gains_fewer_digits():
    one, adaptive = (
        experiments.sweeps.cell({"p": 100, "sweeps": sweeps}, 0)["digits in the last step"]
        for sweeps in ("1", "adaptive")
    )
    assert one < 1.2 < adaptive


def test_components_merge_as_the_penalty_falls():
    counts = [
        experiments.blocks.cell({"size": 20, "alpha": alpha, "method": "QUIC, no screening"}, 0)["components"]
        for alpha in (0.05, 0.01)
    ]
    assert counts[0] >= 8 and counts[1] == 1


def test_six_digits_take_longer_than_two_and_descent_is_a_part_of_it():
    found = experiments.progress.cell({"graph": "chain", "p": 100, "alpha": 0.2}, 0)
    assert 0 < found["seconds to 1e-2"] < found["seconds to 1e-6"]
    assert 0 < found["descent, share of seconds"] < 1 and 1 / 100 < found["free"] < 1
