"""Counts, topics, sequences, transactions, labels and records: frequencies against the laws they come from."""

import numpy as np
import pytest
from scipy import special, stats

from learnable.datasets import counts, load, multilabel, records, sequences, strings, topics, transactions


def test_entropies_of_known_laws():
    """Natural logarithms; 5.1910 and 1.8772 are the values of Archer, Park and Pillow's laws."""
    zipf = counts.make_symbols(10, kind="zipf", k=1000, exponent=1.0, random_state=0)
    assert zipf.entropy == pytest.approx(5.1910, abs=1e-4)
    assert counts.make_symbols(10, kind="uniform", k=1000).entropy == pytest.approx(np.log(1000))
    poisson = counts.make_symbols(10, kind="poisson")
    assert poisson.entropy == pytest.approx(1.8772, abs=1e-4) and len(poisson.probabilities) == 26
    law = np.array([0.5, 0.25, 0.25])
    made = counts.make_symbols(40_000, law, random_state=0)
    assert made.entropy == pytest.approx(1.5 * np.log(2))
    assert np.abs(np.bincount(made.data) / 40_000 - law).max() < 4 * 0.5 / np.sqrt(40_000)
    with pytest.raises(ValueError, match="sum to one"):
        counts.make_symbols(5, [0.5, 0.6])


def test_pitman_yor_expected_entropy():
    """E[H] = psi(alpha + 1) - psi(1 - d) under PY(d, alpha)."""
    for d, alpha in ((0.0, 10.0), (0.2, 5.0)):
        draws = [special.entr(counts.pitman_yor_weights(d, alpha, random_state=s)).sum() for s in range(300)]
        expected = special.digamma(alpha + 1) - special.digamma(1 - d)
        assert abs(np.mean(draws) - expected) < 4 * np.std(draws) / np.sqrt(300) + 0.01  # what is cut off at tol
    with pytest.raises(ValueError, match="discount"):
        counts.pitman_yor_weights(1.0, 1.0)
    with pytest.raises(ValueError, match="concentration"):
        counts.pitman_yor_weights(0.2, -0.3)


def test_spike_words():
    n = 200_000
    made = counts.make_spike_words(n, n_cells=6, random_state=0)
    assert made.probabilities.sum() == pytest.approx(1)
    seen = np.bincount(made.words, minlength=64) / n
    assert (np.abs(seen - made.probabilities) < 5 * np.sqrt(made.probabilities / n) + 5 / n).all()
    bits = (np.arange(64)[:, None] >> np.arange(6)) & 1
    np.testing.assert_allclose(made.probabilities @ bits, made.rates, rtol=1e-6)
    assert np.corrcoef(made.data.T)[np.triu_indices(6, 1)].mean() > 0.02


def test_genotypes():
    made = counts.make_genotypes(20_000, random_state=0)
    share = (made.data[made.target == 1][:, 2] == 3).mean()
    assert abs(share - made.frequencies[1, 2, 3]) < 0.015


def test_topic_moments():
    """Word pairs of one document: E[x1 x2'] follows from the Dirichlet weights (Anandkumar et al. 2014, Thm. 3.5)."""
    alpha = np.array([0.3, 0.5, 0.2])
    made = topics.make_topics(20_000, n_words=8, alpha0=alpha, k=3, length=6, random_state=0)
    X = made.data.toarray()
    pairs = (X.T @ X - np.diag(X.sum(axis=0))) / (len(X) * 6 * 5)
    a0 = alpha.sum()
    second = (np.outer(alpha, alpha) + np.diag(alpha)) / (a0 * (a0 + 1))
    np.testing.assert_allclose(pairs, made.topics.T @ second @ made.topics, atol=4e-3)
    assert (X.sum(axis=1) == 6).all() and np.allclose(made.weights.mean(axis=0), alpha / a0, atol=0.02)


def test_single_topics():
    made = topics.make_single_topic(6000, n_words=20, k=3, priors=[0.5, 0.3, 0.2], length=(20, 30), random_state=0)
    assert np.abs(np.bincount(made.target) / 6000 - [0.5, 0.3, 0.2]).max() < 4 * 0.5 / np.sqrt(6000)
    for k in range(3):
        words = np.asarray(made.data[made.target == k].sum(axis=0)).ravel()
        np.testing.assert_allclose(words / words.sum(), made.topics[k], atol=0.01)
    with pytest.raises(ValueError, match="topics"):
        topics.make_single_topic(5, topics=[[0.5, 0.6]])


def test_two_topic_documents_and_sources():
    made = topics.make_two_topic_documents(400, random_state=0)
    lengths = np.asarray(made.counts.sum(axis=1)).ravel()
    assert lengths.min() >= 50 and lengths.max() <= 150 and abs(made.target.mean() - 0.5) < 0.01
    np.testing.assert_allclose(made.topics.sum(axis=1), 1)
    overlap = np.minimum(*made.topics).sum()
    assert overlap >= 0.875
    words = topics.make_two_sources(4000, random_state=0)
    for source in (0, 1):
        rate = words.data[words.source == 0][:, words.target == source].mean(axis=1)
        np.testing.assert_allclose(rate, words.rates[words.source == 0, source], atol=0.05)
    np.testing.assert_allclose(words.rates[words.source == 0, 1], 0.15 * words.rates[words.source == 0, 0])


def test_docstrings():
    corpus = topics.load_docstrings()
    sizes = np.bincount(corpus.target)
    assert (sizes > 150).all() and min(map(len, corpus.data)) >= 190
    assert not any("sklearn" in text.split() or "scipy" in text.split() for text in corpus.data)
    assert len(set(corpus.names)) == len(corpus.names)
    with pytest.raises(ValueError, match="not installed"):
        topics.load_docstrings(["no_such_package"])


def test_hmm_frequencies():
    made = sequences.make_hmm("casino", 1, 200_000, random_state=0)
    states, rolls = made.states[0], made.data[0]
    model = made.model
    moves = np.zeros((2, 2))
    np.add.at(moves, (states[:-1], states[1:]), 1)
    np.testing.assert_allclose(moves / moves.sum(axis=1, keepdims=True), model["transmat"], atol=0.006)
    for state in (0, 1):
        seen = np.bincount(rolls[states == state], minlength=6) / (states == state).sum()
        np.testing.assert_allclose(seen, model["emissionprob"][state], atol=0.008)
    ring = sequences.make_hmm("ring", 1, 50_000, random_state=0)
    for state, mean in enumerate(ring.model["means"]):
        assert abs(ring.data[0][ring.states[0] == state].mean() - mean) < 0.06
    assert not ((np.diff(ring.states[0]) % 5) > 2).any()


def test_hmm_shapes_and_bad_models():
    ragged = sequences.sample_hmm(
        5, (3, 9), startprob=[1.0], transmat=[[1.0]], means=[[0.0, 5.0]], sds=0.1, random_state=0
    )
    assert [x.shape[1] for x in ragged.data] == [2] * 5 and {len(x) for x in ragged.data} <= set(range(3, 10))
    with pytest.raises(ValueError, match="either"):
        sequences.sample_hmm(startprob=[1.0], transmat=[[1.0]])
    with pytest.raises(ValueError, match="transmat"):
        sequences.sample_hmm(startprob=[0.5, 0.5], transmat=[[0.5, 0.6], [0.5, 0.5]], means=[0, 1])
    with pytest.raises(ValueError, match="length"):
        sequences.sample_hmm(length=(9, 3), startprob=[1.0], transmat=[[1.0]], means=[0.0])


def test_sticky_chain_bayes_error():
    """Deciding each step alone, the error is Phi(-0.75) = 22.7 percent."""
    made = sequences.make_hmm("sticky", 4000, 20, random_state=0)
    error = ((made.data > 0) != made.states).mean()
    # Neighbouring errors are nearly independent given the states.
    assert abs(error - stats.norm.cdf(-0.75)) < 4 * np.sqrt(0.18 / 80_000)


def test_strings():
    made = strings.make_markov_strings(40, length=300, random_state=0)
    seen = np.zeros((16, 4))
    for string in made.data[:40]:
        codes = np.array(["ACGT".index(c) for c in string])
        np.add.at(seen, (4 * codes[:-2] + codes[1:-1], codes[2:]), 1)
    shares = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    often = seen.sum(axis=1) > 300
    assert np.abs(shares - made.tables[0])[often].max() < 0.1
    motif = strings.make_motif_strings(200, motif="TATAAT", max_gap=0, mutation=0.0, random_state=0)
    assert all("TATAAT" in s for s in motif.data[200:])
    assert np.mean(["TATAAT" in s for s in motif.data[:200]]) < 0.1
    dna = sequences.make_dna_hmm(5, random_state=0)
    assert all(50 <= len(s) <= 400 for s in dna.data)


def test_dialogues_are_recognised_as_stated():
    made = sequences.make_dialogues(2000, random_state=0)
    assert abs(made.accuracy - 0.73) < 0.02
    for words, posteriors, truth, best in zip(
        made.words, made.posteriors, made.transcripts, made.one_best, strict=True
    ):
        np.testing.assert_allclose(posteriors.sum(axis=1), 1)
        assert (words == truth[:, None]).any(axis=1).all()
        assert np.array_equal(words[np.arange(len(words)), posteriors.argmax(axis=1)], best)
    assert {len(t) for t in made.transcripts} == {6, 7, 8, 9, 10}


def test_switching_series_follow_their_dynamics():
    made = sequences.make_switching_series(2, n_series=400, length=30, random_state=0)
    assert made.data.shape == (800, 30, 2) and made.target.tolist() == [0] * 400 + [1] * 400
    assert (np.abs(np.linalg.eigvals(made.dynamics)) <= 0.95 + 1e-9).all()
    stay = (np.diff(made.states, axis=1) == 0).mean()
    assert abs(stay - 0.9) < 0.01


def test_protein_families_are_related():
    made = strings.make_protein_families(2, n_members=4, random_state=0)
    assert len(made.data) == 48 and made.family.max() == 11 and made.superfamily.max() == 3 and made.fold.max() == 1

    def shared(a, b):
        grams = [{s[i : i + 3] for i in range(len(s) - 2)} for s in (a, b)]
        return len(grams[0] & grams[1]) / min(map(len, grams))

    same = [shared(made.data[4 * f], made.data[4 * f + 1]) for f in range(12)]
    other = [shared(made.data[4 * f], made.data[(4 * f + 16) % 48]) for f in range(12)]
    cousins = [shared(made.data[12 * s], made.data[12 * s + 4]) for s in range(4)]
    assert np.mean(same) > 1.5 * np.mean(cousins) > 1.5 * np.mean(other)
    letters = set("".join(made.data))
    assert letters == set(load("blosum62").names)


def test_two_views_and_charts():
    made = sequences.make_two_view_sequences(6, n_classes=3, random_state=0)
    first, second = made.views
    assert [len(x) for x in first] == [len(x) for x in second] and len(made.target) == 18
    noise = np.concatenate([x[:, 5:] for x in first])
    steps = np.concatenate([x[1:, 5:] for x in first]), np.concatenate([x[:-1, 5:] for x in first])
    assert abs(np.corrcoef(steps[0].ravel(), steps[1].ravel())[0, 1] - 0.9) < 0.03 and abs(noise.std() - 1) < 0.1
    charts = sequences.make_control_charts(200, random_state=0)
    t = np.arange(1, 61)
    slope = np.polyfit(t, charts.data.T, 1)[0]
    means = [slope[charts.target == k].mean() for k in range(6)]
    assert abs(means[0]) < 0.02 and abs(means[2] - 0.35) < 0.02 and abs(means[3] + 0.35) < 0.02
    assert means[4] > 0.2 and means[5] < -0.2
    normal = charts.data[charts.target == 0]
    assert normal.min() > 24 and normal.max() < 36


def test_baskets_hold_their_patterns():
    made = transactions.make_baskets(3000, n_patterns=10, corruption=0.0, random_state=0)
    sets = [set(basket) for basket in made.data]
    heavy = made.patterns[int(made.weights.argmax())]
    support = np.mean([set(heavy) <= s for s in sets])
    others = sorted(set(range(200)) - {i for p in made.patterns for i in p})
    assert support > made.weights.max() and not any(others[0] in s for s in sets)
    sparse = transactions.make_baskets(4000, n_patterns=2000, n_items=1000, random_state=0)
    assert 7 < np.mean([len(b) for b in sparse.data]) < 13


def test_dense_transactions_and_clicks():
    made = transactions.make_categorical_transactions(8000, random_state=0)
    assert all(len(row) == 22 for row in made.data) and made.n_items == 88
    seen = (made.matrix[made.target == 2][:, 5] == 1).mean()
    assert abs(seen - made.probabilities[2, 5, 1]) < 0.03
    clicks = transactions.make_clickstreams(800, random_state=0)

    def contains(walk, motif):
        rest = iter(walk)
        return all(page in rest for page in motif)

    for row, walk in zip(clicks.planted, clicks.data, strict=True):
        for motif, present in zip(clicks.motifs, row, strict=True):
            assert not present or contains(walk, motif)
    assert abs(clicks.planted.mean() - 0.3) < 0.05
    assert len(transactions.utility_example()) == 5


def test_label_laws():
    made = multilabel.make_label_laws(60_000, m=4, random_state=0)
    codes = made.target @ (1 << np.arange(4))
    seen = np.bincount(codes, minlength=16) / 60_000
    exact = np.zeros(16)
    exact[codes] = np.exp(made.log_probability)
    assert abs(exact.sum() - 1) < 0.02  # vectors too rare to be drawn are missing
    assert np.abs(seen - exact).max() < 5 * 0.5 / np.sqrt(60_000)
    independent = multilabel.make_label_laws(20_000, m=5, kind="independent", random_state=1)
    assert np.abs(independent.target.mean(axis=0) - special.expit(independent.weights)).max() < 0.015


def test_prototype_labels_and_chains():
    made = multilabel.make_label_prototypes(30_000, m=6, d=4, n_prototypes=5, random_state=0)
    for low in (0.0, 0.4, 0.8):
        inside = (made.marginals >= low) & (made.marginals < low + 0.2)
        if inside.sum() > 1000:
            assert abs(made.target[inside].mean() - made.marginals[inside].mean()) < 0.02
    chain = multilabel.make_or_chain(500, random_state=0)
    assert (np.diff(chain.target, axis=1) >= 0).all() and np.array_equal(chain.target[:, 0], chain.raw[:, 0])
    np.testing.assert_allclose(np.linalg.norm(chain.data, axis=1), 1)
    assert (np.linalg.norm(chain.points, axis=1) <= 1).all()


def test_tagged_digits():
    made = multilabel.make_tagged_digits(random_state=0)
    silent = made.tags.sum(axis=1) == 0
    assert abs(silent.mean() - 0.18) < 4 * np.sqrt(0.18 * 0.82 / 1797)
    words = made.tags[~silent].sum(axis=1)
    assert abs(words.mean() - 5) < 0.25
    own = np.array([made.tags[i, 3 * y : 3 * y + 3].sum() for i, y in enumerate(made.target)])
    assert (
        abs(own.sum() / made.tags.sum() - 0.36) < 0.02 and abs(made.tags[:, 30:].sum() / made.tags.sum() - 0.55) < 0.02
    )
    assert abs((made.images - made.clean).std() - 1.5) < 0.01


def test_author_records():
    made = records.make_author_records(3000, random_state=0)
    sizes = np.bincount(made.target, minlength=3000)
    assert sizes.min() == 1 and abs((sizes == 1).mean() - 0.84) < 0.03 and abs((sizes == 2).mean() - 0.13) < 0.03
    baseline = np.mean(2 / (sizes[made.target] + 1))
    assert 0.8 < baseline < 0.95  # the article's baseline, no duplicates, scores 0.944
    assert abs(np.mean([p["chinese"] for p in made.persons]) - 0.4) < 0.04
    for row in made.paper_authors[:500]:
        assert 0 <= row["author"] < len(made.authors) and row["name"] and 0 <= row["paper"] < len(made.papers)
    empty = np.mean([a["affiliation"] == "" for a in made.authors])
    assert abs(empty - 0.4) < 0.04
    clean = records.make_author_records(200, rates=dict.fromkeys(records._RATES, 0.0), random_state=0)
    for author, owner in zip(clean.authors, clean.target, strict=True):
        person = clean.persons[owner]
        assert person["last"] in author["name"] and person["first"] in author["name"]
    surnames = [p["last"] for p in made.persons if p["chinese"]]
    assert max(surnames.count(s) for s in set(surnames)) > 50  # namesakes on purpose
    with pytest.raises(ValueError, match="unknown keys"):
        records.make_author_records(5, rates={"typos": 0.1})
