"""The experiments of the source: small in the lecture, at its own scale elsewhere."""

from __future__ import annotations

from learnable.book.study import study
from learnable.features.randomized_variable_elimination.means import running_mean

__all__ = ["scatter"]


@study(
    source="Author year, Table 1",
    paper={"repetitions": 400, "n": [10, 40, 160]},
    lecture={"repetitions": 100, "n": [10, 40]},
)
def scatter(random_state, *, n):
    """Square of the mean of n standard normal values: 1/n on average. Replace this example by the source's table."""
    return {"square": running_mean(random_state.normal(size=n))[-1] ** 2}
