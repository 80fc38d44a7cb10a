"""Networks as text: the Bayesian interchange format (BIF 0.15) that most programs of the field read and write.

The reader takes what such files hold in practice: comments, quoted names, properties, tables as one list (`table`, the
node's own state changing slowest) or as rows for each configuration of the parents, and a `default` row. Rows whose sum
differs from one by rounding in the file (at most 0.001) are divided by their sum; a larger difference is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from learnable.graphs.discrete import DiscreteNetwork

__all__ = ["read_bif", "write_bif"]

_TOKEN = re.compile(r'"[^"]*"|[{}()\[\];|]|[^\s{}()\[\];|,"]+')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ROUNDING = 1e-3


def read_bif(source):
    """Read a discrete network from a BIF file or from its text.

    Parameters
    ----------
    source : path or str
        A path, or the text itself (recognised by its braces).

    Returns
    -------
    DiscreteNetwork
        Nodes in the order of the file, with `names` and `states`.

    Notes
    -----
    A file that does not follow the format is a ValueError that names the node.

    Examples
    --------
    >>> text = '''network tiny { }
    ... variable Rain { type discrete [ 2 ] { no, yes }; }
    ... variable Wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( Rain ) { table 0.8, 0.2; }
    ... probability ( Wet | Rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }'''
    >>> network = read_bif(text)
    >>> network.query(["Rain"], {"Wet": "yes"}).values.round(3)
    array([0.333, 0.667])
    """
    text = source if isinstance(source, str) and "{" in source else Path(source).read_text(encoding="utf-8")
    stream = _Stream(_TOKEN.findall(_COMMENT.sub(" ", text)))
    states, blocks = {}, {}
    while stream:
        word = stream.next()
        if word == "network":
            stream.until("{")
            stream.skip_block()
        elif word == "variable":
            name = stream.next()
            if name in states:
                raise ValueError(f"source: variable {name} is declared twice")
            states[name] = _variable(stream, name)
        elif word == "probability":
            child, parents, body = _probability(stream)
            if child in blocks:
                raise ValueError(f"source: node {child} has two probability blocks")
            blocks[child] = parents, body
        else:
            raise ValueError(f"source: expected network, variable or probability, got {word!r}")
    if not states:
        raise ValueError("source declares no variable")
    return _build(states, blocks)


def write_bif(network, path=None):
    """Write a network in BIF; reading it again gives the same tables to the last bit.

    Parameters
    ----------
    network : DiscreteNetwork
        The network; nodes without a name are called x0, x1, ..., and states that are not words s0, s1, ...
    path : path, optional
        Where to write; by default nowhere.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from learnable.graphs import DiscreteNetwork
    >>> print(write_bif(DiscreteNetwork([[0]], [[0.25, 0.75]])))
    network unknown {
    }
    variable x0 {
      type discrete [ 2 ] { s0, s1 };
    }
    probability ( x0 ) {
      table 0.25, 0.75;
    }
    <BLANKLINE>
    """
    if not isinstance(network, DiscreteNetwork):
        raise TypeError(f"network must be a DiscreteNetwork, got {type(network).__name__}")
    names = [_quoted(v) for v in network.names or [f"x{i}" for i in range(network.n_nodes)]]
    states = [[_quoted(s) if isinstance(s, str) else f"s{s}" for s in words] for words in network.states]
    lines = ["network unknown {", "}"]
    for name, words in zip(names, states, strict=True):
        lines += [f"variable {name} {{", f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};", "}"]
    for i, table in enumerate(network.tables):
        parents = network.parents(i)
        given = f" | {', '.join(names[p] for p in parents)}" if parents else ""
        lines.append(f"probability ( {names[i]}{given} ) {{")
        for configuration in np.ndindex(table.shape[:-1]):
            row = ", ".join(repr(float(v)) for v in table[configuration])
            words = ", ".join(states[p][s] for p, s in zip(parents, configuration, strict=True))
            lines.append(f"  ({words}) {row};" if parents else f"  table {row};")
        lines.append("}")
    text = "\n".join(lines) + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


class _Stream:
    """Tokens in order, with the few moves that the format needs."""

    def __init__(self, tokens):
        self.tokens, self.place = tokens, 0

    def __bool__(self):
        return self.place < len(self.tokens)

    def next(self):
        if not self:
            raise ValueError("source ends in the middle of a block")
        token = self.tokens[self.place]
        self.place += 1
        return token[1:-1] if token.startswith('"') else token

    def until(self, end):
        """The words up to `end`, which is consumed."""
        words = []
        while (word := self.next()) != end:
            words.append(word)
        return words

    def skip_block(self):
        depth = 1
        while depth:
            word = self.next()
            depth += (word == "{") - (word == "}")


def _variable(stream, name):
    words = stream.until("{")
    if words:
        raise ValueError(f"source: variable {name} must be followed by a block, got {words[0]!r}")
    states = None
    while (word := stream.next()) != "}":
        if word == "type":
            kind = stream.until("{")
            if kind[:1] != ["discrete"]:
                raise ValueError(f"source: variable {name} must be of type discrete, got {' '.join(kind)}")
            states = stream.until("}")
            declared = kind[2] if len(kind) == 4 else None
            if declared is None or not declared.isdigit() or int(declared) != len(states):
                raise ValueError(f"source: variable {name} declares {declared} states and lists {len(states)}")
        stream.until(";")
    if not states:
        raise ValueError(f"source: variable {name} has no type")
    return states


def _probability(stream):
    if stream.next() != "(":
        raise ValueError("source: probability must be followed by (")
    child, *rest = stream.until(")")
    if rest and rest[0] != "|":
        raise ValueError(f"source: expected | after {child}, got {rest[0]!r}")
    if stream.next() != "{":
        raise ValueError(f"source: the probability of {child} has no block")
    body = []
    while (word := stream.next()) != "}":
        if word == "(":
            key = tuple(stream.until(")"))
            body.append((key, stream.until(";")))
        else:
            body.append((word, stream.until(";")))
    return child, rest[1:], [(key, values) for key, values in body if key != "property"]


def _build(states, blocks):
    names = list(states)
    unknown = {v for child, (parents, _) in blocks.items() for v in (child, *parents)} - set(names)
    if unknown or set(blocks) != set(names):
        which = sorted(unknown or set(names) - set(blocks))[0]
        raise ValueError(f"source: {which} needs one variable block and one probability block")
    index = {v: i for i, v in enumerate(names)}
    tables = []
    for name in names:
        parents, body = blocks[name]
        tables.append(_table(name, parents, body, states))
    parents = [[index[p] for p in blocks[v][0]] for v in names]
    return DiscreteNetwork.from_parents(parents, tables, [states[v] for v in names], names)


def _table(name, parents, body, states):
    shape = tuple(len(states[p]) for p in parents) + (len(states[name]),)
    table = np.full(shape, np.nan)
    for key, words in sorted(body, key=lambda entry: entry[0] != "default"):  # the default row first, then what differs
        try:
            values = np.array([float(word) for word in words])
            if key == "table":
                # In BIF the node comes first in the list of axes and its state changes slowest.
                table[...] = np.moveaxis(values.reshape(shape[-1:] + shape[:-1]), 0, -1)
            elif key == "default":
                table[...] = values.reshape(shape[-1])
            else:
                place = tuple(states[p].index(s) for p, s in zip(parents, key, strict=True))
                table[place] = values.reshape(shape[-1])
        except ValueError as error:
            raise ValueError(f"source: the table of {name} has a row that does not fit: {error}") from None
    if np.isnan(table).any():
        raise ValueError(f"source: the table of {name} has rows without numbers")
    total = table.sum(axis=-1, keepdims=True)
    if (table < 0).any() or np.abs(total - 1).max() > ROUNDING:
        raise ValueError(f"source: rows of the table of {name} must sum to one, within {ROUNDING}")
    return np.where(np.abs(total - 1) > 1e-12, table / total, table)


def _quoted(word):
    return word if _TOKEN.fullmatch(word) and word[0] not in '{}()[];|"' else f'"{word}"'
