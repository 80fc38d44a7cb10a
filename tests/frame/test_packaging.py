"""The wheel is light and complete; pins and ranges agree; a chapter made from the templates passes its own checks."""

import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from learnable import __version__ as version
from learnable.exercises.wheels import build_wheels, large_sets
from tools.make.new_chapter import create
from tools.project import PACKAGE, ROOT


def pins(name="requirements.txt"):
    """Versions in a file of pins; every pin has its hashes."""
    found = {}
    for entry in (ROOT / name).read_text().replace("\\\n", " ").splitlines():
        line, *hashes = entry.split("--hash=")
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", value.strip()) for value in hashes), entry
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate():
            (specifier,) = requirement.specifier
            assert specifier.operator == "==", f"{line} is not an exact pin"
            found[requirement.name.lower().replace("_", "-")] = specifier.version
    return found


def test_pins_satisfy_the_ranges_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    files = {
        "requirements.txt": ("book", "exercises", "cluster", "dev"),
        "requirements-bench.txt": ("bench", "exercises"),
    }
    assert {extra for names in files.values() for extra in names} == set(extras), "an extra is pinned nowhere"
    for file, names in files.items():
        pinned = pins(file)
        for text in [*project["dependencies"], *(text for extra in names for text in extras[extra])]:
            requirement = Requirement(text)
            name = requirement.name.lower().replace("_", "-")
            assert name in pinned, f"{name} is not pinned in {file}"
            assert requirement.specifier.contains(pinned[name], prereleases=True), f"{text} against {pinned[name]}"


def test_both_environments_have_the_same_versions():
    main, bench = pins(), pins("requirements-bench.txt")
    assert {name: bench[name] for name in main.keys() & bench.keys()} == {
        name: main[name] for name in main.keys() & bench.keys()
    }


def test_no_workflow_may_write_by_default():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}, path.name


def test_installing_the_package_alone_is_light():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    light = {"numpy", "scipy", "scikit-learn", "numba", "joblib", "tqdm", "lazy_loader"}
    assert {Requirement(text).name for text in project["dependencies"]} == light
    heavy = r"matplotlib|ipywidgets|IPython|cvxpy|otter|nbformat|pandas"
    for path in PACKAGE.rglob("*.py"):
        inner = path.relative_to(PACKAGE).parts[0]
        if inner in ("book", "exercises"):
            continue
        top_level = re.findall(rf"^(?:import|from) ({heavy})\b", path.read_text(), re.M)
        assert not top_level, f"{path.relative_to(ROOT)} imports {top_level} when it is imported"


PACKAGE_ALONE = """
import importlib.abc, sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from packaging.requirements import Requirement

def plain(name):
    return name.lower().replace("_", "-")

installed, waiting = set(), sys.argv[1].split()
while waiting:
    name = plain(waiting.pop())
    if name not in installed:
        installed.add(name)
        try:
            waiting += [r.name for r in map(Requirement, requires(name) or []) if not r.marker or r.marker.evaluate()]
        except PackageNotFoundError:
            pass
absent = {top for top, owners in packages_distributions().items() if not installed & set(map(plain, owners))}
absent -= {"learnable"}

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in [name for name in sys.modules if name.partition(".")[0] in absent]:
    del sys.modules[name]
sys.meta_path.insert(0, Absent())
"""


def test_the_package_alone_reproduces_a_study(tmp_path):
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = " ".join(Requirement(text).name for text in dependencies)
    (tmp_path / "own_studies.py").write_text(
        "from learnable.book.study import study\n\nSIZE = {'repetitions': 2, 'n': [3]}\n\n\n"
        "@study(source='nowhere', paper=SIZE, lecture=SIZE)\ndef mean(random_state, *, n):\n"
        "    return {'mean': random_state.normal(size=n).mean()}\n"
    )
    code = PACKAGE_ALONE + (
        "import learnable.cli, own_studies\nfrom learnable.book.study import reproduce\n"
        "print(reproduce([own_studies.mean])[0].rows[0].count['mean'])\n"
    )
    path = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": path}
    command = [sys.executable, "-c", code, names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr
    assert list((tmp_path / "cache/learnable/studies").rglob("*.jsonl")), "finished cells stand in the user's cache"


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


def test_the_wheels_of_the_site_hold_the_package_and_its_data_between_them(tmp_path):
    wheels = [tmp_path / name for name in build_wheels(tmp_path)]
    code, data = ({n for n in zipfile.ZipFile(w).namelist() if "dist-info" not in n} for w in wheels)
    there = {p.relative_to(PACKAGE.parent).as_posix() for p in PACKAGE.rglob("*") if p.is_file()}
    there = {name for name in there if "__pycache__" not in name}
    large = {f"learnable/datasets/data/{name}.npz.xz" for name in large_sets()}
    assert code == there - large
    assert {Path(name).name for name in data} == {Path(name).name for name in large} | {"__init__.py", "LICENCES.md"}
    assert wheels[0].stat().st_size < 4_000_000 < wheels[1].stat().st_size

    metadata = email.message_from_bytes(
        zipfile.ZipFile(wheels[0]).read("learnable_book-" + version + ".dist-info/METADATA")
    )
    assert metadata["Name"] == "learnable-book" and "Learnable" in metadata["Author"]
    links = re.findall(r"\]\((?!https?:)[^)]*\)", metadata.get_payload())
    assert not links, f"links that lead nowhere outside the repository: {links}"


def test_a_larger_set_is_read_from_the_second_wheel_and_missed_by_name(tmp_path):
    code, data = build_wheels(tmp_path)
    for name in (code, data):
        zipfile.ZipFile(tmp_path / name).extractall(tmp_path / name.partition("-")[0])
    ask = "from learnable.datasets import load; print(load('sonar').data.shape, load('adult').data.shape)"

    def run(*folders):
        path = os.pathsep.join(str(tmp_path / name) for name in folders)
        command = [sys.executable, "-c", ask]
        return subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    both, alone = run("learnable_book", "learnable_book_data"), run("learnable_book")
    assert both.stdout.split("\n")[0] == "(208, 60) (32561, 14)", both.stderr
    assert alone.returncode and "'adult' is one of the larger ones" in alone.stderr


def test_template_chapter_has_rooms_that_work(tmp_path):
    create("foundations", "my_chapter", "My chapter", "my_method", root=tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*my_*.py")} == {
        "lib/learnable/foundations/my_method.py",
        "tests/foundations/test_my_method.py",
        "tests/chapters/test_my_chapter.py",
        "benchmarks/foundations/bench_my_chapter.py",
    }
    chapter = tmp_path / "lib" / "learnable" / "chapters" / "my_chapter"
    assert {path.name for path in chapter.iterdir()} == {"__init__.py", "experiments.py"}
    for path in tmp_path.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")
    with pytest.raises(ValueError, match="unknown part"):
        create("cooking", "soup", "", root=tmp_path)
    with pytest.raises(ValueError, match="slug"):
        create("foundations", "My Method", "", root=tmp_path)
    assert create("foundations", "my_chapter", "My chapter", "my_method", root=tmp_path) == []


def ci(tmp_path, *present):
    """Run a copy of .ci/run with nothing on the path but these commands, and stand-ins that write down their calls."""
    said, commands = tmp_path / "said", tmp_path / "bin"
    (tmp_path / ".ci").mkdir()
    commands.mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    for name in ("bash", "dirname", "id"):
        (commands / name).symlink_to(shutil.which(name))
    for name in ("apt-get", "make", "sudo", *present):
        # With root's rights or without: what sudo would run is written down as well.
        script = f'#!{shutil.which("bash")}\n[ "{name}" = sudo ] && exec "$@"\necho "{name} $*" >> {said}\n'
        (commands / name).write_text(script)
        (commands / name).chmod(0o755)
    run = [shutil.which("bash"), str(tmp_path / ".ci" / "run")]
    subprocess.run(run, env={"PATH": str(commands)}, check=True)
    return said.read_text().splitlines()


def test_ci_installs_what_is_missing_and_runs_the_tests(tmp_path):
    calls = ci(tmp_path)
    assert calls[-3:] == [
        "apt-get install -y -qq chromium bubblewrap",
        "apt-get install -y -qq chromium-headless-shell",
        "make test",
    ]


def test_ci_installs_nothing_that_is_there(tmp_path):
    assert ci(tmp_path, "google-chrome", "chromium-headless-shell", "bwrap") == ["make test"]
