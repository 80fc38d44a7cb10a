"""Random numbers from the hash of a counter, for compiled loops: what a node draws hangs on its own seed alone."""

import numpy as np
from numba import njit


@njit(cache=True)
def mix(z):
    """The hash of splitmix64 (Steele, Lea and Flood 2014): each bit of z changes half of the bits."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def next_word(state):
    """The next 64 bits; the state is a counter in steps of 2^64 over the golden ratio."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix(state[0])


@njit(cache=True)
def uniform(state):
    """A number strictly between 0 and 1, from 53 bits."""
    return (np.float64(next_word(state) >> np.uint64(11)) + 0.5) * 2.0**-53


@njit(cache=True)
def below(state, n):
    """A whole number from 0 to n − 1; the product may round up to n."""
    return min(np.int64(uniform(state) * n), n - 1)


@njit(cache=True)
def bell(state):
    """Sum of four uniform numbers from one word: nearly normal, mean 0, variance 1."""
    z, total = next_word(state), 0.0
    for _ in range(4):
        total += np.float64(z & np.uint64(0xFFFF))
        z >>= np.uint64(16)
    return (total / 65536.0 - 2.0 + 2.0**-15) * 1.7320508075688772
