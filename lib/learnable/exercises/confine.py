"""Confinement of a process that runs somebody else's code: bubblewrap, a seccomp filter, and limits on the whole.

`bubblewrap <https://github.com/containers/bubblewrap>`_ gives the process a file system in which only the Python
installation is visible (read-only) and a small private disk, no network, and a process tree of its own that dies with
its first process. libseccomp writes the filter that bubblewrap loads. The memory and the number of processes of a
submission *together* are bounded by a cgroup (version 2) where this user may make one, otherwise by a watch in the
grader.

Where this does not work, nothing is graded, unless the instructor asks for ``none``: then only the limits of
single processes hold, and every report says so.
"""

import contextlib
import ctypes
import errno
import functools
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HOME", "MODES", "Cgroup", "Limits", "command", "describe", "lower_limits", "refusal"]

MODES = ("bubblewrap", "none")
HOME = "/submission"  # the private disk
_SYSTEM_PLACES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/nsswitch.conf", "/etc/alternatives")
_CLONE_NEWUSER = 0x10000000
# What a computation never needs, and what could reach another process, outlive this one, or hold memory that belongs
# to no process. The second list is refused only when it names somebody else.
_DENIED = (
    "add_key bpf io_uring_setup kcmp keyctl memfd_create memfd_secret mount mq_open msgget perf_event_open pidfd_getfd "
    "process_madvise process_vm_readv process_vm_writev ptrace request_key semget setns setpriority shmget ioprio_set "
    "unshare userfaultfd"
).split()
_DENIED_ON_OTHERS = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Parameters
    ----------
    call_seconds, cell_seconds : float
        For one call of a function and for one cell. What counts is CPU time, so that a grade does not depend on how
        busy the machine is; a submission that only waits is given the same time on the clock.
    total_seconds : float
        On the clock, for the whole submission.
    cpu_seconds : int
        CPU time of one process, enforced by the kernel.
    memory : int
        Bytes beyond what the libraries take, of all processes together.
    file_size, disk : int
        Bytes of one file, and of all files together.
    processes, files : int
    output : int
        Bytes of printed output that are kept; the rest is thrown away.
    """

    call_seconds: float = 10.0
    cell_seconds: float = 20.0
    total_seconds: float = 600.0
    cpu_seconds: int = 60
    memory: int = 2 << 30
    file_size: int = 16 << 20
    disk: int = 64 << 20
    processes: int = 64
    files: int = 256
    output: int = 64 << 10


def describe(mode):
    """Return one sentence a report can print.

    Examples
    --------
    >>> describe("none")
    'nothing: these submissions ran WITHOUT confinement'
    """
    if mode == "none":
        return "nothing: these submissions ran WITHOUT confinement"
    whole = "a cgroup" if Cgroup.place() else "a watch"
    return f"bubblewrap: own file system, own process tree, no network; {whole} bounds memory and processes"


@functools.cache
def refusal():
    """Return why submissions cannot be confined here; empty when they can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (on Debian or Ubuntu: apt install bubblewrap)"
    try:
        with _filter() as rules:
            tried = subprocess.run(
                [*command(rules.fileno()), sys.executable, "-I", "-c", ""],
                pass_fds=[rules.fileno()],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
    except OSError as error:
        return str(error)
    return "" if tried.returncode == 0 else f"bubblewrap does not work here: {tried.stderr.strip()[-300:]}"


def python_places():
    """Return the directories that a Python process needs to read, shortest first, none inside another.

    The package itself counts as its own directory only, so that whatever lies beside it in a checkout (the
    masters of the exercises, say) stays invisible.
    """
    places = {Path(__file__).resolve().parents[1], Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    places |= {Path(sys.executable).parent, Path(os.path.realpath(sys.executable)).parent}
    places |= {Path(p) for p in _SYSTEM_PLACES if os.path.isdir(p)}
    everything = places | {p.resolve() for p in places}
    kept = []
    for place in sorted(everything, key=lambda p: (len(p.parts), str(p))):
        if not place.is_symlink() and not any(place.is_relative_to(other) for other in kept):
            kept.append(place)
    return kept


def command(rules, hidden=(), disk=Limits.disk):
    """Return the beginning of the command line that runs a program confined.

    ``rules`` is the descriptor of a seccomp filter; what is ``hidden`` is not seen, though it is in the installation.
    """
    words = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1", "--unshare-ipc", "--unshare-pid"]
    words += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL", "--seccomp", str(rules)]
    if os.geteuid() == 0:  # it changes to a user of its own, see `leave_root`
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user"]
    for path in filter(os.path.islink, _SYSTEM_PLACES):
        words += ["--symlink", os.readlink(path), path]
    places = python_places()
    above = {parent for place in places for parent in place.parents} - {Path("/")}
    for parent in sorted(above):
        words += ["--perms", "0755", "--dir", str(parent)]
    for place in (*places, *_SYSTEM_FILES):
        words += ["--ro-bind-try", str(place), str(place)]
    for path in map(Path, hidden):
        if path.exists() and any(path.is_relative_to(place) for place in places):
            empty = ["--perms", "0555", "--tmpfs", str(path), "--remount-ro", str(path)]
            words += empty if path.is_dir() else ["--ro-bind", os.devnull, str(path)]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    words += ["--perms", "0777", "--size", str(disk), "--tmpfs", HOME]
    if not any(place.is_relative_to("/tmp") for place in places):
        words += ["--symlink", HOME, "/tmp"]
    return [*words, "--remount-ro", "/", "--chdir", HOME, "--"]


@contextlib.contextmanager
def _filter():
    """Yield a file with the seccomp filter, as libseccomp writes it for this machine."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise OSError("libseccomp is not installed (on Debian or Ubuntu: apt install libseccomp2)") from None
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(0x7FFF0000))  # allow

    def deny(name, number=errno.EPERM, *conditions):
        call = library.seccomp_syscall_resolve_name(name.encode())
        array = (_Compare * len(conditions))(*conditions)
        if library.seccomp_rule_add_array(context, 0x00050000 | number, call, len(conditions), array):
            if call >= 0:  # a negative number: this machine has no such call
                raise OSError(f"libseccomp refuses a rule for {name}")

    try:
        for name in _DENIED:
            deny(name)
        for name in _DENIED_ON_OTHERS:
            deny(name, errno.EPERM, _Compare(0, _Compare.NOT_EQUAL, 0, 0))
        # Other families than those of the network that is not there lead to the host of a virtual machine.
        deny("socket", errno.EPERM, _Compare(0, _Compare.GREATER, int(socket.AF_INET6), 0))
        deny("clone", errno.EPERM, _Compare(0, _Compare.MASKED_EQUAL, _CLONE_NEWUSER, _CLONE_NEWUSER))
        deny("clone3", errno.ENOSYS)  # its flags cannot be inspected; the C library falls back to clone
        with tempfile.TemporaryFile() as file:
            library.seccomp_export_bpf(context, file.fileno())
            file.seek(0)
            yield file
    finally:
        library.seccomp_release(context)


class _Compare(ctypes.Structure):
    """A condition on an argument of a system call, as libseccomp wants it."""

    NOT_EQUAL, GREATER, MASKED_EQUAL = 1, 6, 7
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def launch(program, mode, hidden=(), disk=Limits.disk, cgroup=None, **options):
    """Start ``program`` (a list) confined, with the options of `subprocess.Popen`."""
    if mode == "none":
        return subprocess.Popen(program, start_new_session=True, **options)
    with _filter() as rules:
        words = [*command(rules.fileno(), hidden, disk), *program]
        if cgroup:
            words = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(cgroup.folder), *words]
        options["pass_fds"] = [*options.get("pass_fds", ()), rules.fileno()]
        return subprocess.Popen(words, **options)


def withdraw():
    """Make this process, the first one of its tree, untouchable for those it will fork; as root, leave root behind.

    Signals from inside do not reach the first process of a tree; without a core dump it cannot be traced either.
    """
    if os.getpid() != 1:
        return
    if os.getuid() == 0:
        user = 61184 + os.stat("/proc/self/ns/pid").st_ino % 4096  # in the range that systemd sets aside for such users
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    control = ctypes.CDLL(None).prctl
    # Not to be traced (PR_SET_DUMPABLE); and to end with its parent, which the change of user undid (PR_SET_PDEATHSIG).
    if control(4, 0, 0, 0, 0) or control(1, int(signal.SIGKILL), 0, 0, 0):
        raise OSError("the first process of the sandbox could not be protected")


def lower_limits(limits, confined):
    """Bound what the calling process may use; it cannot raise the limits again."""
    space = 2 << 30
    with contextlib.suppress(OSError):
        space = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    bounds = {
        "CORE": (0, 0),
        "FSIZE": (limits.file_size,) * 2,
        "NOFILE": (limits.files,) * 2,
        "AS": (space + limits.memory,) * 2,
        "CPU": (limits.cpu_seconds, limits.cpu_seconds + 2),  # a signal that can be caught, then one that cannot
        "MSGQUEUE": (0, 0),
    }
    if confined:  # elsewhere every process of the user would count
        bounds["NPROC"] = (limits.processes,) * 2
    for name, pair in bounds.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        with contextlib.suppress(TypeError, ValueError, OSError):  # a system that lacks or refuses one
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, pair if hard == resource.RLIM_INFINITY else tuple(min(p, hard) for p in pair))


class Cgroup:
    """A control group (version 2) of our own, below one that this user may write to (see `place`)."""

    def __init__(self, parent):
        for old in parent.glob("learnable-*"):
            with contextlib.suppress(OSError):  # one that is still in use
                old.rmdir()
        self.folder = Path(tempfile.mkdtemp(prefix="learnable-", dir=parent))

    @staticmethod
    def place(root="/sys/fs/cgroup", own="/proc/self/cgroup"):
        """Return the nearest group above this process that bounds memory and is ours to divide, or None."""
        try:
            line = next(line for line in Path(own).read_text().splitlines() if line.startswith("0::"))
        except (OSError, StopIteration):
            return None
        here = Path(root) / line[3:].lstrip("/")
        for folder in (here, *here.parents):
            if not folder.is_relative_to(root):
                break
            with contextlib.suppress(OSError):
                shared = (folder / "cgroup.subtree_control").read_text().split()
                writable = os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
                if writable and {"memory", "pids"} <= set(shared):
                    return folder
        return None

    def bound(self, limits):
        """Allow what is in use already, and ``limits`` beyond it."""
        for name, more in (("memory", limits.memory), ("pids", limits.processes)):
            used = int((self.folder / f"{name}.current").read_text())
            (self.folder / f"{name}.max").write_text(str(used + more))
        with contextlib.suppress(OSError):  # a kernel without accounting of swap
            (self.folder / "memory.swap.max").write_text("0")
        self.kills_before = self._kills()

    def ran_out_of_memory(self):
        """Whether the kernel has ended a process here for its memory since the last `bound`."""
        return self._kills() > self.kills_before

    def _kills(self):
        events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
        return int(events.get("oom_kill", 0))

    def close(self):
        """Remove the group, which must be empty."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def kill(pids):
    """End processes, whichever are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
