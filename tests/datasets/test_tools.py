"""The converter's readers on small files, and the generated page."""

import re

import numpy as np
import pytest

from learnable.datasets import _registry, available
from tools.make import build_datasets
from tools.make.build_datasets import Table
from tools.site import dataset_page


def test_keel_file(tmp_path):
    (tmp_path / "x.dat").write_text(
        "@relation x\n@attribute Colour {red, green}\n@attribute Size real[0.0,2.5]\n@attribute Class {b,a}\n@data\n"
        "red, 0.5, a\ngreen, 2.5, b\nred, <null>, a\n"
    )
    arrays, meta = build_datasets.keel(tmp_path / "x.dat", {})
    np.testing.assert_array_equal(arrays["data"], [[0, 0.5], [1, 2.5], [0, np.nan]])
    assert arrays["target"].tolist() == [1, 0, 1] and meta["target_names"] == ["b", "a"]
    assert meta["feature_kinds"] == ["nominal", "numeric"] and meta["categories"] == {"Colour": ["red", "green"]}


def test_orange_file(tmp_path):
    (tmp_path / "x.tab").write_text(
        "name\tkind\tsize\ty\nstring\ta b\\ c\tc\td\nmeta\t\t\tclass\nn1\tb c\t3\tyes\nn2\ta\t?\tno\n"
    )
    arrays, meta = build_datasets.orange(tmp_path / "x.tab", {"skip": ["name"]})
    assert meta["categories"]["kind"] == ["a", "b c"] and arrays["data"][0].tolist() == [1, 3]
    assert np.isnan(arrays["data"][1, 1]) and meta["target_names"] == ["no", "yes"]


def test_table_refuses_what_it_cannot_represent():
    with pytest.raises(SystemExit, match="cells"):
        Table(["a", "y"], [["1", "2"], ["1"]], {}, target="y")
    with pytest.raises(SystemExit, match="missing"):
        Table(["a", "y"], [["1", "?"]], {}, target="y").finish()
    with pytest.raises(SystemExit, match="names"):
        Table(["a", "y"], [["1", "u"], ["1", "v"]], {"class_names": ["only one"]}, target="y").finish()


def test_lost_decimal_points_are_recognised():
    for text, digits in (("22.08", "2208"), ("24.50", "245"), ("0.165", "165"), ("2208.0", "2208"), ("0", "0")):
        assert build_datasets._digits(text) == digits


def test_network_file(tmp_path):
    import gzip

    text = (
        "variable A {\n  type discrete [ 2 ] { yes, no };\n}\nvariable B {\n  type discrete [ 2 ] { hi, lo };\n}\n"
        "probability ( A ) {\n  table 0.2, 0.8;\n}\nprobability ( B | A ) {\n  (yes) 0.9, 0.1;\n  (no) 0.3, 0.7;\n}\n"
    )
    path = tmp_path / "x.bif.gz"
    path.write_bytes(gzip.compress(text.encode()))
    arrays, meta = build_datasets.bif(path, {})
    assert arrays["probabilities"][:, 0].tolist() == [0.2, 0.8, 0.9, 0.1, 0.3, 0.7]
    assert arrays["n_parents"].tolist() == [0, 1] and meta["states"] == [["yes", "no"], ["hi", "lo"]]


def test_every_reader_in_use_exists():
    import yaml

    provenance = yaml.safe_load((_registry.DATA / "provenance.yaml").read_text(encoding="utf-8"))
    assert {about["read"][0] for about in provenance.values()} == set(build_datasets.READERS)
    packages = {about["read"][1] for about in provenance.values()} - {""}
    assert packages == set(build_datasets.FOLDERS) | {"Orange"}


def test_page_names_every_set_and_simulator(tmp_path):
    path = tmp_path / "datasets.md"
    assert dataset_page.write(path) and not dataset_page.write(path)
    page = path.read_text(encoding="utf-8")
    for name in available():
        place = f'<span id="data-{name.replace("_", "-")}"></span>'  # chapters link here
        assert f"| {place}`{name}` |" in page and f"\n`{name}`\n: " in page, name
    assert "`make_twonorm`" in page and "`make_room`" in page and "83 can be loaded or simulated" in page
    assert not re.search(r"\bNone\b", page) and "\t" not in page
    for name in _registry.STAND_INS:
        assert f"| `{name}` | " in page
    assert set(dataset_page.TASKS) == {_registry.entry(n)["task"] for n in available()}


def test_page_escapes_markdown():
    assert dataset_page._prose("a_b *c* `d_e` $x$ <y>") == r"a\_b \*c\* `d_e` \$x\$ \<y\>"
