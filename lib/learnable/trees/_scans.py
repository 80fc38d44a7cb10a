"""The best cut of one feature in one node, by running sums: the inner loops of `learnable.trees.growing`.

A scan gets the values of a feature, the samples of a node in their order (``row[lo:hi]``), what it needs of labels and
weights, and the node (``here``). It returns n₁φ(S₁) + n₂φ(S₂) up to a constant, and the place after which to cut, −1
for none.
"""

import numpy as np

from learnable._inner import inner

__all__ = [
    "impurity",
    "node_cost",
    "rank_by_share",
    "scan_any",
    "scan_entropy",
    "scan_gini",
    "scan_squared",
    "scan_uneven",
    "spread_by_rank",
]


@inner
def node_cost(counts, total, k, criterion):
    """total × impurity of a node, with an error relative to the cost itself, however pure the node."""
    if criterion == 2:
        return impurity(counts, total, k, criterion)
    out = 0.0
    for c in range(k):
        if counts[c] > 0.0:
            others = max((total - counts[c]) / total, 0.0)
            if criterion == 0:
                out += counts[c] * others
            elif others < 0.5:
                out -= counts[c] * np.log1p(-others)
            else:
                out += counts[c] * np.log(total / counts[c])
    return out


@inner
def impurity(counts, total, k, criterion):
    """total × impurity of a vector of class weights, for comparing cuts: its error is relative to the total."""
    if total <= 0.0:
        return 0.0
    if criterion == 0:
        squares = 0.0
        for c in range(k):
            squares += counts[c] * counts[c]
        return total - squares / total
    if criterion == 1:
        out = total * np.log(total)
        for c in range(k):
            if counts[c] > 0.0:
                out -= counts[c] * np.log(counts[c])
        return max(out, 0.0)
    largest = 0.0
    for c in range(k):
        largest = max(largest, counts[c])
    return total - largest


@inner
def scan_gini(column, row, classes, weight, here, on_left, min_leaf):
    """Best cut by Gini: maximise Σ l_c²/l + Σ r_c²/r, with both sums of squares updated in O(1)."""
    lo, hi, w_all, counts, k, codes = here.lo, here.hi, here.weight, here.counts, classes.k, classes.codes
    for c in range(k):
        on_left[c] = 0.0
    left_squares, right_squares, w_left = 0.0, 0.0, 0.0
    for c in range(k):
        right_squares += counts[c] * counts[c]
    best, place = -1.0, -1
    value = column[row[lo]]
    for p in range(lo, hi - 1):
        i = row[p]
        c = codes[i]
        w = weight[i]
        l = on_left[c]
        r = counts[c] - l
        # (l + w)² − l² and (r − w)² − r²: no other class changes.
        left_squares += w * (2.0 * l + w)
        right_squares -= w * (2.0 * r - w)
        on_left[c] = l + w
        w_left += w
        following = column[row[p + 1]]
        if following != value:
            value = following
            if p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
                w_right = w_all - w_left
                if w_left > 0.0 and w_right > 0.0:
                    score = left_squares / w_left + right_squares / w_right
                    # Of cuts that differ by rounding the first wins, whatever the order of the sums.
                    if score > best * (1.0 + 1e-14):
                        best, place = score, p
    return w_all - best, place


@inner
def scan_uneven(column, row, classes, weight, here, on_left, min_leaf):
    """Best cut by Gini for weights that span many orders of magnitude, O(k) a cut.

    The score of a cut is the sum of l_c(l_c/l) and r_c(r_c/r): shares times class sums, so that an error in a small
    side stays as small as the side. A side below rounding error of the whole has no score.
    """
    lo, hi, w_all, counts, k, codes = here.lo, here.hi, here.weight, here.counts, classes.k, classes.codes
    for c in range(k):
        on_left[c] = 0.0
    best, place = -1.0, -1
    value = column[row[lo]]
    for p in range(lo, hi - 1):
        i = row[p]
        on_left[codes[i]] += weight[i]
        following = column[row[p + 1]]
        if following != value:
            value = following
            if p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
                w_left, w_right = 0.0, 0.0
                for c in range(k):
                    w_left += on_left[c]
                    # Not w_all − w_left: that would leave the rounding errors of the heavy side to the light one.
                    w_right += max(counts[c] - on_left[c], 0.0)
                if min(w_left, w_right) > 1e-13 * w_all:
                    score = 0.0
                    for c in range(k):
                        score += on_left[c] * (on_left[c] / w_left)
                        r = max(counts[c] - on_left[c], 0.0)
                        score += r * (r / w_right)
                    if score > best * (1.0 + 1e-14):
                        best, place = score, p
    return w_all - best, place


@inner
def scan_entropy(column, row, classes, here, on_left, table, min_leaf):
    """Best cut by entropy for unit weights: all logarithms come from a table of i ln i."""
    lo, hi, counts, k, codes = here.lo, here.hi, here.counts, classes.k, classes.codes
    for c in range(k):
        on_left[c] = 0.0
    left_sum, right_sum = 0.0, 0.0
    for c in range(k):
        right_sum += table[int(counts[c])]
    best, place = np.inf, -1
    value = column[row[lo]]
    size = hi - lo
    # N H = N ln N − Σ c ln c is a difference of numbers of this size: smaller differences of scores are rounding.
    slack = 1e-14 * table[size]
    for p in range(lo, hi - 1):
        c = codes[row[p]]
        l = int(on_left[c])
        r = int(counts[c]) - l
        left_sum += table[l + 1] - table[l]
        right_sum += table[r - 1] - table[r]
        on_left[c] = l + 1
        following = column[row[p + 1]]
        if following != value:
            value = following
            done = p + 1 - lo
            if done >= min_leaf and size - done >= min_leaf:
                score = table[done] - left_sum + table[size - done] - right_sum
                if score < best - slack:
                    best, place = score, p
    return best, place


@inner
def scan_any(column, row, classes, weight, here, on_left, min_leaf):
    """Best cut by any class criterion, O(k) a candidate."""
    lo, hi, w_all, counts, k, codes = here.lo, here.hi, here.weight, here.counts, classes.k, classes.codes
    criterion = classes.criterion
    # The second half of the room is for the right side.
    on_right = on_left[k:]
    for c in range(k):
        on_left[c], on_right[c] = 0.0, counts[c]
    w_left = 0.0
    best, place = np.inf, -1
    for p in range(lo, hi - 1):
        i = row[p]
        on_left[codes[i]] += weight[i]
        on_right[codes[i]] -= weight[i]
        w_left += weight[i]
        if column[row[p]] != column[row[p + 1]] and p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
            score = impurity(on_left, w_left, k, criterion)
            score += impurity(on_right, w_all - w_left, k, criterion)
            if score < best - 1e-13 * w_all:
                best, place = score, p
    return best, place


@inner
def scan_squared(column, row, target, weight, here, min_leaf):
    """Best cut by squared error: with centred targets only the sum on the left is needed."""
    lo, hi, mean, w_all = here.lo, here.hi, here.mean, here.weight
    w_left, sum_left = 0.0, 0.0
    best, place = -1.0, -1
    for p in range(lo, hi - 1):
        i = row[p]
        w_left += weight[i]
        sum_left += weight[i] * (target[i] - mean)
        if column[row[p]] != column[row[p + 1]] and p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
            w_right = w_all - w_left
            if w_left > 0.0 and w_right > 0.0:
                gain = sum_left * sum_left * (1.0 / w_left + 1.0 / w_right)
                if gain > best + 1e-14 * max(best, 0.0):
                    best, place = gain, p
    return -best, place


@inner
def rank_by_share(categories, q):
    """Turn a categorical feature into an ordered one: by the mean target, or by the share of a class.

    For two classes and for squared error the best of all subsets of categories is among the cuts of this order
    (Breiman et al. 1984, Thm. 4.5). Gives each of q categories its rank, −1 if the node has none of it; returns how
    many it has.
    """
    heavy, share, count = categories.sums
    rank, sequence = categories.rank, categories.sequence
    present = 0
    for c in range(q):
        rank[c] = -1
        if count[c] > 0.0:
            share[c] = share[c] / heavy[c] if heavy[c] > 0.0 else 0.0
            at = present
            while at > 0 and share[sequence[at - 1]] > share[c]:
                sequence[at] = sequence[at - 1]
                at -= 1
            sequence[at] = c
            present += 1
    for at in range(present):
        rank[sequence[at]] = at
    return present


@inner
def spread_by_rank(column, row, here, categories, present):
    """Give each sample of the node the rank of its category (`shade`), and list them in that order (`shadow`)."""
    count, rank, sequence = categories.sums[2], categories.rank, categories.sequence
    start, at = categories.sums[0], here.lo
    for r in range(present):
        start[r] = at
        at += int(count[sequence[r]])
    for p in range(here.lo, here.hi):
        i = row[p]
        r = rank[int(column[i])]
        categories.shade[i] = r
        categories.shadow[int(start[r])] = i
        start[r] += 1.0
