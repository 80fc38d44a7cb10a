"""Movements: hand gestures in accelerometer streams, stick figures, gestures in depth video, vibrations."""

import numpy as np
from scipy import special
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = [
    "make_curve_gestures",
    "make_depth_gestures",
    "make_gesture_stream",
    "make_motion_stream",
    "make_skeleton_gestures",
    "make_vibrations",
]

_SHAPES = ("circle", "triangle", "square", "infinity", "slider")


def _minimum_jerk(u):
    return u**3 * (10 - 15 * u + 6 * u**2)


def _outline(shape, u):
    """The planar curve of a shape at times u in [0, 1], with a minimum-jerk time law on each edge."""
    if shape in ("triangle", "square"):
        k = 3 if shape == "triangle" else 4
        corners = np.exp(2j * np.pi * np.arange(k + 1) / k + 0.5j * np.pi)
        edge = np.minimum((u * k).astype(int), k - 1)
        z = corners[edge] + _minimum_jerk(u * k - edge) * (corners[edge + 1] - corners[edge])
    else:
        s = 2 * np.pi * _minimum_jerk(u)
        if shape == "circle":
            z = np.exp(1j * (s + np.pi / 2))
        elif shape == "infinity":
            z = np.sin(s) + 0.5j * np.sin(2 * s)
        else:
            z = -np.cos(s) + 0j
    return np.column_stack([z.real, z.imag])


def make_gesture_stream(
    n_per_class=15, *, n_classes=10, variability=0.4, null_share=0.57, noise=0.15, random_state=None
):
    """One long accelerometer stream at 30 Hz with labelled gestures among other motion (Nguyen-Dinh et al. 2014).

    Class 2 s + f is shape s of circle, triangle, square, infinity, slider, mirrored if f = 1. With v = `variability`
    (0.4 like their HCI set, 0.8 like Opportunity) a gesture lasts n ~ U(45, 45 + 35 v) samples, has amplitude
    1 + 0.15 v N(0, 1) and is rotated by 0.1 v N(0, 1) rad; acceleration is 0.3 times the second difference over dt^2
    plus gravity (0, -9.81, 0), the third axis a tenth of the first. Between gestures: AR(1) drift (0.97, 0.08) and
    about one sinusoidal bump of 20 to 45 samples in 120. White noise everywhere.

    Parameters
    ----------
    n_per_class : int, default=15
        How many of each class.
    n_classes : int, default=10
    variability : float, default=0.4
    null_share : float, default=0.57
    noise : float, default=0.15
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (T, 3), ``target`` (T,), 0 for null and 1 + class for a gesture; ``segments`` (start, stop, class).

    Examples
    --------
    >>> made = make_gesture_stream(2, n_classes=4, random_state=0)
    >>> made.segments.shape, bool((made.target > 0).any())
    ((8, 3), True)
    """
    n, rng = check_size(n_per_class, "n_per_class"), check_rng(random_state)
    k = check_scalar(n_classes, "n_classes", low=1, high=10, integer=True)
    v = check_scalar(variability, "variability", low=0)
    null_share = check_scalar(null_share, "null_share", low=0, high=1, closed="left")
    labels = rng.permutation(np.repeat(np.arange(k), n))
    gestures = [_wave(int(c), v, rng) for c in labels]
    total = sum(map(len, gestures))
    mean_gap = total * null_share / (1 - null_share) / (len(gestures) + 1)
    parts, marks, segments, place = [], [], [], 0
    for c, gesture in [*zip(labels, gestures, strict=True), (-1, None)]:
        gap = max(1, round(mean_gap * rng.uniform(0.6, 1.4)))
        parts.append(_other_motion(gap, rng))
        marks.append(np.zeros(gap, dtype=int))
        place += gap
        if gesture is not None:
            parts.append(gesture)
            marks.append(np.full(len(gesture), c + 1))
            segments.append((place, place + len(gesture), int(c)))
            place += len(gesture)
    data = np.concatenate(parts) + np.array([0.0, -9.81, 0.0])
    data += check_scalar(noise, "noise", low=0) * rng.standard_normal(data.shape)
    names = [f"{s}{' mirrored' if f else ''}" for s in _SHAPES for f in (0, 1)][:k]
    made = {"segments": np.array(segments), "target_names": ["null", *names], "frequency": 30}
    return Bunch(data=data, target=np.concatenate(marks), **made)


def _wave(c, v, rng):
    """Acceleration of one gesture without gravity."""
    n = round(rng.uniform(45, 45 + 35 * v))
    dt = 1 / 30
    curve = _outline(_SHAPES[c // 2], np.linspace(0, 1, n))
    if c % 2:
        curve = curve * [-1, 1]
    angle = 0.1 * v * rng.standard_normal()
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    curve = (1 + 0.15 * v * rng.standard_normal()) * curve @ turn.T
    padded = np.vstack([curve[:1], curve, curve[-1:]])
    planar = 0.3 * np.diff(padded, 2, axis=0) / dt**2
    return np.column_stack([planar, 0.1 * planar[:, 0]])


def _other_motion(n, rng):
    x = np.zeros((n, 3))
    step = 0.08 * rng.standard_normal((n, 3))
    for t in range(1, n):
        x[t] = 0.97 * x[t - 1] + step[t]
    for _ in range(rng.poisson(n / 120)):
        size = int(rng.integers(20, 46))
        start = int(rng.integers(max(n - size, 1)))
        stop = min(start + size, n)
        bump = rng.uniform(1, 5) * np.sin(np.pi * np.arange(stop - start) / size)[:, None]
        x[start:stop] += bump * rng.standard_normal(3)
    return x


_GESTURES = ("circle", "square", "triangle", "Z", "eight", "swipe")


def _gesture_curve(name, s):
    """Curve p(s), s in [0, 1], in the unit square around 0."""
    if name in ("circle", "eight"):
        turn = 2 * np.pi * s
        return np.column_stack([np.sin(turn), np.cos(turn) if name == "circle" else np.sin(2 * turn) / 2])
    corners = {
        "square": [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]],
        "triangle": [[-1, -1], [1, -1], [0, 1], [-1, -1]],
        "Z": [[-1, 1], [1, 1], [-1, -1], [1, -1]],
        "swipe": [[-1, 0], [1, 0]],
    }[name]
    corners = np.array(corners, dtype=np.float64)
    knots = np.linspace(0, 1, len(corners))
    return np.column_stack([np.interp(s, knots, corners[:, j]) for j in (0, 1)])


def make_curve_gestures(n_per_class=20, *, kind="position", length=(40, 90), random_state=None):
    """Six drawn gestures with random timing, size and tilt (Gillian and Paradiso 2014, simulated).

    Time is warped by a Beta(a, b) distribution function with a, b ~ U(0.8, 1.6), the curve scaled by U(0.8, 1.2) and
    rotated by up to 10 degrees, noise N(0, 0.02^2) added; durations U(40, 90) samples.

    Parameters
    ----------
    n_per_class : int, default=20
        How many of each class.
    kind : {"position", "acceleration"}, default="position"
        Acceleration is the second difference times the squared rate (100 Hz) over 100, plus gravity on the second axis.
    length : tuple of int, default=(40, 90)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (list of (time, 2) arrays), ``target``, ``target_names``.

    Examples
    --------
    >>> made = make_curve_gestures(2, random_state=0)
    >>> len(made.data), made.target_names[0]
    (12, 'circle')
    """
    n, rng = check_size(n_per_class, "n_per_class"), check_rng(random_state)
    check_choice(kind, "kind", ("position", "acceleration"))
    low, high = (check_size(v, "length", low=3) for v in length)
    series = []
    for name in _GESTURES:
        for _ in range(n):
            series.append(_drawn(name, int(rng.integers(low, high + 1)), kind, rng))
    return Bunch(data=series, target=np.repeat(np.arange(len(_GESTURES)), n), target_names=list(_GESTURES))


def _drawn(name, size, kind, rng):
    a, b = rng.uniform(0.8, 1.6, 2)
    curve = _gesture_curve(name, special.betainc(a, b, np.linspace(0, 1, size)))
    angle = np.deg2rad(rng.uniform(-10, 10))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    curve = rng.uniform(0.8, 1.2) * curve @ turn.T
    if kind == "acceleration":
        padded = np.vstack([curve[:1], curve, curve[-1:]])
        curve = np.diff(padded, 2, axis=0) * 100 + np.array([0.0, 9.81])
    return curve + 0.02 * rng.standard_normal(curve.shape)


def make_motion_stream(n_gestures=30, *, other_share=0.7, random_state=None):
    """A stream of positions at 100 Hz: the six gestures of :func:`make_curve_gestures` among aimless motion.

    Aimless motion is an Ornstein-Uhlenbeck process with the gestures' variance; it fills `other_share` of the stream.

    Parameters
    ----------
    n_gestures : int, default=30
    other_share : float, default=0.7
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_motion_stream(4, random_state=0)
    >>> made.data.shape[1], len(made.segments)
    (2, 4)
    """
    n, rng = check_size(n_gestures, "n_gestures"), check_rng(random_state)
    share = check_scalar(other_share, "other_share", low=0, high=1, closed="left")
    labels = rng.integers(len(_GESTURES), size=n)
    gestures = [_drawn(_GESTURES[c], int(rng.integers(40, 91)), "position", rng) for c in labels]
    gap = sum(map(len, gestures)) * share / (1 - share) / (n + 1)
    sd = np.concatenate(gestures).std()
    parts, marks, segments, place = [], [], [], 0
    for c, gesture in [*zip(labels, gestures, strict=True), (0, None)]:
        size = max(1, round(gap * rng.uniform(0.6, 1.4)))
        idle = rng.standard_normal((size, 2)) * sd
        for t in range(1, size):
            idle[t] = 0.95 * idle[t - 1] + np.sqrt(1 - 0.95**2) * idle[t]
        parts.append(idle)
        marks.append(np.zeros(size, dtype=int))
        place += size
        if gesture is not None:
            parts.append(gesture)
            marks.append(np.full(len(gesture), c + 1))
            segments.append((place, place + len(gesture), int(c)))
            place += len(gesture)
    names = ["other", *_GESTURES]
    return Bunch(
        data=np.concatenate(parts), target=np.concatenate(marks), segments=np.array(segments), target_names=names
    )


def make_vibrations(
    n_seconds=20, *, frequencies=(3.0, 7.0, 11.0, 16.0), rate=256, noise=0.5, dwell=5.0, random_state=None
):
    """A vibration sensor: sinusoids whose frequency changes every `dwell` seconds, the class being the frequency.

    Parameters
    ----------
    n_seconds : int, default=20
    frequencies : tuple of float, default=(3.0, 7.0, 11.0, 16.0)
    rate : int, default=256
    noise : float, default=0.5
    dwell : float, default=5.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (T, 1), ``target`` (T,), ``frequency`` (the sampling rate).

    Examples
    --------
    >>> make_vibrations(2, random_state=0).data.shape
    (512, 1)
    """
    rate, rng = check_size(rate, "rate"), check_rng(random_state)
    n = round(check_scalar(n_seconds, "n_seconds", low=0, closed="neither") * rate)
    dwell = check_scalar(dwell, "dwell", low=0, closed="neither")
    noise = check_scalar(noise, "noise", low=0)
    hold = max(1, round(dwell * rate))
    y = np.repeat(rng.integers(len(frequencies), size=-(-n // hold)), hold)[:n]
    phase = 2 * np.pi * np.cumsum(np.asarray(frequencies, dtype=np.float64)[y]) / rate
    return Bunch(data=(np.sin(phase) + noise * rng.standard_normal(n))[:, None], target=y, frequency=rate)


def make_skeleton_gestures(n_per_class=20, *, n_classes=6, n_subjects=4, length=(20, 40), random_state=None):
    """A stick figure of 12 joints moves its limbs; place, orientation and size change with the subject.

    Each class has its own amplitudes, frequencies (1 to 3 cycles) and phases of the eight joint angles of arms and
    legs. A subject has a height factor U(0.8, 1.2), stands at a random place and faces a random direction.

    Parameters
    ----------
    n_per_class : int, default=20
        How many of each class.
    n_classes : int, default=6
    n_subjects : int, default=4
    length : tuple of int, default=(20, 40)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``: list of (time, 12, 3) arrays of joint positions (metres); ``target``; ``groups`` (subject).

    Examples
    --------
    >>> made = make_skeleton_gestures(2, n_classes=2, random_state=0)
    >>> len(made.data), made.data[0].shape[1:]
    (4, (12, 3))
    """
    n, k, rng = check_size(n_per_class, "n_per_class"), check_size(n_classes, "n_classes"), check_rng(random_state)
    subjects = check_size(n_subjects, "n_subjects")
    low, high = (check_size(v, "length") for v in length)
    amplitude, frequency = rng.uniform(0.2, 1.2, (k, 8)), rng.integers(1, 4, (k, 8))
    phase, rest = rng.uniform(0, 2 * np.pi, (k, 8)), rng.uniform(-0.5, 0.5, (k, 8))
    height, place = rng.uniform(0.8, 1.2, subjects), rng.uniform(-2, 2, (subjects, 2))
    facing = rng.uniform(0, 2 * np.pi, subjects)
    y, who, data = np.repeat(np.arange(k), n), rng.integers(subjects, size=k * n), []
    for label, subject in zip(y, who, strict=True):
        s = np.linspace(0, 1, int(rng.integers(low, high + 1)))[:, None]
        angles = rest[label] + amplitude[label] * np.sin(2 * np.pi * frequency[label] * s + phase[label])
        joints = _pose(angles + 0.03 * rng.standard_normal(angles.shape)) * height[subject]
        c, d = np.cos(facing[subject]), np.sin(facing[subject])
        joints = joints @ np.array([[c, d, 0], [-d, c, 0], [0, 0, 1]]) + np.append(place[subject], 0.0)
        data.append(joints + 0.005 * rng.standard_normal(joints.shape))
    return Bunch(data=data, target=y, groups=who)


def _pose(angles):
    """Joints: pelvis, neck, then shoulder or hip side: elbow, hand (two arms), knee, foot (two legs), head, chest."""
    t = len(angles)
    zero = np.zeros(t)
    pelvis, chest = np.column_stack([zero, zero, zero + 0.95]), np.column_stack([zero, zero, zero + 1.25])
    neck, head = np.column_stack([zero, zero, zero + 1.5]), np.column_stack([zero, zero, zero + 1.7])
    joints = [pelvis, neck, head, chest]
    limbs = (((0.0, 0.2), neck, 0.3, 0.27), ((0.0, -0.2), neck, 0.3, 0.27))
    limbs += (((0.0, 0.1), pelvis, 0.45, 0.42), ((0.0, -0.1), pelvis, 0.45, 0.42))
    for limb, (offset, origin, upper, lower) in enumerate(limbs):
        first, second = angles[:, 2 * limb], angles[:, 2 * limb + 1]
        root = origin + np.array([*offset, 0.0])
        knee = root + upper * np.column_stack([np.sin(first), zero, -np.cos(first)])
        joints += [knee, knee + lower * np.column_stack([np.sin(first + second), zero, -np.cos(first + second)])]
    return np.stack(joints, axis=1)


def _library():
    """Thirty curves of a hand in the unit square: lines, arcs, circles, zigzags, and two-hand variants."""
    curves = []
    for j in range(8):
        angle = 2 * np.pi * j / 8
        curves.append(lambda s, a=angle: np.column_stack([(2 * s - 1) * np.cos(a), (2 * s - 1) * np.sin(a)]))
    for j in range(6):
        angle = 2 * np.pi * j / 6
        curves.append(lambda s, a=angle: np.column_stack([np.cos(a + np.pi * s), np.sin(a + np.pi * s)]))
    for sign in (-1, 1):
        for start in (0.0, np.pi / 2, np.pi):
            curves.append(
                lambda s, g=sign, a=start: np.column_stack(
                    [np.cos(a + 2 * np.pi * g * s), np.sin(a + 2 * np.pi * g * s)]
                )
            )
    for teeth in (2, 3):
        for swap in (False, True):
            curves.append(
                lambda s, m=teeth, w=swap: np.column_stack([2 * s - 1, 2 * np.abs(2 * ((m * s) % 1) - 1) - 1])[
                    :, :: -1 if w else 1
                ]
            )
    return curves


def make_depth_gestures(
    n_batches=6, *, n_gestures=8, n_test=20, overlap=1.0, shape=(48, 64), depth_noise=3.0, random_state=None
):
    """Batches of gestures in depth video for one-shot and transfer learning (stand-in for the ChaLearn set).

    Background 200, torso disc 150, hand discs of radius 4 at depth 110 that follow a curve of a library of 30 (the
    last six with a second, mirrored hand) under a random monotone time warp, 30 to 60 frames. A batch has its own
    person: scale U(0.8, 1.2), shift up to 5 pixels, speed U(0.8, 1.25). It has one training video of each gesture and
    `n_test` test videos.

    Parameters
    ----------
    n_batches : int, default=6
    n_gestures : int, default=8
    n_test : int, default=20
    overlap : float, default=1
        Share of the curves of each batch that come from the first `n_gestures` of the library; the rest is drawn from
        curves that no earlier batch used, as long as there are any.
    shape : tuple of int, default=(48, 64)
    depth_noise : float, default=3.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``batches``: list of Bunches with ``train`` and ``test`` (lists of uint8 videos (frames, rows, columns)),
        ``train_target``, ``test_target`` (numbers inside the batch) and ``curves`` (numbers in the library).

    Examples
    --------
    >>> made = make_depth_gestures(1, n_gestures=3, n_test=2, random_state=0)
    >>> made.batches[0].train[0].shape[1:]
    (48, 64)
    """
    n, k, rng = check_size(n_batches, "n_batches"), check_size(n_gestures, "n_gestures"), check_rng(random_state)
    overlap = check_scalar(overlap, "overlap", low=0, high=1)
    if k > 30:
        raise ValueError(f"n_gestures must be at most 30, got {k}")
    n_test, noise = check_size(n_test, "n_test", low=0), check_scalar(depth_noise, "depth_noise", low=0)
    if np.shape(shape) != (2,):
        raise ValueError(f"shape must be two whole numbers, got {shape!r}")
    shape = tuple(check_size(side, "shape") for side in shape)
    order = rng.permutation(30)
    core, fresh, batches = order[:k], list(order[k:]), []
    for _ in range(n):
        shared = round(overlap * k)
        own = [fresh.pop() for _ in range(min(k - shared, len(fresh)))]
        shared = k - len(own)
        curves = np.concatenate([rng.permutation(core)[:shared], np.array(own, dtype=int)])
        person = {
            "scale": rng.uniform(0.8, 1.2),
            "shift": rng.uniform(-5, 5, 2),
            "speed": rng.uniform(0.8, 1.25),
        }
        test = rng.integers(k, size=n_test)
        batches.append(
            Bunch(
                train=[_video(c, person, shape, noise, rng) for c in curves],
                train_target=np.arange(k),
                test=[_video(curves[g], person, shape, noise, rng) for g in test],
                test_target=test,
                curves=curves,
            )
        )
    return Bunch(batches=batches, library_size=30)


def _video(curve, person, shape, noise, rng):
    frames = round(rng.uniform(30, 60) / person["speed"])
    warp = np.cumsum(rng.gamma(4.0, size=frames))
    s = (warp - warp[0]) / max(warp[-1] - warp[0], 1e-12)
    library = _library()
    two_hands = curve >= len(library)
    path = library[curve % len(library)](s)
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    middle = np.array([shape[0] / 2, shape[1] / 2]) + person["shift"]
    video = np.full((frames, *shape), 200.0)
    video[:, (rows - middle[0] - 8) ** 2 + (columns - middle[1]) ** 2 < (12 * person["scale"]) ** 2] = 150.0
    reach = person["scale"] * np.array([shape[0], shape[1]]) * 0.3
    for mirror in (1, -1) if two_hands else (1,):
        centre = middle + np.column_stack([-path[:, 1], mirror * path[:, 0]]) * reach
        near = (rows - centre[:, 0, None, None]) ** 2 + (columns - centre[:, 1, None, None]) ** 2
        video[near < 16] = 110.0
    return np.clip(np.rint(video + noise * rng.standard_normal(video.shape)), 0, 255).astype(np.uint8)
