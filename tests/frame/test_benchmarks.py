"""A benchmark without its peer still runs our side, and says what it left out; a stored one needs all peers."""

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
    import json.decoder

    assert peer_package("json.decoder") is json.decoder
