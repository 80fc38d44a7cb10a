"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

import pytest

from learnable.chapters.bayes_decision_theory import experiments


def test_certainty_tells_where_the_errors_are():
    result = experiments.second_opinion.at("lecture")
    decided, all_cases = (result.mean("error", coverage=c) for c in (0.9, 1.0))
    # Over 200 splits the ratio is 0.32; passing on cases at random would give 1.
    assert decided < 0.6 * all_cases
    assert experiments.second_opinion.cell({"coverage": 0.9}, 0) == experiments.second_opinion.cell(
        {"coverage": 0.9}, 0
    )


@pytest.mark.parametrize("learner", ["logistic", "isotonic"])
def test_no_learned_rule_beats_the_one_who_knows_and_more_data_help(learner):
    few, many = (
        [experiments.learned_rules.cell({"n": n, "learner": learner}, r)["excess at 20 %"] for r in range(4)]
        for n in (50, 2000)
    )
    # The curve of the learned rule is judged on 20,000 sampled points: three standard errors of its risk are 0.004.
    assert min(few + many) > -0.004
    assert sum(many) < sum(few)
