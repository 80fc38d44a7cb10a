"""A benchmark without its peer still runs our side, and says what it left out; a stored one needs all peers."""

import json

import pytest

from benchmarks.harness import Benchmark, PeerAbsent, peer_package


def compare(tmp_path, *options):
    calls = []
    bench = Benchmark("some_slug", argv=["--output", str(tmp_path), *options])
    theirs = peer_package("no_such_package.solvers")
    bench.compare(
        "a sum",
        size=3,
        ours=lambda: calls.append("ours") or 6,
        peers={"here": lambda: 6, "elsewhere": lambda: theirs.fast.solve(3)},
        accuracy=lambda ours, peer: f"difference {ours - peer}",
    )
    bench.finish()
    return bench, calls


def test_smoke_runs_ours_and_names_the_missing_peer(tmp_path, capsys):
    bench, calls = compare(tmp_path, "--smoke")
    assert calls and [row["peer"] for row in bench.rows] == ["here"]
    assert "some_slug: NOT COMPARED with elsewhere: no_such_package is not installed" in capsys.readouterr().out


def test_results_are_not_stored_without_a_peer(tmp_path):
    with pytest.raises(PeerAbsent, match="no_such_package"):
        compare(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_installed_peer_is_itself():
    assert peer_package("json.decoder") is json.decoder


def test_memory_at_its_peak_stands_beside_the_size_of_the_data(tmp_path):
    """A call that copies 64 MB three times at once is seen to, and a view of 8 MB costs nothing."""
    import numpy as np

    x = np.ones(2**20)
    bench = Benchmark("some_slug", argv=["--output", str(tmp_path)])
    bench.compare(
        "copies",
        size=1,
        ours=lambda x=x: np.tile(x, 24).sum(),
        peers={"view": lambda x=x: x[::2].sum()},
        accuracy=lambda ours, peer: "nothing",
    )
    (row,) = bench.rows
    assert row["data_mb"] == 8
    if row["ours_peak_mb"] is not None:
        assert 185 < row["ours_peak_mb"] < 200
        assert row["peer_peak_mb"] < 4


def test_time_is_that_of_the_processor(tmp_path):
    """A peer that sleeps does not work: the ratio is far below one, whatever the clock on the wall says."""
    import time

    bench = Benchmark("some_slug", argv=["--output", str(tmp_path), "--smoke"])
    bench.compare(
        "work beside sleep",
        size=1,
        ours=lambda: sum(range(3_000_000)),
        peers={"sleeper": lambda: time.sleep(0.3)},
        accuracy=lambda ours, peer: "nothing",
    )
    assert bench.rows[0]["ratio"] < 0.5


def test_one_case_is_measured_again_and_the_others_stay(tmp_path):
    def run(value, *options):
        bench = Benchmark("some_slug", argv=["--output", str(tmp_path), *options])
        for case in ("a sum", "a product"):
            for size in (1, 2) if value == 1 or case == "a sum" else (1,):
                bench.compare(
                    case,
                    size=size,
                    ours=lambda: 0,
                    peers={"peer": lambda: 0},
                    accuracy=lambda *_: f"as {value}",
                )
        return json.loads(bench.finish().read_text())

    run(1)
    rows = run(2, "--case", "product")["rows"]
    told = [(row["case"], row["size"], row["accuracy"][-1]) for row in rows]
    assert told == [("a sum", 1, "1"), ("a sum", 2, "1"), ("a product", 1, "2")]
    stored = tmp_path / "some_slug.json"
    stored.write_text(stored.read_text().replace('"numpy": "', '"numpy": "0.'))
    with pytest.raises(ValueError, match="other versions"):
        run(3, "--case", "product")
