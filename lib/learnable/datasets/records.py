"""Bibliographic records of simulated authors: several identifiers a person, names abbreviated, mangled and misspelt."""

from functools import cache

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._registry import DATA
from learnable.datasets._simulate import check_size
from learnable.validation import check_rng, check_scalar

__all__ = ["make_author_records"]


@cache
def _words():
    """The lists of person_names.txt."""
    lines = (DATA / "person_names.txt").read_text(encoding="utf-8").splitlines()
    lists = dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    found = {name: text.split("|" if name == "units" else None) for name, text in lists.items()}
    found["nicknames"] = dict(pair.split("=") for pair in found["nicknames"])
    return found


_RATES = {
    "abbreviate": 0.35,
    "drop_middle": 0.3,
    "reorder": 0.1,
    "join": 0.1,
    "accents": 0.5,
    "nickname": 0.05,
    "typo": 0.01,
    "garbage": 0.01,
    "wrong_paper": 0.02,
    "no_affiliation": 0.4,
}


def make_author_records(n_persons=1000, *, chinese=0.4, papers=6.0, rates=None, random_state=None):
    """Authors, papers and the rows that tie them, with the true person behind each identifier (KDD Cup 2013, Track 2).

    A person is western (first name, middle name with probability 1/2, last name) or Chinese (surname, two syllables,
    Zipf-weighted: namesakes on purpose), has one or two affiliations and eight field words, and gets one identifier
    (84 percent), two (13) or three and more (3). Papers have 1 to 5 authors from one circle. Every identifier has its
    own spelling of the name, and each of its rows may change it further.

    Parameters
    ----------
    n_persons : int, default=1000
    chinese : float, default=0.4
        Share of Chinese names.
    papers : float, default=6
        Mean number of papers of a person.
    rates : dict, optional
        Probabilities of the corruptions: "abbreviate" first and middle names (0.35), "drop_middle" (0.3, western),
        "reorder" (0.1), "join" syllables (0.1, Chinese), "accents" lost (0.5), "nickname" (0.05), "typo" (0.01),
        "garbage" suffix left by a parser (0.01), "wrong_paper" (0.02), "no_affiliation" (0.4).
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``authors``: list of dicts (id, name, affiliation); ``paper_authors``: list of dicts (paper, author, name,
        affiliation); ``papers``: list of dicts (id, title, keywords); ``target``: the person behind author id 0, 1,
        ...; ``persons``: list of dicts (name parts and culture).

    Examples
    --------
    >>> made = make_author_records(50, random_state=0)
    >>> len(made.authors) == len(made.target), len(made.authors) > 50
    (True, True)
    """
    n, rng = check_size(n_persons, "n_persons"), check_rng(random_state)
    chinese = check_scalar(chinese, "chinese", low=0, high=1)
    papers = check_scalar(papers, "papers", low=0)
    unknown = set(rates or ()) - set(_RATES)
    if unknown:
        raise ValueError(f"rates has unknown keys {sorted(unknown)}; known: {', '.join(_RATES)}")
    rates = {k: check_scalar(v, f"rates[{k!r}]", low=0, high=1) for k, v in {**_RATES, **(rates or {})}.items()}
    persons = [_person(rng.random() < chinese, rng) for _ in range(n)]
    sizes = rng.choice([1, 2, 3, 4], p=[0.84, 0.13, 0.02, 0.01], size=n)
    target = np.repeat(np.arange(n), sizes)[rng.permutation(sizes.sum())]
    identifiers = [[] for _ in range(n)]
    authors = []
    for number, owner in enumerate(target):
        identifiers[owner].append(number)
        person = persons[owner]
        name = _corrupt(person, rates, rng)
        place = "" if rng.random() < rates["no_affiliation"] else _pick(person["affiliations"], rng)
        authors.append({"id": number, "name": name, "affiliation": place})
    circle = rng.integers(max(1, n // 8), size=n)
    members = [np.flatnonzero(circle == c) for c in range(circle.max() + 1)]
    written, titles, current = [], [], 0
    for lead in np.repeat(np.arange(n), rng.poisson(papers / 2, size=n)):
        team = rng.permutation(members[circle[lead]])[: rng.integers(0, 5)]
        team = [int(lead), *(int(p) for p in team if p != lead)]
        topic = [persons[lead]["fields"][i] for i in rng.permutation(8)[:5]]
        titles.append({"id": current, "title": " ".join(topic), "keywords": "|".join(sorted(topic[:3]))})
        for member in team:
            author = _pick(identifiers[member], rng)
            if rng.random() < rates["wrong_paper"]:
                author = int(rng.integers(len(target)))
            person = persons[target[author]]
            spelt = authors[author]["name"] if rng.random() < 0.7 else _corrupt(person, rates, rng)
            place = "" if rng.random() < rates["no_affiliation"] else _pick(person["affiliations"], rng)
            written.append({"paper": current, "author": author, "name": spelt, "affiliation": place})
        current += 1
    return Bunch(authors=authors, paper_authors=written, papers=titles, target=target, persons=persons)


def _pick(words, rng):
    return words[int(rng.integers(len(words)))]


def _zipf(words, rng):
    return words[min(int(len(words) ** rng.random()) - 1, len(words) - 1)]


def _person(is_chinese, rng):
    words = _words()
    if is_chinese:
        name = {
            "first": _zipf(words["pinyin"], rng).capitalize(),
            "middle": _zipf(words["pinyin"], rng),
            "last": _zipf(words["surnames"], rng).capitalize(),
        }
    else:
        middle = _pick(words["first"], rng) if rng.random() < 0.5 else ""
        name = {"first": _pick(words["first"], rng), "middle": middle, "last": _pick(words["last"], rng)}
    places = [f"{_pick(words['units'], rng)}, {_pick(words['places'], rng)}" for _ in range(int(rng.integers(1, 3)))]
    fields = [words["fields"][i] for i in rng.permutation(len(words["fields"]))[:8]]
    return {**name, "chinese": bool(is_chinese), "affiliations": places, "fields": fields}


_ACCENTS = str.maketrans("üéçøöäèñóáííśłřÁÉÖÜØŁŚŘëò", "uecooaenoaiislrAEOUOLSReo")


def _corrupt(person, rates, rng):
    """One spelling of a person's name."""

    def happens(what):
        return rng.random() < rates[what]

    first, middle, last = person["first"], person["middle"], person["last"]
    if person["chinese"]:
        spelt = [f"{first}-{middle}", f"{first} {middle.capitalize()}", first + middle]
        parts = [spelt[2] if happens("join") else _pick(spelt, rng)]
        if happens("abbreviate"):
            a, b = first[0], middle[0].upper()
            parts = [_pick([f"{a}. {b}.", f"{a}.", f"{a} {b}"], rng)]
    else:
        if happens("nickname"):
            first = _words()["nicknames"].get(first, first)
        parts = [first] + ([middle] if middle and not happens("drop_middle") else [])
        if happens("abbreviate"):
            dot = "." if rng.random() < 0.7 else ""
            parts = [p[0] + dot if i or rng.random() < 0.7 else p for i, p in enumerate(parts)]
    words = [last, *parts] if happens("reorder") else [*parts, last]
    name = " ".join(words)
    if happens("accents"):
        name = name.translate(_ACCENTS)
    if happens("typo"):
        name = _misspell(name, rng)
    if happens("garbage"):
        name += _pick([" and", " AN", " et al", " Dr"], rng)
    return name


def _misspell(name, rng):
    """One substitution, insertion or deletion of a letter."""
    letters = [i for i, c in enumerate(name) if c.isalpha()]
    place = _pick(letters, rng)
    letter = chr(ord("a") + int(rng.integers(26)))
    kind = int(rng.integers(3))
    return name[:place] + (letter if kind < 2 else "") + name[place + (kind != 1) :]
