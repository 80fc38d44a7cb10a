"""Images with a known truth: blurred photographs, phantoms, rotated objects, and rooms seen in colour and depth."""

import numpy as np
from scipy import ndimage, signal
from sklearn.utils import Bunch

from learnable.datasets._loaders import load_picture
from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = [
    "ROOM_CLASSES",
    "make_blurred",
    "make_noisy_silhouette",
    "make_room",
    "make_room_video",
    "make_rotated_objects",
    "make_spike_train",
    "shake_kernel",
    "shepp_logan",
]


def shake_kernel(size=15, *, n_points=500, random_state=None):
    """Blur kernel of a shaking camera: a smooth random path, rasterised with bilinear weights, sum one.

    Parameters
    ----------
    size : int, default=15
        Odd; Levin et al. (2009) use 13, 15, ..., 27.
    n_points : int, default=500
        Points of the path, a Gaussian random walk smoothed over a tenth of its length.
    random_state : None, int or Generator

    Examples
    --------
    >>> kernel = shake_kernel(13, random_state=0)
    >>> kernel.shape, round(float(kernel.sum()), 12)
    ((13, 13), 1.0)
    """
    size, n, rng = check_size(size, "size", low=3), check_size(n_points, "n_points", low=10), check_rng(random_state)
    if size % 2 == 0:
        raise ValueError(f"size must be odd, got {size}")
    path = ndimage.gaussian_filter1d(np.cumsum(rng.standard_normal((n, 2)), axis=0), n / 10, axis=0)
    path -= path.mean(axis=0)
    path *= (size / 2 - 1.5) / np.abs(path).max()
    place = path + size // 2
    whole = np.floor(place).astype(int)
    share = place - whole
    kernel = np.zeros((size, size))
    for i in (0, 1):
        for j in (0, 1):
            weight = np.where(i, share[:, 0], 1 - share[:, 0]) * np.where(j, share[:, 1], 1 - share[:, 1])
            np.add.at(kernel, (whole[:, 0] + i, whole[:, 1] + j), weight)
    return kernel / kernel.sum()


def make_blurred(image="camera", *, kernel=15, noise=0.01, shape=(255, 255), random_state=None):
    """A sharp picture, a blur kernel, and the blurred picture with noise; only fully covered pixels are kept.

    Parameters
    ----------
    image : str or ndarray, default="camera"
        Name of a stored picture or a grey image in [0, 1].
    kernel : int or ndarray, default=15
        Size of a :func:`shake_kernel`, or the kernel itself.
    noise : float, default=0.01
        Standard deviation.
    shape : (int, int), default=(255, 255)
        Middle part of a stored picture.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (blurred, smaller by kernel size - 1), ``sharp``, ``kernel``.

    Examples
    --------
    >>> made = make_blurred("moon", kernel=13, shape=(64, 64), random_state=0)
    >>> made.data.shape, made.sharp.shape
    ((52, 52), (64, 64))
    """
    rng, noise = check_rng(random_state), check_scalar(noise, "noise", low=0)
    sharp = load_picture(image, gray=True, shape=shape) if isinstance(image, str) else np.asarray(image, float)
    if sharp.ndim != 2:
        raise ValueError("image must be a grey image (two dimensions)")
    blur = shake_kernel(kernel, random_state=rng) if np.ndim(kernel) == 0 else np.asarray(kernel, float)
    if min(sharp.shape) < max(blur.shape):
        raise ValueError(f"the kernel {blur.shape} is larger than the image {sharp.shape}")
    data = signal.fftconvolve(sharp, blur, mode="valid")
    return Bunch(data=data + noise * rng.standard_normal(data.shape), sharp=sharp, kernel=blur)


def make_spike_train(n=90, *, n_spikes=8, kernel="uniform", kernel_size=11, noise=0.0, random_state=None):
    """Blurred spikes in one dimension: +-U(0.5, 1.5) at random places, convolved with a positive kernel of sum one.

    Parameters
    ----------
    n : int, default=90
    n_spikes : int, default=8
    kernel : {"uniform", "random"}, default="uniform"
    kernel_size : int, default=11
    noise : float, default=0.0
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (length n + kernel_size - 1), ``spikes``, ``kernel``.

    Examples
    --------
    >>> int(np.count_nonzero(make_spike_train(random_state=0).spikes))
    8
    """
    check_choice(kernel, "kernel", ("uniform", "random"))
    n, size, rng = check_size(n, "n"), check_size(kernel_size, "kernel_size"), check_rng(random_state)
    m = check_scalar(n_spikes, "n_spikes", low=0, high=n, integer=True)
    spikes = np.zeros(n)
    spikes[rng.permutation(n)[:m]] = rng.uniform(0.5, 1.5, m) * rng.choice([-1.0, 1.0], size=m)
    k = np.ones(size) if kernel == "uniform" else rng.random(size)
    k /= k.sum()
    data = np.convolve(spikes, k)
    noise = check_scalar(noise, "noise", low=0)
    return Bunch(data=data + noise * rng.standard_normal(len(data)), spikes=spikes, kernel=k)


_ELLIPSES = np.array(
    [
        [1.0, 0.69, 0.92, 0.0, 0.0, 0.0],
        [-0.8, 0.6624, 0.8740, 0.0, -0.0184, 0.0],
        [-0.2, 0.1100, 0.3100, 0.22, 0.0, -18.0],
        [-0.2, 0.1600, 0.4100, -0.22, 0.0, 18.0],
        [0.1, 0.2100, 0.2500, 0.0, 0.35, 0.0],
        [0.1, 0.0460, 0.0460, 0.0, 0.1, 0.0],
        [0.1, 0.0460, 0.0460, 0.0, -0.1, 0.0],
        [0.1, 0.0460, 0.0230, -0.08, -0.605, 0.0],
        [0.1, 0.0230, 0.0230, 0.0, -0.606, 0.0],
        [0.1, 0.0230, 0.0460, 0.06, -0.605, 0.0],
    ]
)


def shepp_logan(size=128):
    """The Shepp-Logan head phantom with Toft's contrast, a piecewise constant image in [0, 1].

    Parameters
    ----------
    size : int, default=128

    Examples
    --------
    >>> phantom = shepp_logan(64)
    >>> phantom.shape, float(phantom.max())
    ((64, 64), 1.0)
    """
    size = check_size(size, "size", low=2)
    axis = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(axis, -axis)
    image = np.zeros((size, size))
    for value, a, b, x0, y0, degrees in _ELLIPSES:
        c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        u, v = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
        image[(u / a) ** 2 + (v / b) ** 2 <= 1] += value
    return np.clip(image, 0, 1)


def make_noisy_silhouette(shape=(100, 100), *, flip=0.2, random_state=None):
    """The stored silhouette of a horse at a given size, with pixels flipped independently.

    Parameters
    ----------
    shape : tuple of int, default=(100, 100)
    flip : float, default=0.2
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (noisy, 0/1), ``target`` (clean).

    Examples
    --------
    >>> made = make_noisy_silhouette((40, 50), random_state=0)
    >>> made.data.shape
    (40, 50)
    """
    rng, flip = check_rng(random_state), check_scalar(flip, "flip", low=0, high=1)
    rows, columns = (check_size(s, "shape") for s in shape)
    full = load_picture("horse")
    i = (np.arange(rows) + 0.5) * full.shape[0] / rows
    j = (np.arange(columns) + 0.5) * full.shape[1] / columns
    clean = full[np.ix_(i.astype(int), j.astype(int))].astype(int)
    return Bunch(data=clean ^ (rng.random(clean.shape) < flip), target=clean)


def make_rotated_objects(
    names=("astronaut", "coffee", "chelsea", "rocket"), *, n_angles=18, n_lights=4, size=32, random_state=None
):
    """Pictures of a few objects rotated through the full circle under several lights (stand-in for NORB).

    Parameters
    ----------
    names : tuple of float, default=('astronaut', 'coffee', 'chelsea', 'rocket')
    n_angles : int, default=18
    n_lights : int, default=4
    size : int, default=32
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (n, size^2), ``target`` (object), ``angle``, ``light``.

    Examples
    --------
    >>> make_rotated_objects(["coffee"], n_angles=6, n_lights=1, size=8).data.shape
    (6, 64)
    """
    k, lights, size = check_size(n_angles, "n_angles"), check_size(n_lights, "n_lights"), check_size(size, "size")
    rng = check_rng(random_state)
    data, target, angles, brightness = [], [], [], []
    levels = np.linspace(0.6, 1.0, lights)
    for label, name in enumerate(names):
        image = load_picture(name, gray=True)
        side = min(image.shape)
        image = load_picture(name, gray=True, shape=(side, side))
        coarse = ndimage.zoom(image, 2 * size / side, order=1)
        middle = (np.arange(size) - (size - 1) / 2)[:, None, None]
        for angle in np.linspace(0, 2 * np.pi, k, endpoint=False):
            c, s = np.cos(angle), np.sin(angle)
            rows, columns = np.broadcast_arrays(middle[:, :, 0], middle[:, :, 0].T)
            turned = np.stack([c * rows - s * columns, s * rows + c * columns]) + (coarse.shape[0] - 1) / 2
            view = ndimage.map_coordinates(coarse, turned, order=1, mode="nearest")
            for light in levels:
                data.append((light * view).ravel())
                target.append(label)
                angles.append(angle)
                brightness.append(light)
    data = np.array(data) + 0.01 * rng.standard_normal((len(data), size**2))
    return Bunch(data=data, target=np.array(target), angle=np.array(angles), light=np.array(brightness))


ROOM_CLASSES = ["floor", "wall", "ceiling", "furniture", "prop", "picture"]
_PALETTE = np.array([[0.75, 0.7, 0.62], [0.6, 0.55, 0.5], [0.85, 0.83, 0.8], [0.5, 0.45, 0.4]])
_THINGS = np.array([[0.55, 0.35, 0.2], [0.3, 0.3, 0.35], [0.7, 0.2, 0.2], [0.2, 0.4, 0.6], [0.75, 0.65, 0.3]])


def _build_room(rng):
    """Boxes of a room: the room itself (seen from inside) and furniture, props on it, pictures on the walls."""
    size = np.array([rng.uniform(3, 6), rng.uniform(3, 6), rng.uniform(2.4, 3)])  # width, length, height
    lows, highs, classes, colours = [], [], [], []

    def add(low, high, kind, colour):
        lows.append(low)
        highs.append(high)
        classes.append(kind)
        colours.append(np.clip(colour + 0.05 * rng.standard_normal(3), 0.05, 1))

    for _ in range(int(rng.integers(3, 8))):
        extent = rng.uniform(0.4, 1.5, 3)
        extent[2] = min(extent[2], 1.2)
        low = np.array([rng.uniform(0, size[0] - extent[0]), rng.uniform(0.35 * size[1], size[1] - extent[1]), 0.0])
        low = np.clip(low, 0, None)
        add(low, low + extent, 3, _THINGS[rng.integers(len(_THINGS))])
        for _ in range(int(rng.integers(0, 3))):
            small = rng.uniform(0.1, 0.3, 3)
            corner = low + np.append(rng.uniform(0, 1, 2) * np.maximum(extent[:2] - small[:2], 0), extent[2])
            add(corner, corner + small, 4, _THINGS[rng.integers(len(_THINGS))])
    for _ in range(int(rng.integers(1, 4))):
        wide, tall = rng.uniform(0.4, 1.0, 2)
        left, base = rng.uniform(0, size[0] - wide), rng.uniform(1.2, size[2] - tall - 0.1)
        low = np.array([left, size[1] - 0.02, base])
        add(low, low + [wide, 0.02, tall], 5, _THINGS[rng.integers(len(_THINGS))])
    surfaces = _PALETTE[rng.integers(len(_PALETTE), size=6)] + 0.03 * rng.standard_normal((6, 3))
    boxes = [np.array(v, dtype=np.float64).reshape(-1, 3) for v in (lows, highs, colours)]
    return size, *boxes[:2], np.array(classes, dtype=int), boxes[2], np.clip(surfaces, 0.05, 1)


def _render(room, eye, yaw, pitch, shape):
    """Cast one ray a pixel: depth along the optical axis, class, colour and surface number."""
    size, lows, highs, classes, colours, surfaces = room
    rows, columns = shape
    focal = columns / 2 / np.tan(np.deg2rad(58) / 2)
    v, u = np.meshgrid(np.arange(rows) - (rows - 1) / 2, np.arange(columns) - (columns - 1) / 2, indexing="ij")
    rays = np.stack([u / focal, np.ones_like(u), -v / focal], axis=-1).reshape(-1, 3)
    c, s = np.cos(pitch), np.sin(pitch)
    rays = rays @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    c, s = np.cos(yaw), np.sin(yaw)
    rays = rays @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    rays = np.where(np.abs(rays) < 1e-12, 1e-12, rays)
    # The room from inside: the first wall that is left through.
    exits = np.where(rays > 0, size - eye, -eye) / rays
    axis = exits.argmin(axis=1)
    distance = exits.min(axis=1)
    face = 2 * axis + (rays[np.arange(len(rays)), axis] > 0)
    kind = np.where(axis < 2, 1, np.where(face == 4, 0, 2))
    colour, surface = surfaces[face], face.copy()
    normal = axis.copy()
    # Boxes from outside: the slab test for all rays and boxes.
    if len(lows):
        near = (lows - eye) / rays[:, None]
        far = (highs - eye) / rays[:, None]
        enter, leave = np.minimum(near, far).max(axis=2), np.maximum(near, far).min(axis=2)
        hit = np.where((enter <= leave) & (enter > 1e-6), enter, np.inf)
        best = hit.argmin(axis=1)
        closer = hit[np.arange(len(rays)), best] < distance
        distance = np.where(closer, hit[np.arange(len(rays)), best], distance)
        kind = np.where(closer, classes[best], kind)
        colour = np.where(closer[:, None], colours[best], colour)
        surface = np.where(closer, 6 + best, surface)
        entered = np.minimum(near, far)[np.arange(len(rays)), best].argmax(axis=1)
        normal = np.where(closer, entered, normal)
    shade = np.array([0.8, 0.65, 1.0])[normal] * (0.75 + 0.25 / (1 + 0.15 * distance))
    return distance.reshape(shape), kind.reshape(shape), (colour * shade[:, None]).reshape(*shape, 3), surface


def _observe(depth, kind, colour, surface, rng, depth_noise, missing):
    texture = 0.03 * rng.standard_normal((*depth.shape, 1)) + 0.015 * rng.standard_normal((*depth.shape, 3))
    noisy = depth + depth_noise * depth**2 * rng.standard_normal(depth.shape)
    lost = rng.random(depth.shape) < missing
    measured = np.where(lost, np.nan, noisy)
    nearest = ndimage.distance_transform_edt(lost, return_distances=False, return_indices=True)
    return Bunch(
        image=np.clip(colour + texture, 0, 1),
        depth=noisy[tuple(nearest)],
        measured_depth=measured,
        true_depth=depth,
        target=kind,
        surface=surface.reshape(depth.shape),
    )


def make_room(shape=(48, 64), *, depth_noise=0.01, missing=0.03, random_state=None):
    """A furnished room in colour and depth with a class for each pixel (stand-in for NYU v2).

    An axis-aligned room of U(3, 6) x U(3, 6) x U(2.4, 3) metres with 3 to 7 pieces of furniture, props on them and
    pictures on the far wall; pinhole camera at height U(1.2, 1.6), pitch U(-15, 5) degrees, field of view 58 degrees.
    Floor, walls and ceiling draw their colours from one palette, so that colour alone does not tell them apart.

    Parameters
    ----------
    shape : (int, int), default=(48, 64)
    depth_noise : float, default=0.01
        Standard deviation of the depth at d metres is depth_noise * d^2.
    missing : float, default=0.03
        Share of depths that are lost and filled with the nearest one in ``depth`` (NaN in ``measured_depth``).
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``image`` (rows, columns, 3) in [0, 1], ``depth``, ``measured_depth``, ``true_depth``, ``target`` (numbers in
        ``ROOM_CLASSES``), ``surface``.

    Examples
    --------
    >>> room = make_room((24, 32), random_state=0)
    >>> room.image.shape, bool((room.true_depth > 0).all())
    ((24, 32, 3), True)
    """
    shape = tuple(check_size(s, "shape", low=2) for s in shape)
    rng, depth_noise = check_rng(random_state), check_scalar(depth_noise, "depth_noise", low=0)
    missing = check_scalar(missing, "missing", low=0, high=1, closed="left")
    room = _build_room(rng)
    eye, yaw, pitch = _stand(room, rng)
    return _observe(*_render(room, eye, yaw, pitch, shape), rng, depth_noise, missing)


def _stand(room, rng):
    size = room[0]
    eye = np.array([rng.uniform(0.3, 0.7) * size[0], 0.15, rng.uniform(1.2, 1.6)])
    return eye, np.deg2rad(rng.uniform(-15, 15)), np.deg2rad(rng.uniform(-15, 5))


def make_room_video(
    n_frames=30, *, shape=(120, 160), step=0.02, turn=0.5, depth_noise=0.01, missing=0.03, random_state=None
):
    """A walk through one room: the camera moves `step` metres forward and yaws `turn` degrees a frame.

    Parameters
    ----------
    n_frames : int, default=30
    shape : tuple of int, default=(120, 160)
    step : float, default=0.02
    turn : float, default=0.5
    depth_noise : float, default=0.01
    missing : float, default=0.03
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``frames``: list of Bunches as from :func:`make_room`; ``poses``: (eye, yaw, pitch) of each.

    Examples
    --------
    >>> video = make_room_video(2, shape=(12, 16), random_state=0)
    >>> len(video.frames), video.frames[0].target.shape
    (2, (12, 16))
    """
    n, rng = check_size(n_frames, "n_frames"), check_rng(random_state)
    shape = tuple(check_size(s, "shape", low=2) for s in shape)
    room = _build_room(rng)
    eye, yaw, pitch = _stand(room, rng)
    frames, poses = [], []
    for _ in range(n):
        frames.append(_observe(*_render(room, eye, yaw, pitch, shape), rng, depth_noise, missing))
        poses.append((eye.copy(), yaw, pitch))
        eye = np.clip(eye + step * np.array([np.sin(yaw), np.cos(yaw), 0.0]), 0.1, room[0] - 0.1)
        yaw += np.deg2rad(turn)
    return Bunch(frames=frames, poses=poses)
