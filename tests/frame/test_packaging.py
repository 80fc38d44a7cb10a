"""The wheel is light and complete; pins and ranges agree; a chapter made from the templates passes its own checks."""

import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
from packaging.requirements import Requirement

from tools.new_chapter import create
from tools.project import PACKAGE, ROOT


def pins():
    found = {}
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate():
            (specifier,) = requirement.specifier
            assert specifier.operator == "==", f"{line} is not an exact pin"
            found[requirement.name.lower().replace("_", "-")] = specifier.version
    return found


def test_pins_satisfy_the_ranges_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(r for group in project["optional-dependencies"].values() for r in group)]
    pinned = pins()
    for text in wanted:
        requirement = Requirement(text)
        name = requirement.name.lower().replace("_", "-")
        assert name in pinned, f"{name} is not pinned in requirements.txt"
        assert requirement.specifier.contains(pinned[name], prereleases=True), f"{text} against {pinned[name]}"


def test_installing_the_package_alone_is_light():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    light = {"numpy", "scipy", "scikit-learn", "numba", "joblib", "tqdm"}
    assert {Requirement(text).name for text in project["dependencies"]} == light
    heavy = r"matplotlib|ipywidgets|IPython|cvxpy|otter|nbformat|pandas"
    for path in PACKAGE.rglob("*.py"):
        inner = path.relative_to(PACKAGE).parts[0]
        if inner in ("book", "exercises"):
            continue
        top_level = re.findall(rf"^(?:import|from) ({heavy})\b", path.read_text(), re.M)
        assert not top_level, f"{path.relative_to(ROOT)} imports {top_level} when it is imported"


def test_wheel_holds_every_module_and_data_file(tmp_path):
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(PACKAGE.parent).as_posix()
            assert name in inside, f"{name} is missing from the wheel"


def test_template_chapter_has_rooms_that_work(tmp_path):
    create("foundations", "my_method", "My method", root=tmp_path)
    for path in tmp_path.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")
    with pytest.raises(ValueError, match="unknown part"):
        create("cooking", "soup", "", root=tmp_path)
    with pytest.raises(ValueError, match="slug"):
        create("foundations", "My Method", "", root=tmp_path)
    assert create("foundations", "my_method", "My method", root=tmp_path) == []
