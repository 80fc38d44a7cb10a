"""Sequences: hidden Markov models, switching systems, dialogues, control charts; strings are in `strings`.

Sequences of equal length come as one array with the sequence first; otherwise as a list of arrays.
"""

import numpy as np
from numba import njit
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_lengths, check_size, random_orthogonal
from learnable.validation import (
    check_choice,
    check_finite_array,
    check_probability_rows,
    check_probability_vector,
    check_rng,
    check_scalar,
)

__all__ = [
    "hmm_parameters",
    "make_control_charts",
    "make_dialogues",
    "make_dna_hmm",
    "make_hmm",
    "make_switching_series",
    "make_two_view_sequences",
    "sample_hmm",
]


def hmm_parameters(name):
    """Start, transition matrix and emissions of well-known hidden Markov models.

    Parameters
    ----------
    name : {"casino", "ring", "sticky", "vowels"}
        * "casino": a fair and a loaded die (six with probability 1/2); fair to loaded 0.05, back 0.1.
        * "ring": five states in a circle, stay 0.8, one step 0.15, two steps 0.05, Gaussian emissions with means
          0, 1, 2, 1, 0.5 and variance 1 (a model in which Viterbi and pointwise decoding disagree).
        * "sticky": two states, stay 0.9, emissions N(-0.75, 1) and N(0.75, 1).
        * "vowels": two states that tend to alternate, emitting the 26 letters, vowels mainly in the first.

    Returns
    -------
    dict
        Arguments for :func:`sample_hmm`.

    Examples
    --------
    >>> hmm_parameters("casino")["transmat"].tolist()
    [[0.95, 0.05], [0.1, 0.9]]
    """
    check_choice(name, "name", ("casino", "ring", "sticky", "vowels"))
    if name == "casino":
        emission = np.vstack([np.full(6, 1 / 6), np.append(np.full(5, 0.1), 0.5)])
        return {"startprob": [0.5, 0.5], "transmat": np.array([[0.95, 0.05], [0.1, 0.9]]), "emissionprob": emission}
    if name == "ring":
        eye = np.eye(5)
        transition = 0.8 * eye + 0.15 * np.roll(eye, 1, axis=1) + 0.05 * np.roll(eye, 2, axis=1)
        return {"startprob": np.full(5, 0.2), "transmat": transition, "means": np.array([0.0, 1.0, 2.0, 1.0, 0.5])}
    if name == "sticky":
        transition = np.array([[0.9, 0.1], [0.1, 0.9]])
        return {"startprob": [0.5, 0.5], "transmat": transition, "means": np.array([-0.75, 0.75])}
    letters = np.full((2, 26), 0.002)
    vowels = [0, 4, 8, 14, 20]
    letters[0, vowels] = 1.0
    letters[1, [i for i in range(26) if i not in vowels]] = 1.0
    letters /= letters.sum(axis=1, keepdims=True)
    return {"startprob": [0.4, 0.6], "transmat": np.array([[0.15, 0.85], [0.7, 0.3]]), "emissionprob": letters}


def sample_hmm(
    n_sequences=1, length=100, *, startprob, transmat, emissionprob=None, means=None, sds=1.0, random_state=None
):
    """Draw state paths and observations of a hidden Markov model; cost linear in the total length.

    Parameters
    ----------
    n_sequences : int, default=1
    length : int or (int, int), default=100
        A common length, or the ends (both included) of the uniform law of the lengths.
    startprob : array-like of shape (k,)
    transmat : array-like of shape (k, k)
    emissionprob : array-like of shape (k, m), optional
        Probabilities of m symbols.
    means : array-like of shape (k,) or (k, d), optional
        Instead of `emissionprob`: Gaussian emissions with standard deviations `sds` (scalar, (k,) or (k, d)).
    sds : float, default=1.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` and ``states``: arrays (n_sequences, length[, d]) or lists.

    Examples
    --------
    >>> made = sample_hmm(2, 5, **hmm_parameters("casino"), random_state=0)
    >>> made.data.shape, made.states.shape
    ((2, 5), (2, 5))
    """
    n, rng = check_size(n_sequences, "n_sequences"), check_rng(random_state)
    lengths = check_lengths(length, n, rng)
    startprob = check_probability_vector(startprob, "startprob")
    k = len(startprob)
    transmat = check_probability_rows(transmat, "transmat", rows=k, columns=k, tol=1e-5)
    if (emissionprob is None) == (means is None):
        raise ValueError("give either emissionprob or means")
    total = int(lengths.sum())
    path = _walk(np.cumsum(startprob), np.cumsum(transmat, axis=1), lengths, rng.random(total))
    if emissionprob is not None:
        rows = check_probability_rows(emissionprob, "emissionprob", rows=k, tol=1e-5)
        values = _pick(np.cumsum(rows, axis=1), path, rng.random(total))
    else:
        centre = check_finite_array(means, "means")
        if len(centre) != k:
            raise ValueError(f"means must have {k} rows, got {len(centre)}")
        spread = np.broadcast_to(np.asarray(sds, dtype=np.float64), (k,)) if np.ndim(sds) <= 1 else np.asarray(sds)
        spread = spread.reshape(k, *([1] * (centre.ndim - 1))) if spread.ndim < centre.ndim else spread
        values = centre[path] + spread[path] * rng.standard_normal((total, *centre.shape[1:]))
    return Bunch(data=_cut(values, lengths), states=_cut(path, lengths))


def make_hmm(name="casino", n_sequences=1, length=300, *, random_state=None):
    """Sequences of a named model (:func:`hmm_parameters`), with the model in ``model``.

    Parameters
    ----------
    name : str, default="casino"
    n_sequences : int, default=1
    length : int, default=300
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_hmm("ring", length=2000, random_state=0)
    >>> made.data.shape, sorted(made.model)
    ((1, 2000), ['means', 'startprob', 'transmat'])
    """
    model = hmm_parameters(name)
    made = sample_hmm(n_sequences, length, **model, random_state=random_state)
    made.model = model
    return made


def _cut(values, lengths):
    if (lengths == lengths[0]).all():
        return values.reshape(len(lengths), lengths[0], *values.shape[1:])
    return np.split(values, np.cumsum(lengths)[:-1])


@njit(cache=True)
def _walk(start, transition, lengths, u):
    path = np.empty(len(u), dtype=np.int64)
    t = 0
    for length in lengths:
        state = 0
        for step in range(length):
            row = start if step == 0 else transition[state]
            state = 0
            while state < len(row) - 1 and u[t] >= row[state]:
                state += 1
            path[t] = state
            t += 1
    return path


@njit(cache=True)
def _pick(rows, path, u):
    values = np.empty(len(u), dtype=np.int64)
    for t in range(len(u)):
        symbol = 0
        while symbol < rows.shape[1] - 1 and u[t] >= rows[path[t], symbol]:
            symbol += 1
        values[t] = symbol
    return values


def make_two_view_sequences(
    n_per_class=40, *, n_classes=6, n_informative=5, n_noise=30, noise=(1.0, 3.0), length=(15, 30), random_state=None
):
    """Gestures seen by two sensors: left-right HMMs among autocorrelated noise (Wu and Cheng 2014, stand-in).

    Class c and view v: four states from left to right, self-transition 0.8, means N(0, I) in `n_informative`
    dimensions, emission noise `noise[v]`; then `n_noise` dimensions of AR(1) noise with coefficient 0.9. The two
    views of one gesture share its length.

    Parameters
    ----------
    n_per_class : int, default=40
        How many of each class.
    n_classes : int, default=6
    n_informative : int, default=5
    n_noise : int, default=30
    noise : tuple of float, default=(1.0, 3.0)
    length : tuple of int, default=(15, 30)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``views``: two lists of arrays (time, dimension); ``target``; ``relevant`` (the first dimensions).

    Examples
    --------
    >>> made = make_two_view_sequences(2, n_classes=3, random_state=0)
    >>> len(made.views[0]), made.views[1][0].shape[1]
    (6, 35)
    """
    n, k, rng = check_size(n_per_class, "n_per_class"), check_size(n_classes, "n_classes"), check_rng(random_state)
    d, extra = check_size(n_informative, "n_informative"), check_size(n_noise, "n_noise", low=0)
    y = np.repeat(np.arange(k), n)
    lengths = check_lengths(length, len(y), rng)
    views = []
    for sd in noise:
        means = rng.standard_normal((k, 4, d))
        steps = rng.random(int(lengths.sum())) > 0.8
        steps[np.concatenate([[0], np.cumsum(lengths)[:-1]])] = False
        view = []
        for label, moved in zip(y, np.split(steps, np.cumsum(lengths)[:-1]), strict=True):
            state = np.minimum(np.cumsum(moved), 3)
            signal = means[label, state] + sd * rng.standard_normal((len(state), d))
            view.append(np.hstack([signal, _autoregression(len(state), extra, 0.9, rng)]))
        views.append(view)
    return Bunch(views=views, target=y, relevant=np.arange(d))


def _autoregression(n, d, rho, rng):
    """Stationary AR(1) with unit variance."""
    x = rng.standard_normal((n, d))
    for t in range(1, n):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * x[t]
    return x


def make_dna_hmm(n_per_class=60, *, n_states=3, length=(50, 400), random_state=None):
    """Two classes of four-letter strings from random hidden Markov models (Jebara et al. 2004, stand-in for HS3D).

    Each class has a transition matrix and emissions with Dirichlet(1) rows; every string blends its class's
    emissions with an own draw (three parts to one).

    Parameters
    ----------
    n_per_class : int, default=60
        How many of each class.
    n_states : int, default=3
    length : tuple of int, default=(50, 400)
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_dna_hmm(3, random_state=0)
    >>> len(made.data), set("".join(made.data)) <= set("ACGT")
    (6, True)
    """
    n, k, rng = check_size(n_per_class, "n_per_class"), check_size(n_states, "n_states"), check_rng(random_state)
    strings, letters = [], np.array(list("ACGT"))
    transitions = rng.dirichlet(np.ones(k), size=(2, k))
    emissions = rng.dirichlet(np.ones(4), size=(2, k))
    for label in (0, 1):
        for _ in range(n):
            own = 0.75 * emissions[label] + 0.25 * rng.dirichlet(np.ones(4), size=k)
            model = {"startprob": np.full(k, 1 / k), "transmat": transitions[label], "emissionprob": own}
            made = sample_hmm(1, length, **model, random_state=rng)
            strings.append("".join(letters[made.data[0]]))
    return Bunch(data=strings, target=np.repeat([0, 1], n), transitions=transitions, emissions=emissions)


def make_dialogues(n_samples=600, *, n_classes=10, vocabulary=150, own=0.6, boost=1.6, random_state=None):
    """Short utterances seen through a noisy recogniser, as word lattices (Cortes, Haffner and Mohri 2004, stand-in).

    Words 0..vocabulary-1 have Zipf frequencies. In class c every word has two successors of its own: the next word is
    one of them with probability `own`, otherwise a Zipf draw; 6 to 10 words. The recogniser offers the true word and
    three fixed confusable ones, with logits N(0, 1), the truth's raised by `boost`.

    Parameters
    ----------
    n_samples : int, default=600
        Number of rows.
    n_classes : int, default=10
    vocabulary : int, default=150
    own : float, default=0.6
    boost : float, default=1.6
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``transcripts`` (true words), ``one_best``, ``words`` and ``posteriors`` (arrays (time, 4), the truth in a
        random column), ``target``, ``accuracy`` (share of words recognised).

    Examples
    --------
    >>> made = make_dialogues(200, random_state=0)
    >>> 0.6 < made.accuracy < 0.85
    True
    """
    n, k = check_size(n_samples), check_size(n_classes, "n_classes")
    v, rng = check_size(vocabulary, "vocabulary", low=5), check_rng(random_state)
    own = check_scalar(own, "own", low=0, high=1)
    zipf = 1 / np.arange(1, v + 1)
    cumulated = np.cumsum(zipf / zipf.sum())
    successors = rng.integers(v, size=(k, v, 2))
    confusable = np.array([rng.permutation([w for w in range(v) if w != word])[:3] for word in range(v)])
    y = rng.integers(k, size=n)
    lengths = rng.integers(6, 11, size=n)
    transcripts, one_best, words, posteriors, right = [], [], [], [], 0
    for label, size in zip(y, lengths, strict=True):
        drawn = np.minimum(np.searchsorted(cumulated, rng.random(size)), v - 1)
        follow, which = rng.random(size) < own, rng.integers(2, size=size)
        for t in range(1, size):
            if follow[t]:
                drawn[t] = successors[label, drawn[t - 1], which[t]]
        offered = np.column_stack([drawn, confusable[drawn]])
        logits = rng.standard_normal((size, 4))
        logits[:, 0] += check_scalar(boost, "boost")
        shuffle = rng.permuted(np.tile(np.arange(4), (size, 1)), axis=1)
        offered, logits = (np.take_along_axis(x, shuffle, axis=1) for x in (offered, logits))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        best = offered[np.arange(size), logits.argmax(axis=1)]
        right += int((best == drawn).sum())
        transcripts.append(drawn)
        one_best.append(best)
        words.append(offered)
        posteriors.append(weights / weights.sum(axis=1, keepdims=True))
    made = {"transcripts": transcripts, "one_best": one_best, "words": words, "posteriors": posteriors}
    return Bunch(**made, target=y, accuracy=right / int(lengths.sum()))


def make_switching_series(n_models=20, *, n_series=5, length=25, n_states=5, random_state=None):
    """Two classes of planar series from switching linear systems (Jebara et al. 2004, Section 9, stand-in).

    Each model has `n_states` dynamics A_j = 0.95 rotation diag(U(0.5, 1)), switching with 0.9 on the diagonal,
    state noise 0.1 I and observation noise 0.05 I (variances). The first half of the models is class 0.

    Parameters
    ----------
    n_models : int, default=20
    n_series : int, default=5
    length : int, default=25
    n_states : int, default=5
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_switching_series(4, random_state=0)
    >>> made.data.shape, made.target.tolist()[::5]
    ((20, 25, 2), [0, 0, 1, 1])
    """
    m, n, t = check_size(n_models, "n_models"), check_size(n_series, "n_series"), check_size(length, "length")
    k, rng = check_size(n_states, "n_states"), check_rng(random_state)
    data, states = np.empty((m * n, t, 2)), np.empty((m * n, t), dtype=int)
    dynamics = np.empty((m, k, 2, 2))
    stay = np.full((k, k), 0.1 / max(k - 1, 1)) + (0.9 - 0.1 / max(k - 1, 1)) * np.eye(k) if k > 1 else np.ones((1, 1))
    for model in range(m):
        for j in range(k):
            dynamics[model, j] = 0.95 * random_orthogonal(2, rng) * rng.uniform(0.5, 1, 2)
        rows = slice(model * n, (model + 1) * n)
        path = _walk(np.cumsum(np.full(k, 1 / k)), stay.cumsum(axis=1), np.full(n, t), rng.random(n * t)).reshape(n, t)
        x = rng.standard_normal((n, 2))
        for step in range(t):
            x = np.einsum("nij,nj->ni", dynamics[model, path[:, step]], x) + np.sqrt(0.1) * rng.standard_normal((n, 2))
            data[rows, step] = x + np.sqrt(0.05) * rng.standard_normal((n, 2))
        states[rows] = path
    target = np.repeat(np.arange(m) >= (m + 1) // 2, n).astype(int)
    return Bunch(data=data, target=target, model=np.repeat(np.arange(m), n), states=states, dynamics=dynamics)


def make_control_charts(n_per_class=100, *, length=60, random_state=None):
    """Synthetic control charts (Alcock and Manolopoulos 1999), the synthetic-control set of the 121-set benchmark.

    y(t) = 30 + 2 r(t), r ~ U(-3, 3), t = 1..length, plus: nothing; a sin(2 pi t / T) with a, T ~ U(10, 15); a trend
    +-g t with g ~ U(0.2, 0.5); a shift +-x from t3 on, x ~ U(7.5, 20), t3 between a third and two thirds.

    Parameters
    ----------
    n_per_class : int, default=100
        How many of each class.
    length : int, default=60
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (6 n_per_class, length); classes normal, cyclic, increasing, decreasing, upward, downward.

    Examples
    --------
    >>> make_control_charts(random_state=0).data.shape
    (600, 60)
    """
    n, length, rng = check_size(n_per_class, "n_per_class"), check_size(length, "length"), check_rng(random_state)
    y = np.repeat(np.arange(6), n)
    t = np.arange(1, length + 1)
    X = 30 + 2 * rng.uniform(-3, 3, (6 * n, length))
    amplitude, period = rng.uniform(10, 15, (2, n, 1))
    X[y == 1] += amplitude * np.sin(2 * np.pi * t / period)
    for label, sign in ((2, 1), (3, -1)):
        X[y == label] += sign * rng.uniform(0.2, 0.5, (n, 1)) * t
    for label, sign in ((4, 1), (5, -1)):
        start = rng.uniform(length / 3, 2 * length / 3, (n, 1))
        X[y == label] += sign * rng.uniform(7.5, 20, (n, 1)) * (t >= start)
    names = ["normal", "cyclic", "increasing", "decreasing", "upward shift", "downward shift"]
    return Bunch(data=X, target=y, target_names=names)
