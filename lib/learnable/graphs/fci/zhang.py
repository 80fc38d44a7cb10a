"""The ten orientation rules for graphs with hidden variables (Zhang 2008), on marks with circles.

A rule yields changes (i, j, mark): the mark at j on the edge i - j. Only circles are ever changed. Without lists a
change is made as soon as it is found; with lists all changes of one rule are made at once, an arrowhead winning over a
tail, so that the order of the columns plays no part (Colombo and Maathuis 2014, Sec. 4.4).

Marks are nested lists here, ``M[i][j]`` at j on the edge i - j: these searches follow paths, node by node.
"""

from __future__ import annotations

from collections import deque

from learnable.graphs.mixed import ARROW, CIRCLE, TAIL


class Rules:
    """The rules on one graph; `decide(t, b, c)` says whether b is in the separating set of t and c (None: unsure)."""

    def __init__(self, marks, decide, ambiguous=frozenset()):
        self.M = [list(map(int, row)) for row in marks]
        self.near = [[j for j, mark in enumerate(row) if mark] for row in self.M]
        self.decide, self.ambiguous = decide, ambiguous
        self.check_path = None  # RFCI looks at a discriminating path before it is used

    def delete(self, i, j):
        """Take an edge away."""
        self.M[i][j] = self.M[j][i] = 0
        self.near[i].remove(j)
        self.near[j].remove(i)

    def sure(self, i, j, k):
        return (min(i, k), j, max(i, k)) not in self.ambiguous

    def set(self, i, j, mark):
        """Change a circle; tell whether there was one."""
        if self.M[i][j] != CIRCLE:
            return False
        self.M[i][j] = mark
        return True

    def rule1(self):
        """a *-> b o-* c, a and c not adjacent: b -> c."""
        M = self.M
        for b, around in enumerate(self.near):
            for a in around:
                if M[a][b] == ARROW:
                    for c in around:
                        if c != a and M[c][b] == CIRCLE and not M[a][c] and self.sure(a, b, c):
                            yield c, b, TAIL
                            yield b, c, ARROW

    def rule2(self):
        """a -> b *-> c or a *-> b -> c, and a *-o c: a *-> c."""
        M = self.M
        for a, around in enumerate(self.near):
            for c in around:
                if M[a][c] == CIRCLE:
                    for b in around:
                        if M[a][b] == ARROW and M[b][c] == ARROW and (M[b][a] == TAIL or M[c][b] == TAIL):
                            yield a, c, ARROW

    def rule3(self):
        """a *-> b <-* c, a *-o d o-* c, a and c not adjacent, d *-o b: d *-> b."""
        M = self.M
        for d, around in enumerate(self.near):
            for b in around:
                if M[d][b] != CIRCLE:
                    continue
                for x, a in enumerate(around):
                    if M[a][d] != CIRCLE or M[a][b] != ARROW:
                        continue
                    for c in around[x + 1 :]:
                        if M[c][d] == CIRCLE and M[c][b] == ARROW and not M[a][c] and self.sure(a, d, c):
                            yield d, b, ARROW

    def rule4(self):
        """A discriminating path <t, ..., a, b, c>, b o-* c: a tail at b if b separates t and c, else heads."""
        for b in range(len(self.M)):
            for c in list(self.near[b]):
                if self.M[b][c] and self.M[c][b] == CIRCLE:
                    yield from self._discriminate(b, c)

    def _discriminate(self, b, c):
        path = self.discriminating_path(b, c)
        if path is None or (self.check_path and self.check_path(path)):
            return
        inside = self.decide(path[0], b, c)
        if inside is None:
            return
        if inside:
            yield c, b, TAIL
            yield b, c, ARROW
        else:
            yield path[-3], b, ARROW
            yield b, c, ARROW
            yield c, b, ARROW

    def discriminating_path(self, b, c):
        """The shortest <t, ..., a, b, c>: t not adjacent to c, colliders that are parents of c between t and b."""
        M = self.M
        queue, seen = deque(), {b, c}
        for a in self.near[b]:
            if a != c and M[b][a] == ARROW and M[a][c] == ARROW and M[c][a] == TAIL:
                queue.append((a, b, c))
                seen.add(a)
        while queue:
            path = queue.popleft()
            a = path[0]
            for d in self.near[a]:
                if d in seen or M[d][a] != ARROW:
                    continue
                if not M[d][c]:
                    return (d, *path)
                if M[a][d] == ARROW and M[d][c] == ARROW and M[c][d] == TAIL:
                    seen.add(d)
                    queue.append((d, *path))
        return None

    def rule5(self):
        """a o-o b and an uncovered path of o-o edges <a, c, ..., d, b>, a, d and b, c not adjacent: all undirected."""
        M = self.M

        def circles(u, v):
            return M[u][v] == CIRCLE and M[v][u] == CIRCLE

        for a, around in enumerate(self.near):
            for b in around:
                if a < b and circles(a, b):
                    for c in around:
                        if c != b and not M[c][b] and circles(a, c):
                            path = self.uncovered_path(a, c, b, circles)
                            if path and len(path) > 3 and not M[path[-2]][a]:
                                for u, v in zip((*path, b), (*path[1:], b, a), strict=True):
                                    if u != v:
                                        yield u, v, TAIL
                                        yield v, u, TAIL

    def rule6(self):
        """a - b o-* c: a tail at b."""
        M = self.M
        for b, around in enumerate(self.near):
            if any(M[a][b] == TAIL and M[b][a] == TAIL for a in around):
                for c in around:
                    if M[c][b] == CIRCLE:
                        yield c, b, TAIL

    def rule7(self):
        """a -o b o-* c, a and c not adjacent: a tail at b on b - c."""
        M = self.M
        for b, around in enumerate(self.near):
            for a in around:
                if M[a][b] == CIRCLE and M[b][a] == TAIL:
                    for c in around:
                        if c != a and M[c][b] == CIRCLE and not M[a][c] and self.sure(a, b, c):
                            yield c, b, TAIL

    def rule8(self):
        """a -> b -> c or a -o b -> c, and a o-> c: a -> c."""
        M = self.M
        for a, c in self._circle_arrows():
            for b in self.near[a]:
                if M[b][a] == TAIL and M[a][b] in (ARROW, CIRCLE) and M[b][c] == ARROW and M[c][b] == TAIL:
                    yield c, a, TAIL
                    break

    def rule9(self):
        """a o-> c and an uncovered potentially directed path <a, b, d, ..., c>, b and c not adjacent: a -> c."""
        for a, c in self._circle_arrows():
            for b in self.near[a]:
                if b != c and not self.M[b][c] and self.possible(a, b) and self.uncovered_path(a, b, c, self.possible):
                    yield c, a, TAIL
                    break

    def rule10(self):
        """a o-> c, b -> c <- d, uncovered p.d. paths from a to b and to d that start apart, not adjacent: a -> c."""
        M = self.M
        for a, c in self._circle_arrows():
            parents = [b for b in self.near[c] if b != a and M[b][c] == ARROW and M[c][b] == TAIL]
            first = {b: self._first_steps(a, b, c) for b in parents}
            if any(
                m != w and not M[m][w]
                for x, b in enumerate(parents)
                for d in parents[x + 1 :]
                for m in first[b]
                for w in first[d]
            ):
                yield c, a, TAIL

    def _first_steps(self, a, b, c):
        """The nodes after a on uncovered potentially directed paths from a to b."""
        steps = []
        for m in self.near[a]:
            if m != c and self.possible(a, m) and (m == b or self.uncovered_path(a, m, b, self.possible)):
                steps.append(m)
        return steps

    def _circle_arrows(self):
        return [
            (a, c)
            for a, around in enumerate(self.near)
            for c in around
            if self.M[c][a] == CIRCLE and self.M[a][c] == ARROW
        ]

    def possible(self, u, v):
        """Whether u - v can lie on a directed path from u to v: no arrowhead at u, no tail at v."""
        return self.M[v][u] != ARROW and self.M[u][v] != TAIL

    def uncovered_path(self, a, b, c, step):
        """A shortest path <a, b, ..., c> of allowed steps without an edge past a node; None without one."""
        M = self.M
        queue, seen = deque([(a, b)]), {(a, b)}
        while queue:
            path = queue.popleft()
            before, last = path[-2], path[-1]
            for v in self.near[last]:
                if (
                    v in path
                    or M[before][v]
                    or not step(last, v)
                    or (last, v) in seen
                    or not self.sure(before, last, v)
                ):
                    continue
                if v == c:
                    return (*path, v)
                seen.add((last, v))
                queue.append((*path, v))
        return None


def apply_rules(rules, lists):
    """Rules 1 to 10 in turn until nothing changes."""
    named = [getattr(rules, f"rule{number}") for number in range(1, 11)]
    changed = True
    while changed:
        changed = False
        for rule in named:
            if lists:
                wanted = {}
                for i, j, mark in rule():
                    wanted[i, j] = min(mark, wanted.get((i, j), TAIL))  # an arrowhead (2) wins over a tail (3)
                changed |= any([rules.set(i, j, mark) for (i, j), mark in wanted.items()])
            else:
                for change in rule():
                    changed |= rules.set(*change)
