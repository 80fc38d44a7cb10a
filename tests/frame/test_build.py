"""A build that has nothing to do does nothing; a build that is killed leaves nothing running."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tools.project import ROOT
from tools.run.build_book import is_built, not_pages, state


@pytest.fixture
def built(tmp_path):
    for name in ("lectures/a.ipynb", "lib/learnable/a.py", "_toc.yml", "_build/html/index.html", "tests/test_a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    stamp = tmp_path / "_build" / ".built"
    stamp.write_text(state(tmp_path, tmp_path / "_build/html"))
    return tmp_path, lambda: is_built(tmp_path, tmp_path / "_build/html", stamp)


@pytest.mark.parametrize("name", ["lectures/a.ipynb", "lib/learnable/a.py", "_toc.yml", "lectures/new.md"])
def test_a_changed_source_asks_for_a_build(built, name):
    root, nothing_to_do = built
    assert nothing_to_do()
    (root / name).write_text("other")
    assert not nothing_to_do()


def test_a_touched_file_and_a_test_do_not(built):
    root, nothing_to_do = built
    os.utime(root / "lectures/a.ipynb", (1, 1))
    (root / "tests/test_a.py").write_text("other")
    assert nothing_to_do()


def test_submissions_in_the_checkout_are_nobodys_source(built):
    """An instructor grades where the book lies: links into nowhere and names that are no text do not stop a build."""
    root, nothing_to_do = built
    folder = root / "submissions" / "ann"
    folder.mkdir(parents=True)
    (folder / "gone.ipynb").symlink_to(root / "nowhere")
    (folder / "loop").symlink_to(folder)
    (folder / "a.ipynb").write_text("{")
    with open(os.path.join(os.fsencode(folder), b"not \xff text.ipynb"), "wb"):
        pass
    assert nothing_to_do()
    (root / "lectures" / "gone.ipynb").symlink_to(root / "nowhere")
    assert not nothing_to_do() and len(state(root, root / "_build/html")) == 64
    (root / "_config.yml").write_text("exclude_patterns: [tests]")
    assert not_pages(root) == ["tests", "_build", "submissions", "tests"], "nor does Sphinx look at them"


def test_a_lost_page_asks_for_a_build(built):
    root, nothing_to_do = built
    (root / "_build/html/index.html").unlink()
    assert not nothing_to_do()


PROGRAM = """
import sys
import time
from tools.run.kernels import execute_all
if __name__ == "__main__":
    list(execute_all(sys.argv[1:], LEARNABLE_EXPLORE="text"))
"""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_killed_build_takes_its_kernels_along(tmp_path):
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    source = "import os, time\nopen('pids', 'w').write(f'{os.getpid()} {os.getppid()}')\nos.rename('pids', 'ready')\n"
    metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = new_notebook(cells=[new_code_cell(source + "while True: time.sleep(1)")], metadata=metadata)
    nbformat.write(notebook, tmp_path / "endless.ipynb")
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "program.py", "endless.ipynb"]
    build = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not (tmp_path / "ready").exists():
        assert build.poll() is None, build.stderr.read().decode()
        time.sleep(0.05)
    pids = [int(word) for word in (tmp_path / "ready").read_text().split()]
    assert all(alive(pid) for pid in pids)
    build.send_signal(signal.SIGKILL)
    build.wait()
    while any(alive(pid) for pid in pids):  # pytest's own limit ends a test that waits in vain
        time.sleep(0.05)
