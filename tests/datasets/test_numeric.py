"""Regression, graphical models, matrices, functions, tasks: simulated moments against the stated truth.

Tolerances are four standard errors of the Monte Carlo mean, or five where the largest of many is taken.
"""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

from learnable.datasets import control, functions, graphical, load, matrices, regression, tasks


@pytest.mark.parametrize("kind", ["toeplitz", "circulant", "equicorrelated"])
def test_designs_have_their_covariance(kind):
    made = regression.make_sparse_linear(40_000, 12, design=kind, rho=0.1, band=2, n_nonzero=3, random_state=0)
    assert np.abs(np.cov(made.data.T) - made.cov).max() < 5 * np.sqrt(2 / 40_000)
    np.testing.assert_allclose(made.data @ made.coef, made.signal)
    assert abs((made.target - made.signal).std() - 1) < 4 / np.sqrt(80_000)


def test_circulant_design_of_the_debiased_lasso():
    cov = regression.design_covariance("circulant", 600, rho=0.1, band=5)
    values = np.linalg.eigvalsh(cov)
    assert abs(values[0] - 0.654) < 1e-3 and abs(values[-1] - 2.0) < 1e-9
    assert abs(np.linalg.inv(cov)[0, 0] - 1.0725) < 1e-4
    with pytest.raises(ValueError, match="not positive definite"):
        regression.design_covariance("equicorrelated", 5, rho=-0.5)


def test_coefficient_patterns():
    p = 100
    make = lambda **k: regression.make_sparse_linear(5, p, random_state=0, **k).coef  # noqa: E731
    assert np.flatnonzero(make(pattern="first", n_nonzero=4)).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(make(pattern="spread", n_nonzero=4)).tolist() == [0, 25, 50, 75]
    spikes = make(pattern="spikes", n_nonzero=30, size=2.0)
    assert set(spikes[spikes != 0]) == {-2.0, 2.0} and np.count_nonzero(spikes) == 30
    steps = make(pattern="steps")
    assert (steps == 1).sum() == 10 and (steps == 2).sum() == 20 and np.count_nonzero(np.diff(steps)) == 4
    with pytest.raises(ValueError, match="n_nonzero"):
        make(n_nonzero=101)


def test_friedman_agrees_with_scikit_learn():
    from sklearn import datasets

    for kind, maker in ((1, datasets.make_friedman1), (2, datasets.make_friedman2), (3, datasets.make_friedman3)):
        made = regression.make_friedman(kind, 20_000, random_state=0)
        theirs = maker(20_000, noise=0.0, random_state=0)[1]
        assert abs(made.signal.mean() - theirs.mean()) < 6 * theirs.std() / np.sqrt(20_000)
        assert abs(made.signal.std() / theirs.std() - 1) < 0.05
        assert abs((made.target - made.signal).std() / made.sigma - 1) < 0.03


def test_curves():
    for kind in ("sinc", "sinc4", "step", "sine", "jump"):
        made = regression.make_curve(kind, 4000, random_state=0)
        low, high = made.interval
        assert made.data.min() >= low and made.data.max() <= high
        assert abs((made.target - made.signal).std() - 0.1) < 0.006
    x = np.array([0.3, 1.2])
    np.testing.assert_allclose(regression.make_curve("sinc4", 1).function(x), np.sin(4 * x) / (4 * x))
    moved = regression.make_curve("sine", 60, outliers=3, random_state=0)
    assert (np.abs(moved.target - moved.signal)[moved.outliers] > 2).all() and len(moved.outliers) == 3


def test_gapped_sinc():
    one = regression.make_gapped_sinc(1, random_state=0)
    assert (
        one.data.shape == (55, 1) and (np.abs(one.data[:52]) >= 1.43).all() and one.target[-3:].tolist() == [1, 0, -1]
    )
    two = regression.make_gapped_sinc(2)
    assert not ((np.abs(two.data[:-3, 0]) < 1.4303) & (np.abs(two.data[:-3, 1]) < 1)).any()
    np.testing.assert_allclose(two.target[:-3], np.sinc(two.data[:-3]).prod(axis=1))


def test_heavy_design_keeps_the_signal_variance():
    for share in (0.0, 0.05):
        made = regression.make_heavy_design(200_000, outliers=share, random_state=0)
        assert abs(made.signal.var() - 3) < 0.3
        assert abs(made.outlying.mean() - share) < 0.003
        noise = made.target - made.signal
        v = 1 + 99 * share
        assert abs(noise[~made.outlying].var() * v - 1) < 0.02


def test_robot_arm_against_homogeneous_matrices():
    made = regression.make_robot_arm(6, sigma=0.0, random_state=0)
    theta, alpha, a, d = made.data.reshape(6, 4, 8).transpose(1, 0, 2)
    ends = []
    for row in range(6):
        chain = np.eye(4)
        for j in range(8):
            c, s = np.cos(theta[row, j]), np.sin(theta[row, j])
            ca, sa = np.cos(alpha[row, j]), np.sin(alpha[row, j])
            x, z = a[row, j], d[row, j]
            chain = chain @ np.array(
                [[c, -s * ca, s * sa, x * c], [s, c * ca, -c * sa, x * s], [0, sa, ca, z], [0, 0, 0, 1]]
            )
        ends.append(np.linalg.norm(chain[:3, 3] - 0.1))
    ends = np.array(ends)
    np.testing.assert_allclose(made.signal, (ends - ends.mean()) / ends.std())


def test_gene_regression_and_voxels():
    made = regression.make_gene_regression(6000, p=120, random_state=0)
    correlation = np.corrcoef(made.data.T)
    same = (made.block[:, None] == made.block) & ~np.eye(120, dtype=bool)
    assert abs(correlation[same].mean() - 0.5) < 0.03
    assert abs(correlation[made.block[:, None] != made.block].mean() - 0.2) < 0.03
    voxels = regression.make_voxels(2000, shape=(6, 6, 6), random_state=0)
    grid = voxels.data.reshape(-1, 6, 6, 6)
    near = np.corrcoef(grid[:, 2, 2, 2], grid[:, 2, 2, 3])[0, 1]
    # Two Gaussian filters of width one, a voxel apart: exp(-1/4).
    assert abs(near - np.exp(-0.25)) < 0.05 and set(np.unique(voxels.coef)) <= {-1.0, 0.0, 1.0}


def test_copy_number_segments():
    made = regression.make_copy_number(40_000, random_state=0)
    assert np.array_equal(np.flatnonzero(np.diff(made.signal)) + 1, made.breaks)
    assert abs(np.diff(made.breaks).mean() - 40) < 4 * 40 / np.sqrt(len(made.breaks)) + 0.5
    assert set(np.unique(made.signal)) == {-1, 0, 1, 2} and abs((made.target - made.signal).std() - 0.25) < 0.004


def test_precision_matrices():
    chain = graphical.precision_matrix("chain", 1000)
    assert np.count_nonzero(chain) == 2998
    sparse = graphical.precision_matrix("random", 1000, random_state=0)
    assert 9_000 < np.count_nonzero(sparse) < 11_500 and np.linalg.eigvalsh(sparse)[0] > 0.99
    blocks = graphical.precision_matrix("random", 10, copies=3, random_state=0)
    assert blocks.shape == (30, 30) and np.array_equal(blocks[:10, :10], blocks[20:, 20:])


@pytest.mark.parametrize("kind", ["chain", "random", "hubs", "two-hubs", "scale-free", "covariance-hubs"])
def test_gaussian_graphs_have_their_precision(kind):
    made = graphical.make_gaussian_graph(kind, 60_000, p=12, n_hubs=2, random_state=0)
    np.testing.assert_allclose(made.precision @ made.cov, np.eye(12), atol=1e-8)
    sample = np.cov(made.data.T)
    scale = np.sqrt(np.outer(np.diag(made.cov), np.diag(made.cov)))
    assert (np.abs(sample - made.cov) / scale).max() < 5 * np.sqrt(2 / 60_000)
    matrix = made.cov if kind == "covariance-hubs" else made.precision
    assert np.array_equal(made.adjacency, (np.abs(matrix) > 1e-12) & ~np.eye(12, dtype=bool))


def test_hub_graphs():
    adjacency, hubs = graphical.hub_adjacency(300, 6, random_state=0)
    degree = adjacency.sum(axis=0)
    assert abs(degree[hubs].mean() - 0.7 * 299) < 12
    assert abs(np.delete(degree, hubs).mean() - (0.02 * 293 + 0.7 * 6)) < 0.5
    halves, hubs = graphical.hub_adjacency(100, 4, components=2, random_state=0)
    assert not halves[:50, 50:].any() and (hubs < 50).sum() == 2
    free = graphical.make_gaussian_graph("scale-free", 2, p=600, random_state=0).adjacency.sum(axis=0)
    assert free.max() > 10 * np.median(free)


def test_ising_against_enumeration():
    theta = np.array([[0.2, 0.8, 0.0], [0.8, -0.5, -0.6], [0.0, -0.6, 0.1]])
    n = 30_000
    made = graphical.make_ising(n, theta, n_sweeps=30, random_state=0)
    states = np.array(list(itertools.product([0, 1], repeat=3)))
    mass = np.exp(np.einsum("si,ij,sj->s", states, np.triu(theta), states))
    mass /= mass.sum()
    seen = np.bincount((made.data @ [4, 2, 1]).astype(int), minlength=8) / n
    assert (np.abs(seen - mass) < 5 * np.sqrt(mass / n)).all()
    with pytest.raises(ValueError, match="symmetric"):
        graphical.make_ising(5, np.triu(np.ones((3, 3))))


@pytest.mark.parametrize("noise", ["gaussian", "laplace", "uniform", "t", "mixed"])
def test_linear_sem_covariance(noise):
    n = 60_000
    made = graphical.make_linear_sem(n, p=8, noise=noise, variances=(0.4, 1.6), signed=True, random_state=1)
    assert np.abs(np.cov(made.data.T) - made.cov).max() < 0.05 * made.cov.max()
    np.testing.assert_allclose(made.precision @ made.cov, np.eye(8), atol=1e-9)
    rank = np.argsort(made.order)
    causes, effects = np.nonzero(made.adjacency)
    assert (rank[causes] < rank[effects]).all()
    assert np.array_equal(made.coef != 0, made.adjacency)
    # Regressing a vertex on its parents gives the direct effects.
    vertex = int(made.adjacency.sum(axis=0).argmax())
    above = np.flatnonzero(made.adjacency[:, vertex])
    fitted = np.linalg.lstsq(made.data[:, above], made.data[:, vertex], rcond=None)[0]
    np.testing.assert_allclose(fitted, made.coef[above, vertex], atol=0.05)


def test_total_effects_are_interventions():
    made = graphical.make_linear_sem(2, p=6, expected_degree=3, random_state=2)
    cause, effect = made.order[0], made.order[-1]
    x = np.zeros(6)
    for vertex in made.order:
        x[vertex] = 1.0 if vertex == cause else x @ made.coef[:, vertex]
    assert x[effect] == pytest.approx(made.total_effects[cause, effect])


def test_dags_and_hiding():
    p, degree = 60, 4.0
    graphs = [graphical.random_dag(p, degree, random_state=s)[0] for s in range(60)]
    mean = np.mean([2 * g.sum() / p for g in graphs])
    assert abs(mean - degree) < 4 * np.sqrt(degree / (60 * p / 2)) * 2
    for kind, edges in (("chain", 9), ("tree", 9), ("star", 9), ("collider", 9)):
        adjacency, order = graphical.random_dag(10, kind=kind, random_state=0)
        assert adjacency.sum() == edges and np.linalg.matrix_power(adjacency.astype(int), 10).sum() == 0
        rank = np.argsort(order)
        assert all(rank[a] < rank[b] for a, b in np.argwhere(adjacency))
    hidden = graphical.make_linear_sem(5, p=50, expected_degree=4, hide=True, random_state=0)
    gone = np.setdiff1d(np.arange(50), hidden.observed)
    assert len(gone) and hidden.data.shape == (5, 50 - len(gone))
    assert (hidden.adjacency[:, gone].sum(axis=0) == 0).all() and (hidden.adjacency[gone].sum(axis=1) >= 2).all()
    with pytest.raises(ValueError, match="cycle"):
        graphical.make_linear_sem(5, np.array([[0, 1], [1, 0]]))


def test_bayesnet_rows_follow_their_probabilities():
    made = graphical.make_bayesnet(20_000, p=12, max_parents=3, random_state=0)
    assert np.linalg.matrix_power(made.adjacency.astype(int), 12).sum() == 0
    residual = (made.data - made.probability).mean(axis=0)
    assert np.abs(residual).max() < 5 * 0.5 / np.sqrt(20_000)
    vertex = next(v for v in range(12) if len(made.parents[v]) == 2)
    rows = made.data[:, list(made.parents[vertex])] @ [2, 1]
    assert all(len(np.unique(made.probability[rows == r, vertex])) <= 1 for r in range(4))


def test_stored_network_marginals():
    """Exact marginals of ASIA by enumeration."""
    net, n = load("asia"), 40_000
    X = graphical.sample_bayesnet(net, n, random_state=0)
    exact = np.zeros((8, 2))
    for state in itertools.product([0, 1], repeat=8):
        mass = np.prod(
            [
                t[(*(state[p] for p in above), state[v])]
                for v, (t, above) in enumerate(zip(net.tables, net.parents, strict=True))
            ]
        )
        for v, s in enumerate(state):
            exact[v, s] += mass
    np.testing.assert_allclose(exact.sum(axis=1), 1)
    assert np.abs(X.mean(axis=0) - exact[:, 1]).max() < 5 * 0.5 / np.sqrt(n)


def test_tree_field_correlations():
    made = graphical.make_binary_tree_field(30_000, p=6, flip=0.2, random_state=0)
    correlation = np.corrcoef(made.data.T)
    for a, b in made.edges:
        assert abs(correlation[a, b] - 0.6) < 0.025
    assert len(made.edges) == 5


def test_low_rank_and_ratings():
    made = matrices.make_low_rank((300, 200), 4, noise=0.0, observed=5000, random_state=0)
    np.testing.assert_allclose(made.value, made.matrix[made.row, made.column])
    assert np.linalg.matrix_rank(made.matrix) == 4 and abs(made.matrix.std() - 1) < 0.15
    assert len(set(zip(made.row, made.column, strict=True))) == 5000
    skewed = matrices.make_low_rank((300, 200), 2, observed=0.1, skew=(1.0, 0.0), random_state=0)
    assert np.sort(np.bincount(skewed.row))[-10:].mean() > 5 * np.bincount(skewed.row).mean()
    ratings = matrices.make_ratings(random_state=0)
    assert len(ratings.rating) == 100_000 and ratings.shape == (943, 1682)
    # MovieLens-100K: mean 3.53, standard deviation 1.13.
    assert abs(ratings.rating.mean() - 3.53) < 0.1 and abs(ratings.rating.std() - 1.13) < 0.1
    with pytest.raises(ValueError, match="observed"):
        matrices.make_low_rank((3, 3), 1, observed=10)


def test_factorizations():
    made = matrices.make_planted_nmf((30, 50), 5, noise=0.0, random_state=0)
    np.testing.assert_allclose(made.data, made.W @ made.H)
    np.testing.assert_allclose(made.W.sum(axis=0), 1)
    assert (np.count_nonzero(made.W, axis=1) == 1).all()
    tensor = matrices.make_symmetric_tensor(6, 4, noise=0.05, random_state=0)
    for order in itertools.permutations(range(3)):
        np.testing.assert_allclose(tensor.tensor.transpose(order), tensor.tensor)
    np.testing.assert_allclose(tensor.components @ tensor.components.T, np.eye(4), atol=1e-12)
    mixed = matrices.make_mixed_sources(100_000, ("uniform", "laplace", "sign"), random_state=0)
    np.testing.assert_allclose(np.cov(mixed.sources.T), np.eye(3), atol=0.03)
    np.testing.assert_allclose(stats.kurtosis(mixed.sources), mixed.kurtosis, atol=0.4)
    np.testing.assert_allclose(mixed.data, mixed.sources @ mixed.mixing.T)


@pytest.mark.parametrize("name", functions.objectives())
def test_minima_are_minima(name):
    f = functions.objective(name)
    values = [float(f(x)) for x in f.minimisers]
    np.testing.assert_allclose(values, f.minimum, rtol=1e-7, atol=1e-7)
    X = f.sample(4000, 0)
    assert f(X).min() >= f.minimum - 1e-9
    start = X[f(X).argmin()]
    box = optimize.Bounds(f.low, f.high)
    found = optimize.minimize(lambda x: float(f(x)), start, bounds=box, method="L-BFGS-B").fun
    assert found >= f.minimum - 1e-6 * max(1, abs(f.minimum))
    with pytest.raises(ValueError, match="columns"):
        f(np.zeros((2, f.d + 1)))


def test_processes():
    x = np.linspace(0, 1, 5)[:, None]
    for kernel, near in (
        ("rbf", np.exp(-0.5 * 1.25**2)),
        ("matern32", (1 + np.sqrt(3) * 1.25) * np.exp(-np.sqrt(3) * 1.25)),
    ):
        draws = functions.gp_draw(x, kernel=kernel, length_scale=0.2, variance=2.0, n_draws=20_000, random_state=0)
        cov = np.cov(draws.T)
        assert abs(cov[0, 0] - 2) < 0.12 and abs(cov[0, 1] - 2 * near) < 0.12
    queue = functions.mm1_waiting_times([0.3, 0.6], n_replications=200, run_length=2000, random_state=0)
    error = queue.data.std(axis=1) / np.sqrt(200)
    assert (np.abs(queue.data.mean(axis=1) - queue.expected) < 4 * error + 0.01).all()
    vaccine = functions.make_vaccine_twin(random_state=0)
    assert (vaccine.reward == vaccine.reward.max()).sum() == 124
    arms = functions.make_electrode_twin(random_state=0)
    assert arms.reward.min() == 0 and arms.reward.max() == 3 and len(np.unique(arms.data, axis=0)) == 116


def test_task_means():
    made = tasks.make_mean_tasks(4000, variance=0.5, random_state=0)
    assert abs(made.means.var() - 0.5) < 0.05 and abs(made.variances.mean() - 1.0) < 0.06
    gaps = np.array([y.mean() for y in made.data]) - made.means
    assert abs((gaps * np.sqrt(made.sizes / made.variances)).std() - 1) < 0.05
    uniform = tasks.make_mean_tasks(4000, variance=0.5, kind="uniform", random_state=0)
    assert abs(uniform.means.var() - 0.5) < 0.03 and np.abs(uniform.means).max() <= np.sqrt(1.5)
    stars = tasks.make_star_ratings(4000, mean_reviews=8, random_state=0)
    assert abs(stars.sizes.mean() - 8) < 0.6 and set(np.unique(np.concatenate(stars.data))) == {1, 2, 3, 4, 5}
    assert abs(np.mean([y.mean() for y in stars.data] - stars.means)) < 0.03


def test_deep_sea_treasure_front():
    sea = control.deep_sea_treasure()
    # Breadth-first search from the start gives the length of the shortest path to each treasure.
    steps, frontier = {sea.start: 0}, [sea.start]
    while frontier:
        state = frontier.pop(0)
        for after in sea.successor[state]:
            if not sea.terminal[state] and after not in steps:
                steps[after] = steps[state] + 1
                frontier.append(after)
    found = sorted(steps[s] for s in np.flatnonzero(sea.terminal))
    assert found == sorted(sea.paths) and (-sea.front[:, 0]).tolist() == sea.paths.tolist()
    assert len(sea.front) == 10 and (np.diff(sea.front[:, 1]) > 0).all()
    # Hypervolume of the front for the reference (-25, 0).
    x, y = sea.front.T
    volume = sum((a + 25) * (b - c) for a, b, c in zip(x, y, [0, *y[:-1]], strict=True))
    assert volume == 1155
    deep = control.deep_sea_treasure("convex", pressure=True)
    assert deep.reward.shape[-1] == 3 and deep.front[-1].tolist() == [-19, 175, -55]
    with pytest.raises(ValueError, match="ten"):
        control.deep_sea_treasure([1, 2])


def test_tables_are_stochastic():
    pyramid = control.pyramid_mdp()
    np.testing.assert_allclose(pyramid.transition.sum(axis=2), 1)
    assert len(pyramid.front) == 11
    ordered = pyramid.front[np.argsort(pyramid.front[:, 0])]
    volume = sum((x + 20) * (y - lower) for (x, y), lower in zip(ordered, [*ordered[1:, 1], -20], strict=True))
    assert volume == 386  # reference point (-20, -20)
    for made in (control.three_state_mdp(), control.ring_mdp(), control.random_mdp(6, 2, random_state=0)):
        np.testing.assert_allclose(made.transition.sum(axis=2), 1)
    maze = control.colored_grid_world()
    np.testing.assert_allclose(maze.transition.sum(axis=2), 1)
    assert len(maze.cells) == 47 and maze.n_observations == 20
    assert control.colored_grid_world("walls").n_observations < 16
    assert maze.reward.max() == 0.8 and not maze.transition[:, :, maze.goal].any()


def test_a_linear_policy_balances_the_pole():
    rng = np.random.default_rng(0)
    state = rng.uniform(-0.05, 0.05, (20, 4))
    for _ in range(1000):
        state, balanced = control.cart_pole_step(state, (state @ [0.02, 0.1, 0.6, 0.4] > 0).astype(int))
        assert balanced.all()
    for _ in range(300):
        state, balanced = control.cart_pole_step(state, np.ones(20, dtype=int))
    assert not balanced.any() and (np.abs(state[:, 2]) <= np.pi / 2).all()
    with pytest.raises(ValueError, match="action"):
        control.cart_pole_step(state, 2 * np.ones(20))
