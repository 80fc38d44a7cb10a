"""The exponential that becomes vector instructions, against the mathematical library."""

import math

import numpy as np

from learnable._simd import exp_in_place


def test_exponentials_of_the_whole_range_are_right_to_one_unit_in_the_last_place():
    rng = np.random.default_rng(0)
    switches = -(np.arange(1021) + 0.5) * math.log(2.0)  # where the power of two changes
    near = [np.nextafter(switches, 0.0), switches, np.nextafter(switches, -np.inf)]
    x = np.concatenate(
        [-rng.exponential(size=50_000), -708.0 * rng.random(100_000), *near, -(2.0 ** -np.arange(1075.0))]
    )
    got = x.copy()
    exp_in_place(got)
    right = np.array([math.exp(value) for value in x])
    assert np.abs((got - right) / np.spacing(right)).max() <= 1.0


def test_exponentials_at_the_ends():
    x = np.array([0.0, -0.0, -708.0, np.nextafter(-708.0, -np.inf), -745.0, -1e5, -np.inf, np.nan])
    exp_in_place(x)
    assert x[:2].tolist() == [1.0, 1.0]
    assert abs(x[2] / math.exp(-708.0) - 1.0) < 4.5e-16
    assert x[3:7].tolist() == [0.0] * 4
    assert np.isnan(x[7])
