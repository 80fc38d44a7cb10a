"""Features of a moving skeleton that do not depend on where somebody stands, which way they face, or how tall they are.

Wu and Cheng 2014, Appendix A: move one joint to the origin, turn a reference plane, scale the limbs, then take
positions, limb vectors, and the changes of both from frame to frame.
"""

from __future__ import annotations

import numpy as np

from learnable.validation import check_finite_array, check_magnitude

__all__ = ["normalise_skeleton", "skeleton_features"]


def normalise_skeleton(joints, bones, *, origin=0, plane=(0, 1, 2)):
    """Move, turn and scale every frame so that place, orientation and body size drop out.

    The origin joint goes to 0. The plane through the three joints of `plane` becomes orthogonal to the z-axis, and the
    line from the first to the second of them points along x, which fixes the turn about z that the source leaves
    open. The lengths of the bones sum to one.

    Parameters
    ----------
    joints : array-like of shape (length, J, 3)
        Positions of J joints in each frame.
    bones : array-like of int, shape (n_bones, 2)
        Pairs of directly connected joints.
    origin : int, default=0
        The joint that becomes the origin.
    plane : tuple of three int, default=(0, 1, 2)
        Joints that are never on one line, such as the hips and the neck.

    Returns
    -------
    ndarray of shape (length, J, 3)

    Notes
    -----
    O(length × J). A frame whose three joints lie on a line has no such plane and is refused.

    Examples
    --------
    >>> triangle = [[[1.0, 1.0, 1.0], [1.0, 3.0, 1.0], [1.0, 1.0, 3.0]]]
    >>> made = normalise_skeleton(triangle, [(0, 1), (0, 2)])
    >>> made.round(3).tolist()
    [[[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]]
    """
    joints, bones = _check_joints(joints), None if bones is None else np.asarray(bones)
    J = joints.shape[1]
    bones = _check_bones(bones, J)
    origin, *three = (_check_joint(j, J) for j in (origin, *_three(plane)))
    moved = joints - joints[:, origin : origin + 1]
    length = np.linalg.norm(moved[:, bones[:, 1]] - moved[:, bones[:, 0]], axis=2).sum(axis=1)
    if length.min() <= 0:
        raise ValueError(f"joints must be apart: all bones of frame {int(length.argmin())} have length zero")
    moved = moved / length[:, None, None]
    a, b = (moved[:, three[i]] - moved[:, three[0]] for i in (1, 2))
    normal = np.cross(a, b)
    sine = np.linalg.norm(normal, axis=1)
    flat = sine <= 1e-9 * np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    if flat.any():
        raise ValueError(f"plane must be three joints that are not on one line, as they are in frame {flat.argmax()}")
    x = a / np.linalg.norm(a, axis=1, keepdims=True)
    z = normal / sine[:, None]
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    return moved @ axes.transpose(0, 2, 1)


def skeleton_features(joints, bones, *, origin=0, plane=(0, 1, 2)):
    """Positions, bone vectors and their changes in time, of normalised skeletons (Wu and Cheng 2014, Appendix A).

    Parameters
    ----------
    joints : array-like of shape (length, J, 3)
    bones : array-like of int, shape (n_bones, 2)
        Pairs of directly connected joints.
    origin : int, default=0
    plane : tuple of three int, default=(0, 1, 2)
        See :func:`normalise_skeleton`.

    Returns
    -------
    ndarray of shape (length, 6 (J + n_bones))
        J positions, the bone vectors, and the changes of both since the last frame (zero in the first frame).

    Notes
    -----
    Twelve joints and eleven bones give the 138 features of the source. O(length × (J + n_bones)).

    Examples
    --------
    >>> triangle = [[[1.0, 1.0, 1.0], [1.0, 3.0, 1.0], [1.0, 1.0, 3.0]]] * 2
    >>> skeleton_features(triangle, [(0, 1), (0, 2)]).shape
    (2, 30)
    """
    made = normalise_skeleton(joints, bones, origin=origin, plane=plane)
    bones = np.asarray(bones)
    still = np.concatenate([made, made[:, bones[:, 1]] - made[:, bones[:, 0]]], axis=1)
    still = still.reshape(len(made), -1)
    return np.hstack([still, np.diff(still, axis=0, prepend=still[:1])])


def _check_joints(joints):
    joints = check_finite_array(joints, "joints", ndim=3)
    if joints.shape[2] != 3 or joints.shape[1] < 3 or len(joints) == 0:
        raise ValueError(f"joints must have shape (length, J, 3) with at least three joints, got {joints.shape}")
    return check_magnitude(joints, "joints", smallest=0.0)


def _check_bones(bones, J):
    if bones is None or bones.ndim != 2 or bones.shape[1:] != (2,) or bones.dtype.kind not in "iu" or not len(bones):
        raise ValueError("bones must be pairs of joints, integers of shape (n_bones, 2)")
    if bones.min() < 0 or bones.max() >= J:
        raise ValueError(f"bones must join joints 0..{J - 1}, got {bones.min()} to {bones.max()}")
    return bones


def _three(plane):
    plane = tuple(np.atleast_1d(np.asarray(plane, dtype=object)))
    if len(plane) != 3 or len(set(plane)) != 3:
        raise ValueError(f"plane must be three different joints, got {plane!r}")
    return plane


def _check_joint(j, J):
    if isinstance(j, (bool, np.bool_)) or not isinstance(j, (int, np.integer)) or not 0 <= j < J:
        raise ValueError(f"origin and plane must be joints 0..{J - 1}, got {j!r}")
    return int(j)
