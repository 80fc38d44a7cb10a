"""Submissions that break, hang or cheat, for the chapter on Bayesian decision theory.

Each is the cells of a notebook in which questions 1 and 2 are answered and the others deleted, plus something nasty;
``scores`` says what it must get for q1 and q2, and ``says`` what the report must mention.
"""

from dataclasses import dataclass, field

from support import BAYES, ROOT, assignment


@dataclass
class Hostile:
    """A nasty submission and what must come of it."""

    name: str
    cells: list
    scores: tuple
    says: str = ""
    status: tuple = ("ok", "remarks", "trouble")
    limits: dict = field(default_factory=dict)


def answers(*questions):
    """Return the set-up cell and the answer cells of some questions."""
    cells = assignment(BAYES).cells_of_solution()
    kept = [cells[0]]
    for question in questions:
        at = next(i for i, cell in enumerate(cells) if cell.startswith(f'grader.check("{question}")'))
        kept += cells[at - 1 : at + 1]
    return kept


SETUP, Q1, CHECK1, Q2, CHECK2 = answers("q1", "q2")
GOOD = [SETUP, Q1, CHECK1, Q2, CHECK2]
UNTOUCHED = [c.source for c in assignment(BAYES).student.cells if c.cell_type == "code"]
MASTER = ROOT / "exercises" / "solutions" / f"{BAYES}.ipynb"

# A way to full marks, if only the solution could be read or the grader persuaded.
STEAL = f"""
import glob, json, os
root = {str(ROOT)!r}
places = [{str(MASTER)!r}, "/proc/1/root" + {str(MASTER)!r}, "/proc/1/cwd/exercises", *glob.glob(root + "/*.key.json")]
places += [os.path.join(folder, name) for folder, _, names in os.walk(root + "/exercises") for name in names]
places += glob.glob(root + "/../**/solutions/*/*.ipynb")
found = []
for place in places:
    try:
        found.append(open(place).read())
    except OSError:
        pass
print("found", len(found))
for text in found:
    for cell in json.loads(text).get("cells", []):
        if "BEGIN SOLUTION" in "".join(cell["source"]):
            exec("".join(cell["source"]), globals())
"""

FORGE = """
import json, os, struct
def cost_bayes(post1, a, b):
    reply = json.dumps(["value", ["t", ["l", 0, 0, 1, 1], ["l", 0.0, 0.25, 0.25, 0.0]]]).encode()
    passed = json.dumps(["done", {"score": 5, "passed": True}]).encode()
    for fd in range(3, 32):
        for text in (passed, reply, b"\\x00" * 40):
            try:
                os.write(fd, struct.pack("<IQ", len(text) + 3, 0) + b"[]\\n" + text)
            except OSError:
                pass
"""

PATCH = """
import sys, builtins
import numpy as np
class Always:
    def __eq__(self, other): return True
    def __le__(self, other): return True
    def __array__(self, *a, **k): return np.zeros(4)
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __len__(self): return 2
    def __iter__(self): return iter((self, self))
always = Always()
np.allclose = np.array_equal = np.isclose = np.abs = np.asarray = lambda *a, **k: always
builtins.isinstance = lambda *a: True
builtins.AssertionError = Exception
def cost_bayes(post1, a, b):
    return always
"""

OVERWRITE = """
import learnable.exercises, learnable.exercises.checking, learnable.exercises.wire
class Grader:
    def check(self, question): return "passed"
grader = Grader()
def anything(*args, **kwargs): return None
learnable.exercises.checking.ask = learnable.exercises.ask = anything
learnable.exercises.checking.Answer.equals = anything
learnable.exercises.checking.WrongAnswer.__init__ = anything
try:
    import otter.test_files
    otter.test_files.TestFile.score = otter.test_files.TestFile.passed_all = 1e9
except Exception:
    pass
learnable.exercises.wire.decode = anything
score = points = 44
"""

NETWORK = """
import socket, urllib.request
reached = []
for target in (("127.0.0.1", 22), ("1.1.1.1", 53), ("10.0.0.1", 80)):
    try:
        socket.create_connection(target, timeout=0.3)
        reached.append(target)
    except OSError:
        pass
try:
    urllib.request.urlopen("http://example.org", timeout=0.3)
    reached.append("example.org")
except OSError:
    pass
if reached:
    def cost_bayes(*args):
        raise RuntimeError(f"the network is open: {reached}")
"""

SURVIVOR = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(0.05)
        os._exit(0)
"""

FORK_BOMB = """
import os
def cost_bayes(post1, a, b):
    while True:
        try:
            os.fork()
        except OSError:
            pass
"""

KILLER = """
import os, signal
for pid in [os.getppid(), -1, *range(2, 400)]:
    if pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
"""

FILL_DISK = """
import os
try:
    with open("large", "wb") as file:
        for _ in range(300):
            file.write(b"x" * 2**20)
except OSError as error:
    print("stopped:", error)
for number in range(300):
    try:
        with open(f"part{number}", "wb") as file:
            file.write(b"x" * 2**20)
    except OSError:
        break
"""

PEEK = """
import ctypes, os
def cost_bayes(post1, a, b):
    found = []
    for pid in (os.getppid(), 1):
        for name in ("mem", "environ", "maps", "cwd/x", "root/etc/hostname"):
            try:
                found.append(open(f"/proc/{pid}/{name}", "rb").read(10))
            except OSError:
                pass
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, os.getppid(), 0, 0) == 0:
        found.append("attached")
    return [len(found)] * 2
"""

STUBBORN = """
import signal, threading
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
def cost_bayes(post1, a, b):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
"""

HOSTILE = [
    Hostile(
        "endless loop in a function",
        [*GOOD, "def cost_bayes(post1, a, b):\n    while True:\n        pass"],
        (5, 0),
        "did not finish within",
    ),
    Hostile(
        "endless loop in a cell", [SETUP, Q1, "while True:\n    pass", Q2], (5, 5), "code cell 3 did not finish within"
    ),
    Hostile(
        "ten gigabytes in a function",
        [*GOOD, "def cost_bayes(post1, a, b):\n    return np.ones(10 * 2**30 // 8)"],
        (5, 0),
        "",
    ),
    Hostile(
        "ten gigabytes in a cell",
        [SETUP, Q1, "huge = [bytearray(2**30) for _ in range(10)]", Q2],
        (5, 5),
        "MemoryError",
    ),
    Hostile(
        "os._exit in a cell", [SETUP, Q1, "import os\nos._exit(0)", Q2], (5, 5), "code cell 3 ended its own process"
    ),
    Hostile(
        "os._exit in a function",
        [*GOOD, "import os\ndef cost_bayes(post1, a, b):\n    os._exit(0)"],
        (5, 0),
        "ended its own process",
    ),
    Hostile("sys.exit in a cell", [SETUP, Q1, "import sys\nsys.exit(0)", Q2], (5, 5), "called sys.exit"),
    Hostile("sys.exit in a function", [*GOOD, "import sys\ndef cost_bayes(post1, a, b):\n    sys.exit(0)"], (5, 0), ""),
    Hostile("deleted cells", [SETUP, Q2], (0, 5), ""),
    Hostile("renamed function", [SETUP, Q1, Q2.replace("cost_bayes", "cost_baies")], (5, 0), ""),
    Hostile("syntax error", [SETUP, Q1, Q2 + "\nfor x in range(3) print(x)"], (5, 0), "SyntaxError"),
    Hostile(
        "a hundred megabytes of output",
        [SETUP, Q1, "for _ in range(100):\n    print('x' * 2**20)", Q2],
        (5, 5),
        "printed 100 MB",
    ),
    Hostile(
        "output from the function",
        [*GOOD, "_right = cost_bayes\ndef cost_bayes(*args):\n    print('y' * 2**22)\n    return _right(*args)"],
        (5, 5),
        "printed",
    ),
    Hostile("the check function overwritten", [*UNTOUCHED, OVERWRITE], (0, 0), ""),
    Hostile("numpy and builtins patched", [*UNTOUCHED, PATCH], (0, 0), ""),
    Hostile("replies forged on every descriptor", [*UNTOUCHED, FORGE], (0, 0), ""),
    Hostile("reads the solutions", [*UNTOUCHED, STEAL], (0, 0), "tried to open"),
    Hostile(
        "imports the implementation",
        [SETUP, Q1, "from learnable.foundations.bayes_decision_theory import *"],
        (5, 0),
        "tried to import learnable.foundations.bayes_decision_theory",
    ),
    Hostile("network access", [*GOOD, NETWORK], (5, 5), "tried to reach the network"),
    Hostile("processes that outlive the notebook", [*GOOD, SURVIVOR], (5, 5), ""),
    Hostile("fork bomb", [*GOOD, FORK_BOMB], (5, 0), "did not finish within"),
    Hostile("kills every process it can", [SETUP, Q1, Q2, KILLER], (5, 5), ""),
    Hostile("fills the disk", [*GOOD, FILL_DISK], (5, 5), ""),
    Hostile("looks into other processes", [*GOOD, PEEK], (5, 0), ""),
    Hostile("ignores every signal", [*GOOD, STUBBORN], (5, 0), "did not finish within"),
    Hostile(
        "sleeps for ever",
        [*GOOD, "import time\ndef cost_bayes(post1, a, b):\n    time.sleep(10**6)"],
        (5, 0),
        "did not finish within",
    ),
    Hostile(
        "segmentation fault",
        [*GOOD, "import ctypes\ndef cost_bayes(post1, a, b):\n    ctypes.string_at(0)"],
        (5, 0),
        "segmentation fault",
    ),
    Hostile(
        "an answer of a hundred megabytes",
        [*GOOD, "def cost_bayes(post1, a, b):\n    return np.zeros(13 * 10**6), 0"],
        (5, 0),
        "",
    ),
    Hostile(
        "an answer that contains itself",
        [*GOOD, "def cost_bayes(post1, a, b):\n    x = []\n    x.append(x)\n    return x, x"],
        (5, 0),
        "",
    ),
    Hostile(
        "recursion without end", [*GOOD, "def cost_bayes(post1, a, b):\n    return cost_bayes(post1, a, b)"], (5, 0), ""
    ),
    Hostile(
        "closes every file", [*GOOD, "import os\ndef cost_bayes(post1, a, b):\n    os.closerange(0, 256)"], (5, 0), ""
    ),
    Hostile("waits for input", [SETUP, Q1, "name = input('your name? ')", Q2], (5, 5), ""),
]


FILES = {
    "not_a_notebook.ipynb": (b"%PDF-1.7 my answers", "it is a PDF"),
    "plain_text.ipynb": (b"print('hello')", "not JSON"),
    "wrong_json.ipynb": (b'{"cells": 3}', "not a notebook"),
    "list.ipynb": (b"[1, 2, 3]", "not a notebook"),
    "nested.ipynb": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "not a notebook"),
    "binary.ipynb": (bytes(range(256)) * 40, "not a notebook"),
    "empty.ipynb": (b"", "empty"),
    "broken.zip": (b"PK\x03\x04 and then nothing", "not a zip"),
    "essay.docx": (b"PK\x03\x04" + b"\x00" * 100, "not a zip"),
}
