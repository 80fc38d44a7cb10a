"""Plausible wrong solutions to the exercises on Bayesian decision theory: slips, and the source's own misprints."""

import itertools

import numpy as np
from scipy import integrate, optimize
from support import wrong


@wrong("q1", fails="Points that are not equally likely")
def priors_without_weights():
    """The prior as the plain mean of the posteriors: right only when all points are equally likely."""

    def joint_table(px, p1):
        px, p1 = np.asarray(px), np.asarray(p1)
        return np.column_stack([px * (1 - p1), px * p1]), np.array([1 - p1.mean(), p1.mean()])

    return {"joint_table": joint_table}


@wrong(
    "q1",
    fails=["The distribution function at the five points", "The distribution function between and beyond the points"],
)
def cdf_from_class_one():
    """The sum over classes starts at 1, as one formula of the source has it."""

    def joint_cdf(x_values, joint, y, x):
        rows = np.asarray(x_values) <= x
        return float(sum(joint[rows, j].sum() for j in range(1, joint.shape[1]) if j <= y))

    return {"joint_cdf": joint_cdf}


@wrong("q1", fails="The distribution function between and beyond the points")
def cdf_with_integer_slices():
    """Classes up to y by slicing: a fractional or negative y breaks it."""

    def joint_cdf(x_values, joint, y, x):
        rows = np.asarray(x_values) <= x
        return float(joint[rows][:, : int(y) + 1].sum())

    return {"joint_cdf": joint_cdf}


@wrong("q1", fails=["Points in no particular order"])
def cdf_of_sorted_points():
    """Counts the points below with searchsorted, which takes them for sorted."""

    def joint_cdf(x_values, joint, y, x):
        count = np.searchsorted(x_values, x, side="right")
        return float(joint[:count][:, np.arange(joint.shape[1]) <= y].sum())

    return {"joint_cdf": joint_cdf}


@wrong("q1", fails="Five equally likely points")
def table_transposed():
    """One row a class instead of one row a point."""

    def joint_table(px, p1):
        px, p1 = np.asarray(px), np.asarray(p1)
        joint = np.array([px * (1 - p1), px * p1])
        return joint, joint.sum(axis=1)

    return {"joint_table": joint_table}


@wrong("q2", fails=["Posteriors exactly on the boundary", "One kind of mistake is free", "Prices in another currency"])
def prices_exchanged():
    """The threshold a/(a + b): the two prices are mixed up, which equal prices do not show."""

    def cost_bayes(post1, a, b):
        post1 = np.asarray(post1)
        return (post1 >= a / (a + b)).astype(int), np.minimum(b * post1, a * (1 - post1))

    return {"cost_bayes": cost_bayes}


@wrong("q2", fails=["Equal prices, twice as high, and a tie", "Posteriors exactly on the boundary"])
def tie_to_class_zero():
    """A strict comparison: on a tie class 0 wins."""

    def cost_bayes(post1, a, b):
        miss, alarm = a * np.asarray(post1), b * (1 - np.asarray(post1))
        return (miss > alarm).astype(int), np.minimum(miss, alarm)

    return {"cost_bayes": cost_bayes}


@wrong("q2", fails="One kind of mistake is free")
def ratio_of_prices():
    """Compares the odds with b / a, and divides by zero when misses are free."""

    def cost_bayes(post1, a, b):
        post1 = np.asarray(post1)
        odds = post1 / np.maximum(1 - post1, 1e-300)
        return (odds >= b / a).astype(int), np.minimum(a * post1, b * (1 - post1))

    return {"cost_bayes": cost_bayes}


@wrong("q2", fails=["Prices in another currency"])
def half_as_threshold():
    """Decides at one half whatever the prices are, and reports the right smallest risk."""

    def cost_bayes(post1, a, b):
        post1 = np.asarray(post1)
        return (post1 >= 0.5).astype(int), np.minimum(a * post1, b * (1 - post1))

    return {"cost_bayes": cost_bayes}


@wrong("q3", fails="The same student on another time scale")
def interval_from_the_example():
    """The interval of the example is built in."""

    def bayes_risk_1d(logf0, logf1, pi1, a, b, lo, hi):
        def cost(x):
            return np.exp(np.minimum(np.log(a * pi1) + logf1(x), np.log(b * (1 - pi1)) + logf0(x)))

        return integrate.quad(cost, 0, 1, epsabs=0)[0] + integrate.quad(cost, 1, 4, epsabs=0)[0]

    return {"bayes_risk_1d": bayes_risk_1d}


@wrong("q3", fails=["Two variances, two prices, two crossings", "Two humps against two humps"])
def prices_forgotten():
    """The prices are accepted and never used."""

    def bayes_risk_1d(logf0, logf1, pi1, a, b, lo, hi):
        def gap(x):
            return np.log(pi1) + logf1(x) - np.log(1 - pi1) - logf0(x)

        def cost(x):
            return np.exp(np.minimum(np.log(pi1) + logf1(x), np.log(1 - pi1) + logf0(x)))

        grid = np.linspace(lo, hi, 2001)
        sign = np.sign(gap(grid))
        cuts = [optimize.brentq(gap, grid[i], grid[i + 1]) for i in np.flatnonzero(sign[:-1] * sign[1:] < 0)]
        edges = [lo, *cuts, hi]
        return sum(integrate.quad(cost, u, v, epsabs=0)[0] for u, v in itertools.pairwise(edges))

    return {"bayes_risk_1d": bayes_risk_1d}


@wrong("q3", fails=["Two variances, two prices, two crossings", "Two humps against two humps"])
def one_threshold():
    """Assumes a single threshold: class 0 to its left, class 1 to its right."""

    def bayes_risk_1d(logf0, logf1, pi1, a, b, lo, hi):
        grid = np.linspace(lo, hi, 20001)
        gap = np.log(a * pi1) + logf1(grid) - np.log(b * (1 - pi1)) - logf0(grid)
        first = np.flatnonzero(np.diff(np.sign(gap)) != 0)[-1]

        def difference(x):
            return np.log(a * pi1) + logf1(x) - np.log(b * (1 - pi1)) - logf0(x)

        cut = optimize.brentq(difference, grid[first], grid[first + 1])
        left = integrate.quad(lambda x: a * pi1 * np.exp(logf1(x)), lo, cut, epsabs=0, limit=200)[0]
        right = integrate.quad(lambda x: b * (1 - pi1) * np.exp(logf0(x)), cut, hi, epsabs=0, limit=200)[0]
        return left + right

    return {"bayes_risk_1d": bayes_risk_1d}


@wrong("q3", fails="A narrow class on a wide interval")
def integral_without_breakpoints():
    """One call of quad over the whole interval walks past a narrow peak."""

    def bayes_risk_1d(logf0, logf1, pi1, a, b, lo, hi):
        def cost(x):
            return np.exp(np.minimum(np.log(a * pi1) + logf1(x), np.log(b * (1 - pi1)) + logf0(x)))

        return integrate.quad(cost, lo, hi)[0]

    return {"bayes_risk_1d": bayes_risk_1d}


@wrong("q3", fails="A narrow class on a wide interval")
def thousand_trapezoids():
    """A thousand trapezoids: six digits on the example, not elsewhere."""

    def bayes_risk_1d(logf0, logf1, pi1, a, b, lo, hi):
        x = np.linspace(lo, hi, 1001)
        return np.trapezoid(np.minimum(a * pi1 * np.exp(logf1(x)), b * (1 - pi1) * np.exp(logf0(x))), x)

    return {"bayes_risk_1d": bayes_risk_1d}


@wrong("q4", fails=["Four classes, a loss that is not symmetric", "No other set of answered points does better"])
def loss_transposed():
    """Row decision, column truth: the convention of many other packages."""

    def reject_rule(post, L, t):
        risks = np.asarray(post) @ np.asarray(L).T
        return np.where(risks.min(axis=1) <= t, risks.argmin(axis=1), -1)

    return {"reject_rule": reject_rule}


@wrong("q4", fails="Risks exactly at the threshold, and classes that tie")
def silent_at_equality():
    """Refuses at equality."""

    def reject_rule(post, L, t):
        risks = np.asarray(post) @ np.asarray(L)
        return np.where(risks.min(axis=1) < t, risks.argmin(axis=1), -1)

    return {"reject_rule": reject_rule}


@wrong("q4", fails=["Four classes, a loss that is not symmetric", "No other set of answered points does better"])
def only_posteriors():
    """The rule for the 0-1 loss, whatever the loss is."""

    def reject_rule(post, L, t):
        post = np.asarray(post)
        return np.where(post.max(axis=1) >= 1 - t, post.argmax(axis=1), -1)

    return {"reject_rule": reject_rule}


@wrong("q4", fails="The curve with unequal probabilities and equal risks")
def every_point_a_threshold():
    """Keeps equal risks as separate steps of the curve."""

    def error_reject_curve(post, L, px):
        risk = (np.asarray(post) @ np.asarray(L)).min(axis=1)
        order = np.argsort(risk)
        risk, px = risk[order], np.asarray(px)[order]
        return risk, 1 - np.cumsum(px), np.cumsum(px * risk)

    return {"error_reject_curve": error_reject_curve}


@wrong("q4", fails=["The curve of four points", "The curve with unequal probabilities and equal risks"])
def risk_given_acceptance():
    """Divides the error mass by the probability of an answer: the conditional risk, not the mass."""

    def error_reject_curve(post, L, px):
        risk = (np.asarray(post) @ np.asarray(L)).min(axis=1)
        levels = np.unique(risk)
        px = np.asarray(px)
        accepted = np.array([px[risk <= t].sum() for t in levels])
        return levels, 1 - accepted, np.array([(px * risk)[risk <= t].sum() for t in levels]) / accepted

    return {"error_reject_curve": error_reject_curve}


@wrong("q5", fails=["The cost of random rules", "The enumeration itself"])
def loss_read_the_other_way():
    """L[decision, truth] instead of L[truth, decision]; a symmetric loss does not show it."""

    def rule_cost(g, post, px, L, t):
        risks = np.column_stack([np.asarray(post) @ np.asarray(L).T, np.full(len(px), float(t))])
        return float(np.asarray(px) @ risks[np.arange(len(px)), np.asarray(g)])

    return {"rule_cost": rule_cost}


@wrong("q5", fails=["The optimal rule against all rules", "Twenty thousand points, and prices at the extremes"])
def zero_one_threshold():
    """Refuses where the largest posterior is below 1 - t, which is right for the 0-1 loss only."""

    def chow_cost(post, px, L, t):
        post, px = np.asarray(post), np.asarray(px)
        g = np.where(post.max(axis=1) >= 1 - t, post.argmax(axis=1), -1)
        risks = np.column_stack([post @ np.asarray(L), np.full(len(px), float(t))])
        return g, float(px @ risks[np.arange(len(px)), g])

    return {"chow_cost": chow_cost}


@wrong("q5", fails=["The enumeration itself"])
def refusals_not_tried():
    """Enumerates the rules that always answer, and adds the one that never does; nothing in between."""

    def best_of_all_rules(post, px, L, t):
        risks = np.asarray(post) @ np.asarray(L)
        n, k = risks.shape
        answered = (np.asarray(px) @ risks[np.arange(n), list(g)] for g in itertools.product(range(k), repeat=n))
        return float(min(*answered, t))

    return {"best_of_all_rules": best_of_all_rules}


@wrong("q5", fails=["The cost of random rules"])
def refusals_unweighted():
    """Counts refusals instead of adding their probabilities: right for equally likely points."""

    def rule_cost(g, post, px, L, t):
        g, px = np.asarray(g), np.asarray(px)
        risks = np.asarray(post) @ np.asarray(L)
        spoken = np.flatnonzero(g != -1)
        return float((px[spoken] * risks[spoken, g[spoken]]).sum() + t * np.mean(g == -1))

    return {"rule_cost": rule_cost}


@wrong("q5", fails="Twenty thousand points, and prices at the extremes")
def enumeration_for_everything():
    """Finds the optimal rule by enumeration, which ends for small problems only."""

    def chow_cost(post, px, L, t):
        post, px = np.asarray(post), np.asarray(px)
        risks = np.column_stack([post @ np.asarray(L), np.full(len(px), float(t))])
        n, k = post.shape
        if (k + 1.0) ** min(n, 500) > 1e7:
            raise MemoryError("too many rules")
        g = min(itertools.product([*range(k), -1], repeat=n), key=lambda g: px @ risks[np.arange(n), list(g)])
        return np.array(g), float(px @ risks[np.arange(n), list(g)])

    return {"chow_cost": chow_cost}
