"""Where joblib's work goes: to the processes of this machine, or to a Dask cluster that exists already."""

from __future__ import annotations

import contextlib

__all__ = ["joblib_backend"]


@contextlib.contextmanager
def joblib_backend(scheduler):
    """Inside, `joblib.Parallel` sends its calls to the Dask scheduler at this address; None leaves it as it is."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ValueError('a Dask cluster needs `pip install "dask[distributed]"` here and on its workers') from None
    from joblib import parallel_config

    with Client(scheduler, timeout=60) as client:
        client.wait_for_workers(1, timeout=60)
        with parallel_config(backend="dask"):
            yield
