"""The program of QUIC's authors (Hsieh et al. 2014), a C++ file that the package registry has as part of skggm.

skggm comes as source alone and needs tools that no other peer needs, so that its archive, which whoever measures puts
into the user's cache, is checked by its hash, and the one file compiled once, with all that the compiler offers for
this machine, against the LAPACK that scipy brings: both sides of the comparison factorise by the same library. It is no
part of this project.
"""

import ctypes
import hashlib
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import scipy

from benchmarks.harness import PeerAbsent

ARCHIVE = "skggm-0.2.8.tar.gz"
SHA256 = "497a694f7b0e005697369a3336d8dcb2af677ab7c1c5577504a50708df1a060c"
FOLDER = Path.home() / ".cache" / "learnable" / "peers" / "skggm-0.2.8"
MAX_ITER = 1000


def _build(folder):
    (lapack,) = (Path(scipy.__file__).parent.parent / "scipy.libs").glob("libscipy_openblas*.so")
    archive = folder / ARCHIVE
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise ValueError("the archive of skggm is not the one that was measured before")
    with tarfile.open(archive) as files:
        for name in ("QUIC.C", "QUIC.h"):
            (member,) = (m for m in files.getmembers() if m.name.endswith(f"pyquic/{name}"))
            (folder / name).write_bytes(files.extractfile(member).read())
    names = [f"-D{name}=scipy_{name}" for name in ("dpotrf_", "dpotri_")]
    command = ["g++", "-O3", "-march=native", "-w", "-fPIC", "-shared", *names, "QUIC.C", "-o", "quic.so"]
    subprocess.run([*command, str(lapack), f"-Wl,-rpath,{lapack.parent}"], cwd=folder, check=True, capture_output=True)


def load(build=True):
    """Return ``quic(S, Lambda, tol) -> X``; one that raises `PeerAbsent` where the program cannot be had.

    With ``build=False`` nothing is compiled.
    """
    library = FOLDER / "quic.so"
    try:
        if build and not library.exists():
            _build(FOLDER)
        routine = ctypes.CDLL(str(library)).QUIC
    except (OSError, ValueError, subprocess.SubprocessError) as reason:
        why = f"the authors' program is not here ({type(reason).__name__})"
        return PeerAbsent(f"{why}: put {ARCHIVE} into ~/{FOLDER.relative_to(Path.home())}").again

    def at(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    def quic(S, Lambda, tol):
        p = len(S)
        S, Lambda = np.ascontiguousarray(S), np.array(Lambda)  # the program may write on the penalties
        # It starts from the identity, as skggm lets it; from the best diagonal matrix it may stop short of the gap.
        X, W, path, iterations = np.eye(p), np.eye(p), np.ones(1), np.zeros(1, dtype=np.uint32)
        size, one, most = (ctypes.c_uint32(value) for value in (p, 1, MAX_ITER))
        tolerance, silent = ctypes.c_double(tol), ctypes.c_int32(0)
        routine(
            ctypes.c_char(b"D"), ctypes.byref(size), at(S), at(Lambda), ctypes.byref(one), at(path),
            ctypes.byref(tolerance), ctypes.byref(silent), ctypes.byref(most), at(X), at(W), None, None,
            at(iterations), None,
        )  # fmt: skip
        return X

    return quic
