"""The throw-away project: copies that stand on their own, beside the chapters that exist."""

import pytest

from tools.make.ninety import LABEL, make
from tools.project import chapters
from tools.run.dependencies import Dependencies


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    make(folder, count=len(chapters()) + 3)
    return folder


def copies(project):
    known = {chapter.slug for chapter in chapters()}
    return [chapter for chapter in chapters(project) if chapter.slug not in known]


def test_copies_have_all_rooms_and_come_into_the_contents(project):
    assert len(chapters(project)) == len(chapters()) + 3
    for chapter in copies(project):
        assert [room for room, path in chapter.rooms.items() if not path.exists()] == []
        assert f"lectures/{chapter.name}.ipynb" in (project / "README.md").read_text()


def test_a_copy_runs_its_own_code(project):
    for chapter in copies(project):
        used = {
            "/".join(path.relative_to(project / "lib/learnable").parts[:2])
            for path in Dependencies(project).modules(chapter.lecture)
        }
        assert {name for name in used if name.startswith("chapters/")} == {
            "chapters/__init__.py",
            f"chapters/{chapter.slug}",
        }
        assert f"learnable.chapters.{chapter.slug}" in chapter.tests.read_text()
        assert all(path.exists() for path in chapter.methods)


def test_labels_are_unique(project):
    seen = []
    for chapter in chapters(project):
        for cell in chapter.notebook["cells"]:
            seen += [(chapter.name, label) for label in set(LABEL.findall("".join(cell["source"])))]
    owners = {}
    for name, label in seen:
        assert owners.setdefault(label, name) == name, f"{label} stands in {name} and in {owners[label]}"


def test_copies_keep_what_they_need_in_order(project):
    before = set()
    for chapter in chapters(project):
        assert set(chapter.metadata["needs"]) <= before
        before.add(chapter.slug)


def test_a_folder_in_use_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(ValueError, match="is not empty"):
        make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
