"""Boosting beside scikit-learn, LightGBM and XGBoost: stumps, gradient-boosted trees, long runs, cost of a round."""

import warnings

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import lars_path
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.datasets import load
from learnable.ensembles import AdaBoost, GradientBoostedTrees
from learnable.ensembles.stagewise import stagewise_path
from learnable.ensembles.weak_learners import StumpERM

lightgbm, xgboost = peer_package("lightgbm"), peer_package("xgboost")
installed = [name for name, module in (("lightgbm", lightgbm), ("xgboost-cpu", xgboost)) if hasattr(module, "__file__")]
bench = Benchmark("boosting_adaboost", packages=tuple(installed))


def two_classes(name):
    bunch = load(name)
    one = 1 if name == "spambase" else bunch.target_names.index("A")
    # scikit-learn's trees read single precision: give both sides the same numbers.
    X = bunch.data.astype(np.float32).astype(np.float64)
    return X, np.where(bunch.target == one, 1, -1)


def exponential_loss(model, X, y):
    if isinstance(model, AdaBoost):
        return float(np.mean(np.exp(-y * model.train_scores_)))
    votes = sum(a * h.predict(X) for a, h in zip(model.estimator_weights_, model.estimators_, strict=False))
    return float(np.mean(np.exp(-y * votes / 2)))


def no_worse_loss(X, y, rounds):
    # A greedy choice may lose a few rounds before it wins: early on only nearness is asked for.
    allowed = 1.0 if rounds == 500 else 1.1

    def check(ours, peer):
        mine, theirs = exponential_loss(ours, X, y), exponential_loss(peer, X, y)
        assert mine <= allowed * theirs, (mine, theirs)
        return f"training exponential loss {mine:.4g}, theirs {theirs:.4g}"

    return check


for name in ("spambase", "letter"):
    X, y = two_classes(name)
    for rounds in bench.sizes([10, 100, 500]):
        once = Once if rounds == 500 and not bench.smoke else lambda call: call  # half a minute
        bench.compare(
            f"AdaBoost with stumps by rounds, {name} ({X.shape[0]:,} x {X.shape[1]})",
            size=rounds,
            ours=lambda X=X, y=y, rounds=rounds: AdaBoost(n_rounds=rounds).fit(X, y),
            peers={
                "AdaBoostClassifier": once(
                    lambda X=X, y=y, rounds=rounds: AdaBoostClassifier(
                        DecisionTreeClassifier(max_depth=1), n_estimators=rounds
                    ).fit(X, y)
                )
            },
            accuracy=no_worse_loss(X, y, rounds),
        )


def same_loss(ours, peer):
    gap = float(np.abs(2 * ours.losses_ / peer.train_score_ - 1).max())
    assert gap < 0.02, gap
    return f"training loss of every round equal to a relative {gap:.0e}"


for name in ("spambase", "letter"):
    X, y = two_classes(name)
    for rounds in bench.sizes([5, 20, 50]):
        bench.compare(
            f"gradient boosting with trees of depth 3 by rounds, {name}",
            size=rounds,
            ours=lambda X=X, y=y, rounds=rounds: GradientBoostedTrees(n_rounds=rounds, max_depth=3).fit(X, y),
            peers={
                "GradientBoostingClassifier": lambda X=X, y=y, rounds=rounds: GradientBoostingClassifier(
                    n_estimators=rounds, max_depth=3, random_state=0
                ).fit(X, y)
            },
            accuracy=same_loss,
        )


def by_lightgbm(X, y, rounds, depth, shrinkage):
    # Nothing that would make its trees smaller than ours, and bins from all rows; columns first was the faster way.
    setting = {
        "objective": "binary", "learning_rate": shrinkage, "num_leaves": 2**depth, "max_depth": depth, "max_bin": 255,
        "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "feature_pre_filter": False, "force_col_wise": True,
        "bin_construct_sample_cnt": 200_000, "num_threads": 1, "verbose": -1,
    }  # fmt: skip
    model = lightgbm.train(setting, lightgbm.Dataset(X, y, params=setting), rounds)
    return lambda Z: model.predict(Z, raw_score=True, num_threads=1)


def by_xgboost(X, y, rounds, depth, shrinkage, method="hist"):
    setting = {
        "objective": "binary:logistic", "tree_method": method, "max_bin": 256, "max_depth": depth, "eta": shrinkage,
        "lambda": 0.0, "min_child_weight": 0.0, "nthread": 1,
    }  # fmt: skip
    if method == "exact":
        del setting["max_bin"]
        data = xgboost.DMatrix(X, y, nthread=1)
    else:
        data = xgboost.QuantileDMatrix(X, y, max_bin=256, nthread=1)
    model = xgboost.train(setting, data, rounds)
    return lambda Z: model.predict(xgboost.DMatrix(Z, nthread=1), output_margin=True)


def by_scikit_learn(X, y, rounds, depth, shrinkage):
    return (
        HistGradientBoostingClassifier(
            max_iter=rounds, max_depth=depth, max_leaf_nodes=2**depth, learning_rate=shrinkage, max_bins=255,
            min_samples_leaf=1, early_stopping=False,
        ).fit(X, y).decision_function
    )  # fmt: skip


def logistic_loss(y, f):
    return float(np.mean(np.logaddexp(0.0, np.where(y == 1, -f, f))))


def many_rows(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + rng.normal(size=n) > 0).astype(int)


def near_loss(X, y, scores):
    def check(ours, peer):
        mine, theirs = logistic_loss(y, scores(ours)), logistic_loss(y, peer(X))
        # Newton steps choose other cuts than least squares; neither is ahead on every sample.
        assert mine <= 1.02 * theirs, (mine, theirs)
        return f"training logistic loss {mine:.4f}, theirs {theirs:.4f}"

    return check


PEERS = {"LightGBM": by_lightgbm, "XGBoost hist": by_xgboost, "HistGradientBoostingClassifier": by_scikit_learn}
SCALE = 10 if bench.smoke else 1

GRID = ((1, 300, 20), (3, 100, 20), (3, 100, 50))
for depth, rounds, d in GRID[:2] if bench.smoke else GRID:
    for n in bench.sizes([5000, 20_000, 80_000]):
        X, y = many_rows(n, d)
        bench.compare(
            f"gradient boosting by rows, binned, depth {depth}, {rounds} rounds, {d} features",
            size=n,
            ours=lambda X=X, y=y, rounds=rounds, depth=depth: GradientBoostedTrees(rounds // SCALE, depth).fit(X, y),
            peers={
                name: lambda X=X, y=y, rounds=rounds, depth=depth, call=call: call(X, y, rounds // SCALE, depth, 0.1)
                for name, call in PEERS.items()
            },
            accuracy=near_loss(X, y, lambda model, X=X: model.decision_function(X)),
        )


def stumps_of_scikit_learn(X, y, rounds):
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds).fit(X, y)
    signs = sum(
        a * np.where(h.predict(X) == 1, 1.0, -1.0)
        for a, h in zip(model.estimator_weights_, model.estimators_, strict=True)
    )
    return lambda Z: signs  # scikit-learn's weights are twice those of the exponential loss: log-odds as they are


STUMPS = {**PEERS, "XGBoost exact": lambda *task: by_xgboost(*task, method="exact")}
# Below 2,500 rows ours looks at every cut, as XGBoost's exact method does; LightGBM bins all the same.
for n in bench.sizes([500, 1000, 2400]):
    X, y = many_rows(n, 20)
    bench.compare(
        "gradient boosting by rows, every cut, depth 1, 300 rounds, 20 features; LightGBM has bins",
        size=n,
        ours=lambda X=X, y=y: GradientBoostedTrees(300 // SCALE, 1).fit(X, y),
        peers={
            name: lambda X=X, y=y, call=STUMPS[name]: call(X, y, 300 // SCALE, 1, 0.1)
            for name in ("XGBoost exact", "LightGBM")
        },
        accuracy=near_loss(X, y, lambda model, X=X: model.decision_function(X)),
    )
for n in bench.sizes([5000, 20_000, 80_000]):
    X, y = many_rows(n, 20)
    peers = {name: lambda X=X, y=y, call=call: call(X, y, 300 // SCALE, 1, 0.1) for name, call in STUMPS.items()}
    if n <= 20_000:  # minutes beyond, and it scales with n
        peers["AdaBoostClassifier"] = Once(lambda X=X, y=y: stumps_of_scikit_learn(X, y, 300 // SCALE))
    bench.compare(
        "AdaBoost by rows, binned stumps, 300 rounds, 20 features; LightGBM, XGBoost, Hist boost the logistic loss",
        size=n,
        ours=lambda X=X, y=y: AdaBoost(n_rounds=300 // SCALE).fit(X, y),
        peers=peers,
        # A vote f of AdaBoost is half the log-odds.
        accuracy=near_loss(X, y, lambda model: 2.0 * model.train_scores_),
    )


def same_stump(X, y, D):
    def check(ours, peer):
        mine = D[ours.outputs != y].sum()
        theirs = D[peer.predict(X) != y].sum()
        assert mine <= theirs + 1e-12, (mine, theirs)
        return f"weighted error {mine:.4g}, theirs {theirs:.4g}"

    return check


for n in bench.sizes([1000, 10_000, 100_000]):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10)).astype(np.float32).astype(np.float64)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)
    D = rng.random(n) / n * 2
    learner = StumpERM(max_bins=None).prepare(X)
    bench.compare(
        "one weighted stump on presorted data, 10 features",
        size=n,
        ours=lambda learner=learner, D=D, y=y: learner.fit(D, y),
        peers={
            "DecisionTreeClassifier(max_depth=1)": lambda X=X, D=D, y=y: DecisionTreeClassifier(max_depth=1).fit(
                X, y, sample_weight=D
            )
        },
        accuracy=same_stump(X, y, D),
    )
    del learner

rows = [row for row in bench.rows if row["case"].startswith("one weighted stump")]
if len(rows) > 1:
    sizes, seconds = (np.log([row[key] for row in rows]) for key in ("size", "ours_seconds"))
    print(f"a round costs n^{np.polyfit(sizes, seconds, 1)[0]:.2f}")


def clean(model, y):
    assert np.isfinite(model.train_scores_).all()
    assert np.isfinite(model.alphas_).all()
    drift = abs(model.weights_.sum() - 1)
    assert drift < 1e-12, drift
    return f"smallest margin {(y * model.train_scores_).min():.0f}, weights sum to 1 within {drift:.0e}"


for rounds in bench.sizes([500, 1500, 5000]):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5)).astype(np.float32).astype(np.float64)
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)

    def peer(X=X, y=y, rounds=rounds):
        # A tenth of the rounds: the whole run would take minutes.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return AdaBoostClassifier(n_estimators=rounds // 10).fit(X, y)

    bench.compare(
        "long runs on separable data by rounds; peer makes a tenth of the rounds",
        size=rounds,
        ours=lambda X=X, y=y, rounds=rounds: AdaBoost(n_rounds=rounds).fit(X, y),
        peers={"AdaBoostClassifier, rounds / 10": peer},
        accuracy=lambda ours, peer, y=y: clean(ours, y),
    )


def near_lasso(ours, peer):
    knots = np.abs(peer).sum(axis=0)
    norms = np.abs(ours).sum(axis=1)
    same = np.array([np.interp(norms, knots, row) for row in peer]).T
    early = norms <= 0.7 * knots[-1]
    gap = float(np.abs(ours - same)[early].max())
    assert gap < 0.004, gap
    return f"at equal norms, up to 70 % of the last, coefficients differ by at most {gap:.1g}"


for K in bench.sizes([10, 100, 500]):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1000, K))
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    t = X[:, :5] @ [9.0, -7.0, 5.0, 3.0, -2.0] + 0.05 * rng.normal(size=1000)
    t -= t.mean()
    bench.compare(
        "forward stagewise path of 10,000 steps beside the exact lasso path, by features",
        size=K,
        ours=lambda X=X, t=t: stagewise_path(X, t, 0.002, 10_000),
        peers={"lars_path(method='lasso')": lambda X=X, t=t: lars_path(X, t, method="lasso")[2]},
        accuracy=near_lasso,
    )

bench.finish()
