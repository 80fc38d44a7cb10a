"""Graphs, curves, rankings, motion, images and bags: structure and frequencies against what was asked for."""

import itertools

import numpy as np
import pytest
from scipy import ndimage
from scipy.sparse import csgraph

from learnable.datasets import bags, geometry, images, motion, networks, rankings


@pytest.mark.parametrize("p, rho", [(0.1, 0.3), (0.5, 0.0), (0.5, 0.9), (0.3, 1.0)])
def test_correlated_graphs(p, rho):
    n = 300
    made = networks.make_correlated_graphs(n, p, rho, random_state=0)
    q = made.permutation
    upper = np.triu_indices(n, 1)
    a, b = made.first[upper], made.second[np.ix_(q, q)][upper]
    m = len(a)
    assert abs(a.mean() - p) < 4 * np.sqrt(p * (1 - p) / m) and abs(b.mean() - p) < 4 * np.sqrt(p * (1 - p) / m)
    assert abs(np.corrcoef(a, b)[0, 1] - rho) < 4 / np.sqrt(m)
    assert not np.diag(made.first).any() and np.array_equal(made.second, made.second.T)
    with pytest.raises(ValueError, match="p must be"):
        networks.make_correlated_graphs(5, 1.5)


def test_block_model_and_attachment():
    made = networks.make_block_model((150, 100), [[0.3, 0.05], [0.05, 0.2]], random_state=0)
    within = made.adjacency[:150, :150].sum() / (150 * 149)
    between = made.adjacency[:150, 150:].mean()
    assert abs(within - 0.3) < 0.02 and abs(between - 0.05) < 0.01 and made.expectation[0, 200] == 0.05
    grown = networks.make_preferential_attachment(400, 3, random_state=0)
    degree = grown.sum(axis=0)
    assert grown.sum() == 2 * (3 + 3 * 396) and degree.min() >= 1 and degree.max() > 8 * np.median(degree)
    with pytest.raises(ValueError, match="symmetric"):
        networks.make_block_model((3, 3), [[0.1, 0.2], [0.3, 0.1]])


def test_small_world_and_mesh():
    ring = networks.make_small_world(200, 6, 0.0).adjacency
    assert (np.asarray(ring.sum(axis=0)).ravel() == 6).all()
    world = networks.make_small_world(2000, 8, 0.05, random_state=0)
    assert world.adjacency.sum() == 2 * 8000 and abs(len(world.rewired) - 400) < 80
    mesh = networks.make_mesh(400, random_state=0).adjacency
    assert csgraph.connected_components(mesh)[0] == 1 and mesh.sum() / 2 <= 3 * 400 - 6


def test_connectomes_have_twins_and_sites():
    made = networks.make_connectomes((5, 5), random_state=0)
    assert np.array_equal(made.points[:35], made.points[35:])
    first, second = (g.astype(float) for g in made.graphs)
    upper = np.triu_indices(70, 1)
    flat = [np.sqrt(g[:, upper[0], upper[1]]) for g in (first, second)]
    inside = np.corrcoef(flat[0])[np.triu_indices(5, 1)].mean()
    across = np.mean([np.corrcoef(x, y)[0, 1] for x in flat[0] for y in flat[1]])
    assert inside > across > 0.5  # a site effect
    near, far = first[0][:35, :35].mean(), first[0][:35, 35:].mean()
    assert near > 3 * far


def test_roll_calls_polarise():
    made = networks.make_roll_calls(6, n_members=60, n_votes=300, dip=False, random_state=0)
    A = made.adjacency
    assert A.shape == (360, 360) and (A != A.T).nnz == 0

    def gap(period):
        block = A[60 * period : 60 * period + 60, 60 * period : 60 * period + 60].toarray()
        party = made.party[60 * period : 60 * period + 60]
        same = party[:, None] == party
        np.fill_diagonal(same, False)
        return block[same].mean() - block[party[:, None] != party].mean()

    assert gap(5) > gap(0) + 0.15
    links = A[:60, 60:120]
    assert set(np.unique(links.data)) == {1.0} and abs(links.nnz / 60 - 0.8) < 0.2
    stay = np.flatnonzero(np.asarray(links.sum(axis=1)).ravel())
    assert np.array_equal(made.member[stay], made.member[60 + stay])


def test_similarities_hide_the_fields():
    """In the neighbourhood of a point, most of the nearest belong to its area or field: (alpha, nu)-good by design."""
    n = 256
    made = networks.make_area_similarity(n, random_state=0)
    K, field, area = made.similarity, made.target, made.area
    assert np.array_equal(K, K.T) and made.boundary.sum() == n // 8
    inner = ~made.boundary
    assert (K[area[:, None] == area] >= 0.99).all()
    across = (field[:, None] != field) & inner[:, None] & inner
    assert set(np.unique(K[across])) == {0.0}
    mixed = (field[:, None] != field) & (inner[:, None] != inner)
    assert abs((K[mixed] == 1).mean() - 2 / n) < 4 * np.sqrt(2 / n / (mixed.sum() / 2))
    worse = networks.make_area_similarity(n, bad_links=0.05, bad_points=0.1, random_state=0).similarity
    assert np.array_equal(worse, worse.T) and (worse != K).mean() > 0.1
    regions = networks.make_matched_regions(6, random_state=0)
    wrong = (regions.similarity == 1) & (regions.target[:, None] != regions.target)
    assert (wrong.sum(axis=1) == 1).all()
    with pytest.raises(ValueError, match="32"):
        networks.make_area_similarity(100)


def test_bounded_digraph():
    for seed in range(10):
        graph = networks.make_bounded_digraph(9, random_state=seed)
        total = graph.sum(axis=0) + graph.sum(axis=1)
        assert total.max() <= 3 and graph.sum(axis=0).min() >= 1 and graph.sum(axis=1).min() >= 1
        assert csgraph.connected_components(graph, connection="strong")[0] == 1
    assert networks.make_bounded_digraph(5, n_chords=0, random_state=0).sum() == 5


def test_curves_lie_where_they_say():
    spiral = geometry.make_spiral(200, noise=0.0, random_state=0)
    np.testing.assert_allclose(np.hypot(*spiral.data.T), 0.04 * spiral.t)
    closed = geometry.make_harmonic_curve(50, random_state=0)
    np.testing.assert_allclose(closed.curve(0.0), closed.curve(2 * np.pi), atol=1e-12)
    np.testing.assert_allclose(closed.data[:, 0], 1.2 * np.cos(closed.t))
    noisy = geometry.make_harmonic_curve(5000, noise=0.1, random_state=0)
    assert abs((noisy.data - noisy.curve(noisy.t)).std() - 0.1) < 0.003


@pytest.mark.parametrize(
    "kind, degrees, n_edges",
    [
        ("segment", [1, 1], 1),
        ("Y", [1, 1, 1, 3], 3),
        ("theta", [3, 3], 3),
        ("lens", [1, 1, 3, 3], 4),
        ("eight", [4], 2),
        ("ladder", [2, 2, 2, 2, 3, 3, 3, 3, 3, 3], 13),
        ("spiral", [1, 1, 1, 3], 3),
    ],
)
def test_filament_topology(kind, degrees, n_edges):
    graph = geometry.filament_graph(kind)
    assert sorted(graph.degrees.tolist()) == degrees and len(graph.edges) == n_edges
    for (a, b), curve in zip(graph.edges, graph.curves, strict=True):
        np.testing.assert_allclose(curve[[0, -1]], graph.vertices[[a, b]], atol=1e-9)


def test_lens_geometry_and_samples():
    lens = geometry.filament_graph("lens")
    arcs = [np.linalg.norm(np.diff(c, axis=0), axis=1).sum() for c in lens.curves[:2]]
    np.testing.assert_allclose(arcs, np.pi / 3, rtol=1e-4)  # radius 1, angle pi/3
    made = geometry.make_filaments("lens", 30_000, random_state=0)
    share = np.bincount(made.edge) / 30_000
    lengths = [np.linalg.norm(np.diff(c, axis=0), axis=1).sum() for c in made.graph.curves]
    assert np.abs(share - np.array(lengths) / made.graph.length).max() < 4 * 0.5 / np.sqrt(30_000)
    moved = geometry.make_filaments("segment", 3000, noise=0.1, random_state=0)
    assert np.abs(moved.data[:, 1]).max() <= 0.1


def test_neuron_keeps_its_branches_apart():
    neuron = geometry.filament_graph("neuron", size=6, random_state=0)
    assert neuron.vertices.shape[1] == 3 and set(neuron.degrees) == {1, 3}
    assert neuron.degrees.sum() == 2 * len(neuron.edges) == 2 * (len(neuron.vertices) - 1)
    lengths = [np.linalg.norm(neuron.vertices[a] - neuron.vertices[b]) for a, b in neuron.edges]
    assert min(lengths) >= 100 and max(lengths) <= 150


def kendall(a, b):
    place = np.argsort(b)
    ranks = place[np.asarray(a)]
    return sum(x > y for x, y in itertools.combinations(ranks, 2))


def test_mallows_by_enumeration():
    n, phi, centre = 40_000, 0.6, [2, 0, 3, 1]
    made = rankings.make_mallows(n, centre, phi, random_state=0)
    orders = list(itertools.permutations(range(4)))
    mass = np.array([phi ** kendall(o, centre) for o in orders])
    mass /= mass.sum()
    index = {o: i for i, o in enumerate(orders)}
    seen = np.bincount([index[tuple(r)] for r in made.data.tolist()], minlength=24) / n
    assert (np.abs(seen - mass) < 5 * np.sqrt(mass / n)).all()
    assert made.expected_distance == pytest.approx(mass @ [kendall(o, centre) for o in orders])
    uniform = rankings.make_mallows(20_000, 3, 1.0, random_state=0).data
    assert np.abs(np.unique(uniform, axis=0, return_counts=True)[1] / 20_000 - 1 / 6).max() < 0.012
    with pytest.raises(ValueError, match="ranking"):
        rankings.make_mallows(5, [0, 0, 1])


def test_sushi_twin_pairs():
    """Predicting pairs without any evidence loses sum 2 p (1 - p) / 45 = 0.429 (Lu and Boutilier report 0.43)."""
    made = rankings.make_sushi_twin(20_000, random_state=0)
    place = np.argsort(made.data, axis=1)
    p = np.array([(place[:, a] < place[:, b]).mean() for a, b in itertools.combinations(range(10), 2)])
    assert abs((2 * p * (1 - p)).mean() - 0.429) < 0.004
    assert made.priors.sum() == pytest.approx(1)
    shown = rankings.reveal_pairs(made.data[:2000], 0.2, random_state=0)
    assert abs(np.mean([len(s) for s in shown]) - 9) < 0.3
    for pairs, row in zip(shown[:50], place[:50], strict=True):
        assert (row[pairs[:, 0]] < row[pairs[:, 1]]).all()


def test_choice_models():
    w = np.array([3.0, 2.0, 1.0])
    made = rankings.make_plackett_luce(40_000, w, random_state=0)
    assert np.abs(np.bincount(made.data[:, 0]) / 40_000 - w / 6).max() < 0.01
    both = made.data[made.data[:, 0] == 0][:, 1]
    assert abs((both == 1).mean() - 2 / 3) < 0.015
    games = rankings.make_bradley_terry(40_000, w, random_state=0)
    wins = games.wins[0, 2] / (games.wins[0, 2] + games.wins[2, 0])
    assert abs(wins - 0.75) < 0.015 and games.wins.sum() == 40_000 and not np.diag(games.wins).any()


def test_schedule():
    made = rankings.make_schedule(random_state=0)
    assert made.laplacian.shape == (119, 119) and np.allclose(made.laplacian.sum(axis=0), 0)
    assert -made.laplacian[np.triu_indices(119, 1)].sum() == 693
    inside = made.conference[made.games[:, 0]] == made.conference[made.games[:, 1]]
    assert inside.sum() == 10 * 44 + 36
    second = [np.linalg.eigvalsh(rankings.make_schedule(random_state=s).laplacian)[1] for s in range(6)]
    assert 1.2 < np.mean(second) < 2.2  # the league of the article has 1.725
    residual = made.outcomes - (made.scores[made.games[:, 0]] - made.scores[made.games[:, 1]])
    assert abs(residual.std() - 5) < 4 * 5 / np.sqrt(2 * 693)
    with pytest.raises(ValueError, match="n_games"):
        rankings.make_schedule((5, 5), n_games=46)


def test_rating_twins():
    made = rankings.make_movie_scores(400, 100, random_state=0)
    assert made.rating.min() >= 1 and made.rating.max() <= 13
    popularity = np.bincount(made.item, minlength=100)
    assert popularity[:10].mean() > 3 * popularity[50:].mean()
    ranks = rankings.make_rank_ratings(300, 40, random_state=0)
    place = np.argsort(ranks.rankings, axis=1)[ranks.user, ranks.item]
    assert np.array_equal(ranks.rating, 5 - place * 5 // 40) and set(ranks.rating) == {1, 2, 3, 4, 5}


def test_gesture_stream():
    made = motion.make_gesture_stream(6, random_state=0)
    assert len(made.segments) == 60 and np.bincount(made.segments[:, 2]).tolist() == [6] * 10
    for start, stop, label in made.segments:
        assert (made.target[start:stop] == label + 1).all() and 45 <= stop - start <= 60
    assert abs((made.target == 0).mean() - 0.57) < 0.03
    null = made.data[made.target == 0]
    assert abs(np.median(null[:, 1]) + 9.81) < 0.3
    # A mirrored shape has the first axis turned round.
    calm = motion.make_gesture_stream(1, n_classes=2, variability=0.0, noise=0.0, random_state=0)
    waves = {label: calm.data[start:stop] for start, stop, label in calm.segments}
    np.testing.assert_allclose(waves[0][:, 0], -waves[1][:, 0], atol=1e-9)
    np.testing.assert_allclose(waves[0][:, 1], waves[1][:, 1], atol=1e-9)


def test_drawn_gestures_and_streams():
    made = motion.make_curve_gestures(10, random_state=0)
    assert {len(s) for s in made.data} <= set(range(40, 91)) and np.bincount(made.target).tolist() == [10] * 6
    circles = [s for s, y in zip(made.data, made.target, strict=True) if y == 0]
    assert all(np.hypot(*s.T).std() < 0.06 for s in circles)
    stream = motion.make_motion_stream(30, random_state=0)
    assert abs((stream.target == 0).mean() - 0.7) < 0.03
    assert abs(stream.data[stream.target == 0].std() / stream.data[stream.target > 0].std() - 1) < 0.25
    fast = motion.make_curve_gestures(2, kind="acceleration", random_state=0)
    assert abs(np.mean([s[:, 1].mean() for s in fast.data]) - 9.81) < 3


def test_vibrations_have_their_frequency():
    made = motion.make_vibrations(40, noise=0.1, random_state=0)
    for start in range(0, 40 * 256, 5 * 256):
        part, label = made.data[start : start + 1280, 0], made.target[start]
        spectrum = np.abs(np.fft.rfft(part * np.hanning(1280)))
        peak = np.fft.rfftfreq(1280, 1 / 256)[spectrum.argmax()]
        assert abs(peak - (3.0, 7.0, 11.0, 16.0)[label]) < 0.25


def test_skeletons_keep_their_limbs():
    made = motion.make_skeleton_gestures(4, random_state=0)
    upper = [np.linalg.norm(s[:, 5] - s[:, 4], axis=1) for s in made.data]
    for lengths, subject in zip(upper, made.groups, strict=True):
        expected = np.mean([u.mean() for u, g in zip(upper, made.groups, strict=True) if g == subject])
        assert abs(lengths.mean() - expected) < 0.02 and lengths.std() < 0.03


def test_depth_gestures():
    made = motion.make_depth_gestures(3, n_gestures=5, n_test=4, overlap=0.4, depth_noise=0.0, random_state=0)
    curves = [set(b.curves.tolist()) for b in made.batches]
    assert all(len(c) == 5 for c in curves) and len(curves[0] & curves[1]) <= 2
    video = made.batches[0].train[0]
    assert video.dtype == np.uint8 and video.shape[1:] == (48, 64) and set(np.unique(video)) == {110, 150, 200}
    hand = [(f == 110).sum() for f in video]
    assert max(hand) >= 40  # a disc of radius four
    same = motion.make_depth_gestures(2, n_gestures=5, n_test=0, overlap=1.0, random_state=0)
    assert set(same.batches[0].curves) == set(same.batches[1].curves)


def test_blurred_pictures():
    kernel = images.shake_kernel(15, random_state=0)
    assert kernel.min() >= 0 and kernel.sum() == pytest.approx(1) and ndimage.label(kernel > 0, np.ones((3, 3)))[1] == 1
    made = images.make_blurred("camera", kernel=kernel, noise=0.0, shape=(60, 60))
    direct = sum(kernel[i, j] * made.sharp[14 - i : 60 - i, 14 - j : 60 - j] for i in range(15) for j in range(15))
    np.testing.assert_allclose(made.data, direct, atol=1e-10)
    noisy = images.make_blurred("camera", kernel=kernel, noise=0.05, shape=(60, 60), random_state=0)
    assert abs((noisy.data - made.data).std() - 0.05) < 0.004
    spikes = images.make_spike_train(random_state=0)
    np.testing.assert_allclose(spikes.data, np.convolve(spikes.spikes, spikes.kernel))
    for bad in ({"kernel": 14}, {"kernel": 15, "shape": (10, 10)}):
        with pytest.raises(ValueError, match=r"odd|larger"):
            images.make_blurred("camera", **bad)


def test_phantom_and_silhouette():
    phantom = images.shepp_logan(256)
    assert set(np.round(np.unique(phantom), 10)) <= {0.0, 0.1, 0.2, 0.3, 0.4, 1.0}
    # The head is an ellipse; two ellipses inside it, the ventricles, are zero but for small overlaps.
    inside = np.pi * (0.69 * 0.92 - 0.11 * 0.31 - 0.16 * 0.41) / 4
    assert abs((phantom > 0).mean() - inside) < 0.005
    noisy = images.make_noisy_silhouette(random_state=0)
    assert abs((noisy.data != noisy.target).mean() - 0.2) < 4 * 0.4 / 100 and 0.2 < noisy.target.mean() < 0.5


def test_rooms_are_consistent():
    shares = np.zeros(6)
    for seed in range(30):
        room = images.make_room(random_state=seed)
        shares += np.bincount(room.target.ravel(), minlength=6)
        assert (room.true_depth > 0).all() and np.isfinite(room.depth).all()
        lost = np.isnan(room.measured_depth)
        np.testing.assert_array_equal(room.depth[~lost], room.measured_depth[~lost])
    shares /= shares.sum()
    assert (shares > 0.01).all() and shares[1] > 0.3
    noise = (room.measured_depth - room.true_depth) / room.true_depth**2
    assert abs(np.nanstd(noise) - 0.01) < 0.001 and abs(lost.mean() - 0.03) < 0.012


def test_the_floor_is_where_geometry_puts_it():
    """Below the horizon the depth of the floor is height / tan(angle): check one column of an empty view."""
    shape = (60, 80)
    rng = np.random.default_rng(0)
    room = list(images._build_room(rng))
    room[0] = np.array([6.0, 6.0, 3.0])
    room[1] = room[2] = np.empty((0, 3))
    depth, kind, _, _ = images._render(tuple(room), np.array([3.0, 0.1, 1.5]), 0.0, 0.0, shape)
    focal = 40 / np.tan(np.deg2rad(29))
    rows = np.arange(60) - 29.5
    floor = kind[:, 40] == 0
    np.testing.assert_allclose(depth[floor, 40], 1.5 * focal / rows[floor])
    np.testing.assert_allclose(depth[kind == 1].max(), 5.9)


def test_room_video_moves_slowly():
    video = images.make_room_video(4, shape=(30, 40), random_state=1)
    labels = [f.target for f in video.frames]
    change = [(a != b).mean() for a, b in itertools.pairwise(labels)]
    assert 0 < np.mean(change) < 0.2
    assert abs(np.rad2deg(video.poses[3][1] - video.poses[0][1]) - 1.5) < 1e-9


def test_rotated_objects_close_their_loop():
    made = images.make_rotated_objects(["coffee"], n_angles=12, n_lights=1, size=16, random_state=0)
    distance = np.linalg.norm(made.data[:, None] - made.data, axis=-1)
    steps = [distance[i, (i + 1) % 12] for i in range(12)]
    assert max(steps) < 2 * np.median(steps) and distance[0, 6] > np.median(steps)


@pytest.mark.parametrize("rule", ["conjunction", "loose", "classical"])
def test_digit_bags(rule):
    made = bags.make_digit_bags(200, rule=rule, random_state=0)
    for bag, label in enumerate(made.target):
        digits = made.digit[made.bags == bag]
        zeros, ones = (digits == 0).sum(), (digits == 1).sum()
        if rule == "classical":
            assert (zeros > 0) == bool(label)
        elif label:
            assert zeros == 1 and ones == 1
        else:
            assert zeros + ones == 1 if rule == "conjunction" else zeros + ones <= 1
    assert made.target.sum() == 100 and (made.index % 2 == 0).all()
    assert (bags.make_digit_bags(10, part="test", random_state=0).index % 2 == 1).all()


def test_scene_bags_obey_their_rules():
    made = bags.make_scene_bags(60, shape=(32, 48), random_state=0)
    kind = {name: made.region_names.index(name) for name in made.region_names}
    for image, label in enumerate(made.target):
        regions = set(made.region[made.bags == image])
        people = kind["people"] in regions
        if label == 0:
            assert kind["rock"] in regions and not people
        elif label == 1:
            assert kind["snow"] in regions and people
        else:
            assert people and regions & {kind["water"], kind["sand"]}
    assert made.images.min() >= 0 and made.images.max() <= 1 and made.data.shape[1] == 8
