"""What happened in each outer iteration of QUIC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class QUICHistory:
    """What happened in each outer iteration; entry t describes the iterate X_t, entry 0 the start.

    Attributes
    ----------
    objective : ndarray
        f(X_t), decreasing.
    subgradient : ndarray
        1-norm of the minimum-norm subgradient at X_t.
    n_free, n_nonzero : ndarray of int
        Sizes of the free set and of the support at X_t, both over ordered pairs with the diagonal.
    step : ndarray
        Length alpha of the step that led to X_t (the smallest, where components were solved apart); NaN for X_0.
    n_sweeps : ndarray of int
        Sweeps of coordinate descent that led to X_t; zero for the closed form at a diagonal matrix.
    seconds : ndarray
        Time since the start.
    descent_seconds : ndarray
        What of that went into coordinate descent.
    gap : float
        Duality gap at the end: the value is within it of the minimum.
    converged : bool
    n_blocks : int
        Components found by screening; 1 without.
    """

    objective: np.ndarray
    subgradient: np.ndarray
    n_free: np.ndarray
    n_nonzero: np.ndarray
    step: np.ndarray
    n_sweeps: np.ndarray
    seconds: np.ndarray
    descent_seconds: np.ndarray
    gap: float
    converged: bool
    n_blocks: int

    @property
    def n_iter(self):
        """Number of Newton steps."""
        return len(self.objective) - 1


def closed_form_log(d):
    row = (float(np.log(d).sum() + d.size), 0.0, d.size, d.size, np.nan, 0, 0.0, 0.0)
    return np.array([row]), 0.0, True


def join(logs, n_blocks):
    """One history of runs side by side: a run that has ended keeps its last values."""
    length = max(len(rows) for rows, _, _ in logs)
    padded = np.stack([np.concatenate([rows, np.repeat(rows[-1:], length - len(rows), axis=0)]) for rows, _, _ in logs])
    total = padded.sum(axis=0)
    steps = np.where(np.isnan(padded[:, :, 4]), np.inf, padded[:, :, 4]).min(axis=0)
    return QUICHistory(
        objective=total[:, 0],
        subgradient=total[:, 1],
        n_free=total[:, 2].astype(np.int64),
        n_nonzero=total[:, 3].astype(np.int64),
        step=np.where(np.isinf(steps), np.nan, steps),
        n_sweeps=padded[:, :, 5].max(axis=0).astype(np.int64),
        seconds=total[:, 6],
        descent_seconds=total[:, 7],
        gap=float(sum(gap for _, gap, _ in logs)),
        converged=all(done for _, _, done in logs),
        n_blocks=n_blocks,
    )
