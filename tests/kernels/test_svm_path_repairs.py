"""What the path does where ties do not resolve: it solves the next machine by itself, or ends and says so."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from learnable.datasets.classification import make_mixture_means
from learnable.kernels import SVMPath
from learnable.kernels.svm_path import _walk as walking
from learnable.kernels.svm_path import homotopy

HELPLESS = 5  # calls in a row without a step, after which the walk is repaired


@pytest.fixture
def data():
    X, y = make_mixture_means(80, random_state=0, return_X_y=True)
    return X, 2 * y - 1


def stumble(monkeypatch, *places):
    """Let the compiled loop report ties that do not resolve once it has recorded that many events."""
    walk, left = walking.walk, {place: HELPLESS for place in places}

    def stumbling(problem, place, elbow, record, used, limit):
        ahead = [at for at, times in left.items() if times > 0]
        if ahead and used[1] >= min(ahead):
            left[min(ahead)] -= 1
            return walking.TIE
        return walk(problem, place, elbow, record, used, min([limit, *ahead]))

    monkeypatch.setattr(walking, "walk", stumbling)
    return left


def repaired(path):
    return [k for k, (kind, _) in enumerate(path.events_) if kind == "repair"]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("places", [(10,), (3, 40, 90)])
def test_a_repaired_path_is_the_path(data, intercept, places, monkeypatch):
    """Machines before and after a repair are those of the walk that never stumbled; between, they are close."""
    X, y = data
    plain = SVMPath(gamma=1.0, fit_intercept=intercept, lam_min=1e-3).fit(X, y)
    left = stumble(monkeypatch, *places)
    path = SVMPath(gamma=1.0, fit_intercept=intercept, lam_min=1e-3).fit(X, y)
    assert set(left.values()) == {0}
    found = repaired(path)
    assert len(found) == len(places)
    assert path.lambdas_[-1] == plain.lambdas_[-1] == 1e-3
    for k in found:
        assert path.lambdas_[k] == pytest.approx(path.lambdas_[k - 1] * (1 - 1e-4), rel=1e-12)
    inside = np.geomspace(1e-3, 0.999 * plain.lambdas_[0], 40)
    for lam in np.concatenate([inside, path.lambdas_[found]]):
        np.testing.assert_allclose(path.alpha_at(lam), plain.alpha_at(lam), atol=1e-6)
        assert path.kkt_residual(lam) < 1e-7


def test_a_repair_does_not_pass_the_end(data, monkeypatch):
    X, y = data
    plain = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    place = 10
    end = plain.lambdas_[place - 1] * (1 - 1e-6)  # nearer than a repair would go
    stumble(monkeypatch, place)
    path = SVMPath(gamma=1.0, lam_min=end).fit(X, y)
    assert repaired(path) == [place] and path.lambdas_[-1] == end
    np.testing.assert_allclose(path.alpha_at(end), plain.alpha_at(end), atol=1e-6)


def test_a_repair_that_fails_ends_the_path_where_it_was(data, monkeypatch):
    X, y = data
    plain = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    stumble(monkeypatch, 20)

    def wrong(self, lam, alpha=None):
        self._set(lam / 10, np.full(self.n, 0.5))

    monkeypatch.setattr(homotopy.Walk, "_solve", wrong)
    where = f"{plain.lambdas_[19]:.3g}"
    with pytest.warns(ConvergenceWarning, match=f"the path ends at lambda = {where}: below it the kernel matrix"):
        path = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    assert repaired(path) == []
    np.testing.assert_array_equal(path.lambdas_, plain.lambdas_[: len(path.lambdas_)])
    for lam in np.geomspace(path.lambdas_[-1], path.lambdas_[0], 10):
        np.testing.assert_allclose(path.alpha_at(lam), plain.alpha_at(lam), atol=1e-12)


def test_a_path_that_is_always_stuck_is_given_up(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(walking, "walk", lambda problem, place, elbow, record, used, limit: walking.TIE)
    with pytest.warns(ConvergenceWarning, match="the path ends at lambda"):
        path = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    assert len(repaired(path)) == 20
    for lam in path.lambdas_:
        assert path.kkt_residual(lam) < 1e-7


def test_the_record_grows_when_it_is_full(data, monkeypatch):
    """Repairs and single records make room for themselves, and nothing that was recorded is lost."""
    X, y = data
    plain = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    stumble(monkeypatch, 10, 11, 12, 13)
    repair, record = homotopy.Walk._repair, homotopy.Walk._record
    full = []

    def trim(self, records, entries):
        for name in ("_lams", "_offsets", "_kinds", "_points", "_facts"):
            setattr(self, name, getattr(self, name)[:records].copy())
        self._starts = self._starts[: records + 1].copy()
        self._moved, self._after = self._moved[:entries].copy(), self._after[:entries].copy()

    def repair_when_full(self, sense, target):
        trim(self, self.used[1] + 1, self.used[2] + 1)
        full.append("repair")
        return repair(self, sense, target)

    def record_when_full(self, kind, point):
        if self.used[1] > 0:
            trim(self, self.used[1], len(self._moved))
            full.append("record")
        record(self, kind, point)

    monkeypatch.setattr(homotopy.Walk, "_repair", repair_when_full)
    monkeypatch.setattr(homotopy.Walk, "_record", record_when_full)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        path = SVMPath(gamma=1.0, lam_min=1e-3).fit(X, y)
    assert full.count("repair") == len(repaired(path)) == 4 and full.count("record") >= 4
    for lam in np.geomspace(1e-3, 0.999 * plain.lambdas_[0], 40):
        np.testing.assert_allclose(path.alpha_at(lam), plain.alpha_at(lam), atol=1e-6)
