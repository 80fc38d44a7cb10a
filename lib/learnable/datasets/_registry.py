"""What data sets there are: the registry, read once, and the search in it."""

import difflib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["DATA", "STAND_INS", "available", "benchmark_sets", "describe", "entry", "resolve", "stored"]

DATA = Path(__file__).parent / "data"

# What scikit-learn ships is passed through.
PASSED_ON = {
    "breast_cancer": ("classification", [569, 30], [212, 357], "Breast cancer Wisconsin (diagnostic)", "bc-wisc-diag"),
    "diabetes": ("regression", [442, 10], None, "Diabetes progression", None),
    "digits": ("classification", [1797, 64], [178, 182, 177, 183, 181, 182, 181, 179, 174, 180], "Digits 8 x 8", None),
    "iris": ("classification", [150, 4], [50, 50, 50], "Iris", "iris"),
    "linnerud": ("regression", [20, 3], None, "Linnerud, three targets", None),
    "wine": ("classification", [178, 13], [59, 71, 48], "Wine", "wine"),
}

# Data that the source documents use and that no package ships: what comes nearest here.
STAND_INS = {
    "20newsgroups": 'load("newsgroups") has word counts of 4,171 of the posts',
    "amazon_reviews": "learnable.datasets.tasks.make_star_ratings",
    "avletters": "learnable.datasets.multilabel.make_tagged_digits",
    "chalearn": "learnable.datasets.motion.make_depth_gestures, learnable.datasets.motion.make_skeleton_gestures",
    "connectomes": "learnable.datasets.networks.make_connectomes",
    "corel": "learnable.datasets.bags.make_scene_bags, learnable.datasets.bags.make_digit_bags",
    "dorothea": "learnable.datasets.wide.make_sparse_binary",
    "flickr": "learnable.datasets.multilabel.make_tagged_digits",
    "hs3d": "learnable.datasets.sequences.make_dna_hmm",
    "leukemia": 'load("khan"), learnable.datasets.wide.make_microarray',
    "levin_deblurring": "learnable.datasets.images.make_blurred",
    "moby_dick": 'load("grimm_tales")',
    "movielens_100k": "load_movielens reads it from an installed recbole; learnable.datasets.matrices.make_ratings",
    "ncaa": "learnable.datasets.rankings.make_schedule",
    "nettalk": 'load("spelling_stress")',
    "neuromorpho": 'learnable.datasets.geometry.make_filaments("neuron")',
    "nyu_depth": "learnable.datasets.images.make_room",
    "opportunity": "learnable.datasets.motion.make_gesture_stream",
    "ratsch_splits": 'load("banana"), load("heart") ... with your own splits',
    "retina_spikes": "learnable.datasets.counts.make_spike_words",
    "riboflavin": "learnable.datasets.regression.make_gene_regression",
    "ringnorm": "learnable.datasets.classification.make_ringnorm",
    "scop": "learnable.datasets.strings.make_protein_families",
    "senate_votes": "learnable.datasets.networks.make_roll_calls",
    "sushi": "learnable.datasets.rankings.make_sushi_twin",
    "thrombin": "learnable.datasets.wide.make_sparse_binary",
    "timit": "learnable.datasets.classification.make_subspace_mixture",
    "twonorm": "learnable.datasets.classification.make_twonorm",
    "usps": "load_mnist(size=16)",
    "waveform": "learnable.datasets.classification.make_waveform",
    "webkb": 'load("newsgroups")',
    "yahoo_movies": "learnable.datasets.rankings.make_movie_scores",
}


@cache
def _sets():
    """The stored sets and those of scikit-learn: name -> entry."""
    sets = json.loads((DATA / "registry.json").read_text(encoding="utf-8"))["sets"]
    for name, (task, shape, counts, title, benchmark) in PASSED_ON.items():
        sets[name] = {
            "task": task,
            "title": title,
            "arrays": {"data": shape},
            "package": "scikit-learn",
            "licence": "see scikit-learn",
            "donor": "see its description in `DESCR`",
            "chapters": [],
            "n_missing": 0,
            **({"class_counts": counts} if counts else {}),
            **({"benchmark": benchmark} if benchmark else {}),
        }
    return dict(sorted(sets.items()))


@cache
def _names():
    """Every accepted spelling -> canonical name."""
    names = {name: name for name in _sets()}
    for name, about in _sets().items():
        names.update(dict.fromkeys(about.get("aliases", ()), name))
    return names


def resolve(name):
    """Return the canonical name of a data set, or raise a ``ValueError`` that helps."""
    if not isinstance(name, str):
        raise ValueError(f"name must be a string, got {type(name).__name__}")
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    known = _names()
    if plain in known:
        return known[plain]
    instead = STAND_INS.get(plain)
    if instead:
        raise ValueError(f"{name!r} is not among the stored data sets. Nearest: {instead}")
    near = difflib.get_close_matches(plain, [*known, *STAND_INS], n=3, cutoff=0.65)
    hint = f"did you mean {', '.join(map(repr, near))}? " if near else ""
    raise ValueError(f"unknown data set {name!r}; {hint}learnable.datasets.available() lists all {len(_sets())}")


def entry(name):
    """The registry's entry of a canonical name."""
    return _sets()[name]


def _size(about):
    """Number of samples and of inputs, as far as they make sense for the set."""
    shape = next(iter(about["arrays"].values()))
    if "bags" in about["arrays"]:
        return about["arrays"]["target"][0], about["arrays"]["data"][1]
    return (shape[1], None) if shape[0] == "text" else (shape[0], shape[1] if len(shape) > 1 else None)


def available(
    task=None, *, chapter=None, n_classes=None, max_samples=None, min_samples=None, missing=None, benchmark=None
):
    """Names of the data sets that fit all conditions, sorted.

    Parameters
    ----------
    task : str, optional
        "classification", "regression", "multilabel", "images", "picture", "series", "text", "graph", "bayesnet",
        "bags", "records", "causal" or "table".
    chapter : str, optional
        Slug of a chapter that the set was stored for.
    n_classes : int, optional
        Exact number of classes.
    max_samples, min_samples : int, optional
        Bounds on the number of rows (of bags, documents, nodes).
    missing : bool, optional
        Keep only sets with (True) or without (False) missing inputs.
    benchmark : bool, optional
        Keep only sets that are (True) or are not (False) among the 121 of Fernandez-Delgado et al. (2014).

    Returns
    -------
    list of str

    Examples
    --------
    >>> from learnable.datasets import available
    >>> available("multilabel")
    ['emotions', 'scene', 'yeast_multilabel']
    >>> len(available("classification", benchmark=True)) > 60
    True
    """
    tasks = sorted({about["task"] for about in _sets().values()})
    if task is not None and task not in tasks:
        raise ValueError(f"task must be one of {', '.join(tasks)}, got {task!r}")
    found = []
    for name, about in _sets().items():
        n = _size(about)[0]
        fits = (
            (task is None or about["task"] == task)
            and (chapter is None or chapter in about.get("chapters", ()))
            and (n_classes is None or len(about.get("class_counts", ())) == n_classes)
            and (max_samples is None or n <= max_samples)
            and (min_samples is None or n >= min_samples)
            and (missing is None or bool(about.get("n_missing", 0)) == missing)
            and (benchmark is None or ("benchmark" in about) == benchmark)
        )
        if fits:
            found.append(name)
    return found


def describe(name):
    """Provenance, licence, sizes and peculiarities of a data set, as text.

    Parameters
    ----------
    name : str
        As in ``load``.

    Examples
    --------
    >>> from learnable.datasets import describe
    >>> print(describe("sonar").splitlines()[0])
    Sonar, mines and rocks (sonar)
    """
    name = resolve(name)
    about = entry(name)
    lines = [f"{about['title']} ({name})", ""]
    shapes = ", ".join(f"{k} {tuple(v)}" for k, v in about["arrays"].items() if v[0] != "text")
    lines.append(f"Task: {about['task']}. Arrays: {shapes or 'texts'}.")
    if "class_counts" in about:
        labels = about.get("target_names", range(len(about["class_counts"])))
        counts = ", ".join(f"{k}: {c:,}" for k, c in zip(labels, about["class_counts"], strict=True))
        lines.append(f"Classes: {counts}.")
    if about.get("n_missing"):
        lines.append(f"Missing: {about['n_missing']:,} entries in {about['n_rows_missing']:,} rows.")
    if about.get("n_nominal"):
        lines.append(f"Nominal inputs: {about['n_nominal']}.")
    lines += [f"Donor: {about['donor']}.", f"Licence: {about['licence']}.", f"Taken from: {about['package']}."]
    if "benchmark" in about:
        lines.append(f"In the 121 sets of Fernandez-Delgado et al. (2014) as {about['benchmark']}.")
    if "differs" in about:
        lines.append(f"Note: {about['differs']}")
    return "\n".join(lines)


def benchmark_sets():
    """The 121 data sets of Fernandez-Delgado et al. (2014), with what stands for them here.

    Returns
    -------
    list of dict
        In alphabetical order, with keys ``name``, ``n_samples``, ``n_features``, ``n_classes``, ``majority`` (percent
        of the largest class), all as printed there, and, where there is one, ``load`` (a name for :func:`load`) or
        ``simulate`` (a function below ``learnable.datasets``).

    Examples
    --------
    >>> from learnable.datasets import benchmark_sets
    >>> len(benchmark_sets()), benchmark_sets()[0]["name"]
    (121, 'abalone')
    """
    return json.loads((DATA / "benchmark_121.json").read_text(encoding="utf-8"))


def stored(name):
    """Path of a stored set: here, or among the larger ones, which wheels carry in a package of their own."""
    beside = find_spec("learnable_data")
    for folder in (DATA, *map(Path, beside.submodule_search_locations if beside else ())):
        if (folder / f"{name}.npz.xz").exists():
            return folder / f"{name}.npz.xz"
    raise FileNotFoundError(
        f"the data set {name!r} is one of the larger ones, which come in a second wheel: "
        "install learnable_book_data, from where this package came"
    )
