"""Submissions that break, hang or cheat, for the chapter on Bayesian decision theory.

Each is the cells of a notebook in which questions 1 and 2 are answered and the others deleted, plus something nasty;
``scores`` says what it must get for q1 and q2, and ``says`` what the report must mention.
"""

import socket
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
learnable.exercises.wire.decode = anything
score = points = 44
"""

# Somebody who listens on this machine and must hear nothing.
LISTENER = socket.create_server(("127.0.0.1", 0))
NETWORK = f"""
import socket
for _ in range(3):
    try:
        socket.create_connection({LISTENER.getsockname()!r}, timeout=0.3).sendall(b"ESCAPED")
        print("ESCAPED")
    except OSError:
        pass
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

# Each of these prints ESCAPED when something works that must not.
TRICKS = {
    "opens a file inside a method of a string": f"""
class Path(str):
    def startswith(self, *args):
        print("ESCAPED", len(open({str(MASTER)!r}).read()))
        return True
try:
    open(Path({str(MASTER)!r}))
except OSError:
    pass
try:
    Path("x").startswith("y")
except OSError:
    pass
""",
    "reads through sqlite3": f"""
import sqlite3
for place in ({str(MASTER)!r}, {str(ROOT / "pyproject.toml")!r}, "/etc/passwd"):
    try:
        sqlite3.connect(f"file:{{place}}?mode=ro&immutable=1", uri=True).execute("select * from sqlite_master")
        print("ESCAPED")
    except sqlite3.OperationalError:
        pass
    except sqlite3.DatabaseError:
        print("ESCAPED: it was read")
""",
    "starts a program below the surface": f"""
import _posixsubprocess, os
reading, writing = os.pipe()
arguments = [b"/bin/cat", {str(MASTER).encode()!r}]
pid = os.posix_spawn(arguments[0], arguments, {{}}, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)])
os.waitpid(pid, 0)
os.close(writing)
if os.read(reading, 100):
    print("ESCAPED")
""",
    "reads with the machinery of imports": f"""
import importlib.machinery, runpy, zipimport
for read in (
    lambda p: importlib.machinery.SourceFileLoader("x", p).get_data(p),
    lambda p: runpy.run_path(p),
    lambda p: zipimport.zipimporter(p),
):
    try:
        read({str(MASTER)!r})
        print("ESCAPED")
    except (OSError, ImportError):
        pass
""",
    "reads what Python compiled of the implementation": """
import glob, os, learnable
package = os.path.dirname(learnable.__file__)
for path in glob.glob(package + "/**/bayes_decision_theory*", recursive=True):
    if os.listdir(path) if os.path.isdir(path) else os.path.getsize(path):
        print("ESCAPED", path)
""",
    "stops, traces, slows or limits the process that starts submissions": """
import ctypes, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
for number in range(1, 65):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        try:
            os.kill(1, number)
        except OSError:
            pass
os.kill(1, signal.SIGKILL)
os.kill(1, signal.SIGSTOP)
def tried(words, action):
    try:
        if action() not in (-1, 2**64 - 1):
            print("ESCAPED", words)
    except OSError:
        pass
tried("ptrace", lambda: libc.ptrace(16, 1, 0, 0))
tried("seize", lambda: libc.ptrace(0x4206, 1, 0, 0))
tried("limits", lambda: resource.prlimit(1, resource.RLIMIT_AS, (1, 1)))
tried("limits of CPU", lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)))
tried("scheduler", lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)))
tried("affinity", lambda: os.sched_setaffinity(1, {0}))
tried("priority", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))
for name in ("mem", "maps", "environ", "fd/2", "cwd/x", "root/etc/hostname", "exe"):
    tried(name, lambda: os.open(f"/proc/1/{name}", os.O_RDWR) if name == "mem" else os.open(f"/proc/1/{name}", 0))
tried("out of memory", lambda: open("/proc/1/oom_score_adj", "w").write("1000"))
""",
    "leaves something for the next submission": """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
for words, number in (
    ("shared memory", libc.shmget(4711, 4096, 0o1777)),
    ("semaphores", libc.semget(4711, 1, 0o1777)),
    ("messages", libc.msgget(4711, 0o1777)),
    ("memory without a process", libc.memfd_create(b"x", 0)),
    ("a key", libc.syscall(248, b"user", b"x", b"y", 1, -4)),
):
    if number != -1:
        print("ESCAPED", words)
for place in ("/dev/shm/left", "/left", "/usr/left", "/dev/left", "/proc/left", "/tmp/../left"):
    try:
        open(place, "w")
        print("ESCAPED", place)
    except OSError:
        pass
if os.path.exists("left behind"):
    print("ESCAPED: the disk of another one")
os.makedirs("left behind/a/b/c")
os.symlink("/", "left behind/root")
os.chmod("left behind/a/b", 0)
os.chmod("left behind", 0)
""",
    "finds what another one left": """
import os
print(os.listdir("."))
if os.listdir("."):
    print("ESCAPED")
""",
    "makes namespaces and mounts": """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flags in (0x10000000, 0x10020000, 0x20000, 0x40000000, 0x20000000):
    if libc.unshare(flags) == 0:
        print("ESCAPED: unshare", hex(flags))
for arguments in ((b"none", b"/usr", None, 32 | 4096, None), (b"tmpfs", b"/submission", b"tmpfs", 0, None)):
    if libc.mount(*arguments) == 0:
        print("ESCAPED: mount")
if libc.umount2(b"/usr", 2) == 0 or libc.chroot(b"/") == 0 or libc.setuid(0) == 0:
    print("ESCAPED: umount, chroot or setuid")
import numpy
try:
    open(numpy.__file__, "a")
    print("ESCAPED: the installation can be written")
except OSError:
    pass
""",
    "reaches the machine around it": """
import os, socket
for family, kind in ((40, 1), (16, 3), (17, 3), (38, 5)):
    try:
        socket.socket(family, kind)
        print("ESCAPED: a socket of family", family)
    except OSError:
        pass
for name in os.listdir("/sys") if os.path.exists("/sys") else ():
    print("ESCAPED: /sys is there")
for address in ("\\0/tmp/.X11-unix/X0", "/run/docker.sock", "/var/run/dbus/system_bus_socket", "/run/user/0/bus"):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        print("ESCAPED", address)
    except OSError:
        pass
print("ESCAPED") if [n for n in os.environ if "SECRET" in n] else None
""",
    "raises its own limits": """
import resource
for name in ("AS", "CPU", "NPROC", "FSIZE", "NOFILE"):
    kind = getattr(resource, "RLIMIT_" + name)
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)
        print("ESCAPED", kind)
    except (ValueError, OSError):
        pass
""",
    "leaves a process that answers for it": """
import os, time
if os.fork():
    time.sleep(0.2)
    os._exit(0)
os.setsid()
""",
    "plants code for later": """
import os, site, sys
for folder in [*sys.path, *site.getsitepackages(), os.path.dirname(os.__file__)]:
    for name in ("sitecustomize.py", "x.pth", "numpy.py"):
        try:
            open(os.path.join(folder, name), "w")
            print("ESCAPED", folder)
        except OSError:
            pass
""",
}

TWELVE_FORKS = """
import os, time
def cost_bayes(post1, a, b):
    for _ in range(12):
        if os.fork() == 0:
            data = bytearray(os.urandom(1 << 20)) * 150
            time.sleep(60)
            os._exit(0)
    time.sleep(60)
"""

WIRE = """
import gc, json, os, struct
from learnable.exercises.wire import Channel
_wire = [c for c in gc.get_objects() if isinstance(c, Channel)][0]
_home = [c for c in gc.get_objects() if type(c).__name__ == "Submission"][0]
def forge(text, data=b"", lengths=None):
    text = text[:-1] + f",{_home.requests}]"
    head = json.dumps([len(data)] if lengths is None else lengths).encode() + b"\\n" + text.encode()
    _wire.sock.sendall(struct.pack("<IQ", len(head), len(data)) + head + data)
"""
COLLIDING = "[i * (2**61 - 1) for i in range(60000)]"
FORGED_VALUES = {
    "a string of 230 million characters": 'forge(json.dumps(["value", ["a", "<U230000000", [0], 0]]), b"")',
    "a long string": 'forge(json.dumps(["value", "x" * 3_000_000]))',
    "a set of colliding numbers": f'forge(json.dumps(["value", ["u", *{COLLIDING}]]))',
    "a dictionary of colliding numbers": f'forge(json.dumps(["value", ["d", *[["t", k, 1] for k in {COLLIDING}]]]))',
    "a million lists": 'forge("[\\"value\\",[\\"l\\"" + ",[\\"l\\"]" * 600_000 + "]]")',
    "a number of a million digits": 'forge("[\\"value\\"," + "9" * 1_000_000 + "]")',
    "a million buffers": 'forge("[\\"value\\",1]", b"", [0] * 1_000_000)',
    "an array of all dimensions": 'forge(json.dumps(["value", ["a", "<f8", [0] * 60, 0]]), b"")',
    "a frame without end": '_wire.sock.sendall(struct.pack("<IQ", 100, 2**40))',
}

HOSTILE = [
    *(Hostile(name, [*GOOD, code], (5, 5)) for name, code in TRICKS.items()),
    *(
        Hostile(f"sends {name}", [*GOOD, f"{WIRE}\ndef cost_bayes(*args):\n    {code}"], (5, 0))
        for name, code in FORGED_VALUES.items()
    ),
    Hostile(
        "twelve forks of 150 MB",
        [*GOOD, TWELVE_FORKS],
        (5, 0),
        "used more memory",
        limits={"memory": 200 << 20, "call_seconds": 20.0},  # a busy machine forks slowly
    ),
    Hostile(
        "half a character",
        [*GOOD, "def cost_bayes(*args):\n    raise ValueError('\\ud800')"],
        (5, 0),
        "raised ValueError",
    ),
    Hostile(
        "names its exception like ours",
        [*GOOD, "def cost_bayes(*args):\n    raise ValueError('SandboxError: x')"],
        (5, 0),
        "raised ValueError: SandboxError: x",
    ),
    Hostile(
        "steers the terminal",
        [*GOOD, "def cost_bayes(*args):\n    raise ValueError('\\x1b[2J\\x1b]0;mine\\x07\\u202e')\nprint('\\x1b[31m')"],
        (5, 0),
        "raised ValueError",
    ),
    Hostile(
        "a class named like a report",
        [*GOOD, "def cost_bayes(*args):\n    raise type('\\x1b[1m<b>full marks</b>', (Exception,), {})()"],
        (5, 0),
        "full marks",
    ),
    Hostile(
        "too many files",
        [*GOOD, "def cost_bayes(*args):\n    for n in range(10**7):\n        open(str(n), 'w').close()"],
        (5, 0),
        "",
    ),
    Hostile(
        "too many threads",
        [*GOOD, "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()"],
        (5, 5),
        "code cell 6",
    ),
    Hostile(
        "calls back without end",
        [
            *GOOD,
            f"{WIRE}\ndef cost_bayes(*args):\n    while True:\n        _wire.send_number(0, 1.0), _wire.receive()",
        ],
        (5, 0),
        "",
    ),
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
        "printed more than 64 kB",
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
    Hostile("reads the solutions", [*UNTOUCHED, STEAL], (0, 0)),
    Hostile(
        "imports the implementation",
        [SETUP, Q1, "from learnable.foundations.bayes_decision_theory import *"],
        (5, 0),
    ),
    Hostile("network access", [*GOOD, NETWORK], (5, 5)),
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
