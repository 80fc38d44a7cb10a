"""How the tests of the exercises are shared out among workers."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """The masters go chapter by chapter, so that ninety keep all workers busy; every other file stays together."""
    for item in items:
        if HERE in item.path.parents:
            chapter = item.callspec.params.get("chapter") if hasattr(item, "callspec") else None
            apart = chapter if item.path.stem == "test_masters" and chapter else "all"
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem}-{apart}"))


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    """No test writes into the record of whoever runs it."""
    monkeypatch.setenv("LEARNABLE_HOME", str(tmp_path / "home of the learner"))
