"""Almost right arguments to every public name: nothing may crash, hang, be wrong in silence or fail without a reason.

`make test` tries one name in twelve; with LEARNABLE_FUZZ=100000 all names share that many calls (nightly).
"""

import collections
import os
import zlib

import fuzz

CALLS = int(os.environ.get("LEARNABLE_FUZZ", "0"))


def test_almost_right_arguments_are_used_or_refused():
    names = list(fuzz.public_names())
    if not CALLS:
        names = [name for name in names if zlib.crc32(name.encode()) % 12 == 0]
    found = fuzz.run(names, -(-CALLS // len(names)) if CALLS else 4)
    assert len(found) >= len(names)
    bad = [result for result in found if result[1] in fuzz.defects(found) and result[0] not in ("fine", "refused")]
    counts = dict(collections.Counter(result[0] for result in found))
    assert not bad, f"{counts}\n" + "\n".join(map(str, bad))


def test_the_driver_notices_every_kind_of_failure(tmp_path):
    """A driver that calls everything fine would pass the test above."""
    outcomes = {
        "fine": lambda x: x,
        "refused": lambda x: int("x"),
        "other exception": lambda x: {}["x"],
        "nan": lambda x: x * 0 + float("nan") if isinstance(x, float) and x != 1.0 else 1.0,
    }
    import random
    import signal

    signal.signal(signal.SIGVTALRM, fuzz._alarm)
    for kind, function in outcomes.items():
        call = fuzz.Call("f", function, (1.0,), {})
        seen = {fuzz.outcome(call, random.Random(seed))[0] for seed in range(60)}
        assert kind in seen, (kind, seen)
