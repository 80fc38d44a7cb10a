"""Confinement of a process that runs somebody else's code.

What the kernel offers is used, in this order, and what was used is reported:

``namespaces``
    A file system of its own in which only the Python installation is visible (read-only) and a small
    private disk; no network; its own process tree, so that killing its first process kills everything it
    started. As root the process also becomes an unprivileged user.
``landlock``
    The same view of the file system without a new one: files outside the Python installation cannot be opened, and
    TCP is refused. For machines where unprivileged namespaces are switched off.
``guard``
    A Python audit hook that refuses to open files elsewhere, to use the network and to signal other processes. It stops
    accidents and simple tricks, not a determined attacker who brings native code: use containers then.

Limits on CPU time, memory, file size and number of processes hold in all three.
"""

import ctypes
import os
import resource
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["MODES", "Confinement", "Limits", "available_modes", "install_guard"]

MODES = ("namespaces", "landlock", "guard")

_CLONE = {
    "mount": 0x20000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_SYS_MOUNT_SETATTR, _SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 442, 444, 445, 446
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID = 1, 2
_FIRST_SANDBOX_UID = 61184  # the range systemd sets aside for users that exist only while a service runs

_SYSTEM_PLACES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
_SYSTEM_FILES = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/alternatives",
)
_HOME = "/submission"  # where a submission works when it has a file system of its own
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


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
        Bytes of address space beyond what the libraries take.
    file_size, disk : int
        Bytes of one file, and of all files together where the kernel lets us bound that.
    processes, files : int
    output : int
        Bytes of printed output that are kept; the rest is counted and thrown away.
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

    def as_dict(self):
        """Return the limits as a plain dictionary."""
        return asdict(self)


class _Libc:
    def __init__(self):
        self._libc = ctypes.CDLL(None, use_errno=True)

    def __call__(self, name, *args):
        result = getattr(self._libc, name)(*args)
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")
        return result


_libc = _Libc()


def python_places():
    """Return the directories that a Python process needs to read, shortest first, none inside another.

    The package itself counts as its own directory only, so that whatever lies beside it in a checkout (the
    masters of the exercises, say) stays invisible.
    """
    package = Path(__file__).resolve().parents[1]
    places = {package, Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    places |= {Path(sys.executable).parent, Path(os.path.realpath(sys.executable)).parent}
    for entry in filter(None, sys.path):
        path = Path(entry)
        if path.resolve() != package.parent and path.exists():
            places.add(path)
    places |= {Path(p) for p in _SYSTEM_PLACES if os.path.isdir(p)}
    everything = places | {p.resolve() for p in places}
    kept = []
    for place in sorted(everything, key=lambda p: (len(p.parts), str(p))):
        if not place.is_symlink() and not any(place.is_relative_to(other) for other in kept):
            kept.append(place)
    return kept


@dataclass
class Confinement:
    """How a process will be confined.

    Parameters
    ----------
    mode : {"namespaces", "landlock", "guard"}
    limits : Limits
    masked : sequence of str
        Files and directories inside the visible places that must not be seen all the same.
    room : str
        An empty directory that belongs to this one submission.
    """

    mode: str
    limits: Limits
    masked: tuple = ()
    room: str = ""
    as_user_namespace: bool = False

    def describe(self):
        """Return one sentence a report can print.

        Examples
        --------
        >>> Confinement("guard", Limits()).describe()[:26]
        'guard: no kernel isolation'
        """
        return {
            "namespaces": "namespaces: own file system, own process tree, no network",
            "landlock": "landlock: files and TCP refused by the kernel, the rest of the network by a guard in Python",
            "guard": "guard: no kernel isolation here, files and network are refused by a guard in Python only",
        }[self.mode]

    def enter(self):
        """Confine the calling process, which must have a single thread.

        With namespaces this forks: the caller continues only in the innermost process, the outer ones wait for it and
        pass its exit code on.
        """
        if self.mode == "namespaces":
            self._enter_namespaces()
        else:
            os.chdir(self.room)
            if self.mode == "landlock":
                self._enter_landlock()
        self._limit()

    def to_hide(self):
        """Return the masked paths that lie inside a visible place; everything else is out of sight already."""
        places = python_places()
        return [p for p in map(Path, self.masked) if any(p.is_relative_to(place) for place in places)]

    def home(self):
        """Return the directory in which the confined process works."""
        return _HOME if self.mode == "namespaces" else self.room

    def _limit(self):
        limits = self.limits
        bounds = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: limits.file_size,
            resource.RLIMIT_NOFILE: limits.files,
        }
        bounds[resource.RLIMIT_AS] = _address_space() + limits.memory
        own_count = self.mode == "namespaces"
        bounds[resource.RLIMIT_NPROC] = limits.processes + (0 if own_count else _processes_of_user())
        for kind, value in bounds.items():
            _lower(kind, value, value)
        # SIGXCPU first: its number in the exit code tells the report what happened. It can be caught, SIGKILL cannot.
        _lower(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 2)
        if sys.platform == "linux":
            _libc("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)

    def _enter_namespaces(self):
        uid, gid = os.getuid(), os.getgid()
        root = uid == 0 and not self.as_user_namespace
        wanted = ("mount", "pid", "net", "ipc", "uts") + (() if root else ("user",))
        flags = 0
        for name in wanted:
            flags |= _CLONE[name]
        _libc("unshare", flags)
        if not root:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        uid = _FIRST_SANDBOX_UID + os.getpid() % 4096 if root else uid
        gid = uid if root else gid

        _fork_and_wait()  # the child is the first process of the new tree
        self._build_root(uid, gid)
        if root:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        die_with_parent()
        _fork_and_wait(reap_all=True)
        die_with_parent()
        _drop_capabilities()
        os.chdir(_HOME)

    def _build_root(self, uid, gid):
        """Assemble a root directory from read-only views of what Python needs, and move into it."""
        new = self.room
        _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
        _mount("tmpfs", new, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")
        for path in _SYSTEM_PLACES:
            if os.path.islink(path):
                os.symlink(os.readlink(path), new + path)
        for place in (*python_places(), *map(Path, _SYSTEM_FILES)):
            if place.exists():
                _bind(place, new, read_only=True)
        for device in _DEVICES:
            _bind(Path(device), new, read_only=False)
        for path in self.to_hide():
            inside = Path(f"{new}{path}")
            if inside.is_dir():
                _mount("tmpfs", str(inside), "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=555,size=4k")
            elif inside.exists():
                _mount("/dev/null", str(inside), None, _MS_BIND)
        os.makedirs(new + _HOME)
        _mount(
            "tmpfs",
            new + _HOME,
            "tmpfs",
            _MS_NOSUID | _MS_NODEV,
            f"mode=700,uid={uid},gid={gid},size={self.limits.disk},nr_inodes=4096",
        )
        os.symlink(_HOME, f"{new}/dev/shm")
        if not os.path.exists(f"{new}/tmp"):  # an installation of Python may be there
            os.symlink(_HOME, f"{new}/tmp")
        os.makedirs(f"{new}/proc")
        try:
            _mount("proc", f"{new}/proc", "proc", _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
        except OSError:
            pass  # inside some containers proc cannot be mounted anew; Python does without it
        _set_attributes(new, _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, recursive=False)
        os.chdir(new)
        _libc("pivot_root", b".", b".")
        _libc("umount2", b".", _MNT_DETACH)
        os.chdir("/")

    def _enter_landlock(self):
        abi = _landlock_abi()
        reading = 0b1101  # execute, read a file, list a directory
        everything = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)) - 1
        attributes = (ctypes.c_uint64 * 3)(everything, 0b11 if abi >= 4 else 0, 0b11 if abi >= 6 else 0)
        size = 8 if abi < 4 else 16 if abi < 6 else 24
        ruleset = _libc("syscall", _SYS_LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
        readable = [*python_places(), *map(Path, _SYSTEM_FILES)]
        rules = [(path, reading) for path in readable]
        rules += [(Path(device), 0b110) for device in _DEVICES] + [(Path(self.room), everything)]
        file_only = 0b111 | (1 << 14 if abi >= 3 else 0)
        for path, access in rules:
            if not path.exists():
                continue
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = _LandlockRule(access if path.is_dir() else access & file_only, descriptor)
            _libc("syscall", _SYS_LANDLOCK_ADD, ruleset, 1, ctypes.byref(rule), 0)
            os.close(descriptor)
        _libc("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _libc("syscall", _SYS_LANDLOCK_RESTRICT, ruleset, 0)
        os.close(ruleset)


class _LandlockRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def _landlock_abi():
    return _libc("syscall", _SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)


def _mount(source, target, kind, flags, data=None):
    _libc(
        "mount",
        source.encode(),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )


def _bind(path, root, read_only):
    target = f"{root}{path}"
    if path.is_dir():
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    _mount(str(path), target, None, _MS_BIND | _MS_REC)
    if read_only:
        _set_attributes(target, _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, recursive=True)


def _set_attributes(path, attributes, recursive):
    wanted = _MountAttributes(set=attributes)
    _libc(
        "syscall",
        _SYS_MOUNT_SETATTR,
        -100,
        ctypes.c_char_p(os.fsencode(path)),
        _AT_RECURSIVE if recursive else 0,
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )


def _fork_and_wait(reap_all=False):
    """Fork; return in the child. The parent waits, then ends with the child's exit code (128 + n for signal n)."""
    child = os.fork()
    if child == 0:
        return
    os.closerange(3, 1024)
    while True:
        try:
            pid, status = os.waitpid(-1 if reap_all else child, 0)
        except ChildProcessError:
            os._exit(0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def die_with_parent():
    """Ask the kernel to kill this process when the one that started it ends (a change of user undoes this)."""
    if sys.platform == "linux":
        _libc("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans():
    """Become the parent of descendants whose own parent ends, so that none can slip away."""
    if sys.platform == "linux":
        _libc("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _drop_capabilities():
    """Give up every privilege over the new namespaces, or the read-only views could be made writable again."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _libc("capset", ctypes.byref(header), ctypes.byref(nothing))


def _lower(kind, soft, hard):
    _, current = resource.getrlimit(kind)
    if current != resource.RLIM_INFINITY:
        soft, hard = min(soft, current), min(hard, current)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (ValueError, OSError):
        pass  # macOS refuses some; the wall clock still ends the process


def _address_space():
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 2 << 30


def _processes_of_user():
    """Count the user's threads, which is what the process limit is compared with."""
    mine, count = os.getuid(), 0
    try:
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    if entry.stat().st_uid == mine:
                        count += len(os.listdir(f"/proc/{entry.name}/task"))
                except OSError:
                    continue
    except OSError:
        return 4096
    return count


def available_modes(room):
    """Try each way of confinement in a process of its own and return those that work, strongest first.

    Parameters
    ----------
    room : str
        An empty directory to try in.
    """
    found = []
    for mode in MODES:
        if mode != "guard" and sys.platform != "linux":
            continue
        child = os.fork()
        if child == 0:
            code = 1
            try:
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 2)
                Confinement(mode, Limits(), room=room).enter()
                os.listdir(os.path.dirname(os.__file__))
                code = 0
            finally:
                os._exit(code)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            found.append(mode)
    return found


def install_guard(confinement, note, sealed=()):
    """Watch what the Python code of this process does; it cannot be taken off again.

    Parameters
    ----------
    confinement : Confinement
        With mode "guard" the hook refuses; otherwise the kernel does, and the hook only tells.
    note : callable
        ``note(kind, text)`` is told about every attempt.
    sealed : sequence of str
        Modules whose import is refused.
    """
    refusing = confinement.mode == "guard"
    readable = [str(p) for p in python_places()] + [confinement.home(), "/dev/", "/proc/self", *_SYSTEM_FILES]
    readable = tuple(dict.fromkeys(readable + [os.path.realpath(p) for p in readable]))
    masked = tuple(map(str, confinement.to_hide()))
    own = os.getpid()
    fspath, realpath = os.fsdecode, os.path.realpath
    busy = threading.local()

    def inside(path, places):
        return any(path == p or path.startswith(p.rstrip("/") + "/") for p in places)

    def refuse(kind, text, whatever_the_mode=False):
        note(kind, text)
        if refusing or whatever_the_mode:
            raise PermissionError(f"{text}: not allowed while this notebook is graded")

    def look(event, args):
        if event in ("os.listdir", "os.scandir"):
            target = args[0]
            if isinstance(target, str | bytes) and refusing and fspath(target) not in sys.path:
                if not inside(realpath(fspath(target)), readable):
                    refuse("files", f"tried to list {fspath(target)}")
        elif event == "open":
            target = args[0]
            if not isinstance(target, str | bytes | os.PathLike):
                return
            path = realpath(fspath(target))
            writing = isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
            if inside(path, masked):
                refuse("files", f"tried to open {fspath(target)}", whatever_the_mode=True)
            elif not inside(path, readable):
                refuse("files", f"tried to open {fspath(target)}")
            elif writing and refusing and not inside(path, (confinement.home(), "/dev")):
                refuse("files", f"tried to write to {fspath(target)}")
        elif event in (
            "os.remove",
            "os.rename",
            "os.mkdir",
            "os.rmdir",
            "os.chmod",
            "os.link",
            "os.symlink",
            "os.truncate",
        ):
            paths = [a for a in args if isinstance(a, str | bytes)]
            if refusing and not all(inside(realpath(fspath(p)), (confinement.home(),)) for p in paths):
                refuse("files", f"tried {event} on {fspath(paths[0])}")
        elif event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
            where = args[0] if event in ("socket.getaddrinfo", "socket.gethostbyname") else args[1]
            refuse("network", f"tried to reach the network ({where if isinstance(where, str) else repr(where)[:60]})")
        elif event in ("os.kill", "os.killpg"):
            if args[0] != own:
                # Landlock keeps signals in from Linux 6.12 on; before that only this stands in the way.
                text = f"tried to send a signal to process {args[0]}"
                refuse("processes", text, whatever_the_mode=confinement.mode != "namespaces")
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.forkpty"):
            refuse("processes", f"tried to start another program ({event})")
        elif event == "import":
            name = args[0]
            if any(name == s or name.startswith(s) for s in sealed):
                note("sealed", f"tried to import {name}")
                raise ImportError(f"{name} answers this exercise; write your own (the import is refused here)")

    def hook(event, args):
        if getattr(busy, "now", False):
            return
        busy.now = True
        try:
            look(event, args)
        finally:
            busy.now = False

    sys.addaudithook(hook)
