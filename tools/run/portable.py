"""Run the chapters as another machine would: other BLAS kernels, no recent instruction set, one thread.

    python -m tools.run.portable lectures/.../chapter.ipynb ...

Stored outputs must hold there too. The restrictions are checked first: a typo in a variable would test nothing.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

from tools.project import BUILD, ROOT
from tools.run.environment import FIXED

RESTRICT = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_CACHE_DIR": str(BUILD / "numba-generic"),
    "LEARNABLE_EXPLORE": "text",
}
PROBE = """
import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as on
import numba
from threadpoolctl import threadpool_info
from scipy import linalg
wide = [name for name in ("X86_V3", "X86_V4", "AVX2", "AVX512F") if on.get(name)]
kernels = sorted({str(p.get("architecture")) for p in threadpool_info() if p.get("internal_api") == "openblas"})
print("instruction sets left on:", wide or "none above the baseline", "| BLAS kernels:", kernels,
      "| numba:", numba.config.CPU_NAME)
assert not [w for w in wide if w.startswith("X86")], wide
assert set(kernels) <= {"Prescott", "Katmai"}, kernels  # builds report the oldest kernel under either name
assert numba.config.CPU_NAME == "generic"
"""


def main(pages):
    if platform.machine() not in ("x86_64", "AMD64"):
        print("test-portable restricts x86 processors; this one is", platform.machine())
        RESTRICT.pop("OPENBLAS_CORETYPE"), RESTRICT.pop("NPY_DISABLE_CPU_FEATURES")
    environment = {**os.environ, **FIXED, **RESTRICT}
    if "OPENBLAS_CORETYPE" in RESTRICT:
        subprocess.run([sys.executable, "-c", PROBE], env=environment, cwd=ROOT, check=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-n",
        "2",
        "--dist",
        "loadfile",
        *pages,
    ]
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
