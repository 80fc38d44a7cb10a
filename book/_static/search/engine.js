/* The search engine of the book: MiniSearch (vendor/minisearch.js) with the book's spelling, weights and snippets.
 *
 * It works on the entries that book/_ext/search_index.py writes; the box that shows the results is in box.js.
 */
window.learnableSearchEngine = (function () {
  'use strict';
  // What an entry is worth, everything else equal: a reader looks for an explanation before a signature.
  const KINDS = { chapter: 1, refresher: 0.75, glossary: 0.5, page: 0.3, reference: 0.12 };
  // Sections that every chapter has: they mention its words but do not explain them.
  const COMMON = /^(summary|check yourself|exercises|further reading|explore|in practice|use it tomorrow|where it breaks)$/i;
  const FIELDS = { title: 4, keywords: 5, page: 1.5, text: 1 };
  const STOP = new Set(('a an and are as at be by can do does for from has have how i in is it its of on or that the their ' +
    'there this to use used using was we what when where which why will with you').split(' '));
  const GREEK = { α: 'alpha', β: 'beta', γ: 'gamma', δ: 'delta', ε: 'epsilon', λ: 'lambda', μ: 'mu', ν: 'nu', ρ: 'rho',
    σ: 'sigma', τ: 'tau', φ: 'phi', χ: 'chi', ω: 'omega' };

  const WORD = /[\p{L}\p{N}]+/gu;

  /* The form under which a word is stored and looked up: no accents, one spelling of British and American words.
   * Each rule works letter by letter, so that the beginning of a word becomes the beginning of its form: what a
   * reader has typed so far still matches. */
  function fold(word) {
    return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
      .replace(/[α-ω]/g, function (letter) { return GREEK[letter] || letter; })
      .replace(/z/g, 's').replace(/ou/g, 'o').replace(/ll/g, 'l').replace(/tre$/, 'ter');
  }

  function term(word) {
    const folded = fold(word);
    if (STOP.has(folded)) return null;
    if (/[^aeious]ies$/.test(folded) && folded.length > 5) return folded.slice(0, -3) + 'y';
    return /[^sui]s$/.test(folded) && folded.length > 3 ? folded.slice(0, -1) : folded;
  }

  function words(text) { return text.match(WORD) || []; }

  function terms(text) { return words(text).map(term).filter(Boolean); }

  function phrase(text) { return ' ' + terms(text).join(' ') + ' '; }

  function isName(query) { return /[_.]|[a-z][A-Z]|[A-Z]{2,}[a-z]/.test(query); }

  function Engine() {
    this.entries = [];
    this.index = new MiniSearch({
      fields: Object.keys(FIELDS),
      idField: 'id',
      tokenize: words,
      processTerm: term,
    });
  }

  /* Take the pages of one shard: [address, kind, [[anchor, number, title, keywords, text], ...]] each. */
  Engine.prototype.add = function (pages) {
    const engine = this;
    pages.forEach(function (page) {
      const top = page[2][0];
      const added = page[2].map(function (row, place) {
        const entry = {
          id: engine.entries.length, kind: page[1], top: place === 0, pageTitle: top[2], pageNumber: top[1],
          address: page[0] + (row[0] ? '#' + row[0] : ''), number: row[1], title: row[2], keywords: row[3], text: row[4],
        };
        engine.entries.push(entry);
        return Object.assign({ page: place ? top[2] : '' }, entry);
      });
      engine.index.addAll(added);
    });
  };

  /* Whether the glossary sends the whole query to this entry: somebody has read the section and said so. */
  function isExplained(entry, query) {
    return entry.keywords.split('; ').some(function (name) { return phrase(name) === query.phrase; });
  }

  /* How much an entry is worth to a query beyond its words: what it is, and whether they stand together. */
  function weight(entry, result, query) {
    let value = KINDS[entry.kind] || 0.5;
    if (entry.kind === 'reference' && query.isName && fold(entry.title) === query.name) value = 5;
    if (isExplained(entry, query)) value *= 2;
    else if (COMMON.test(entry.title)) value *= 0.5;
    const share = new Set(result.queryTerms).size / query.terms.length;
    value *= share * share * share;
    if (query.terms.length > 1) {
      if (phrase(entry.title).includes(query.phrase)) value *= 1.6;
      else if (phrase(entry.keywords).includes(query.phrase)) value *= 1.6;
      else if (phrase(entry.text).includes(query.phrase)) value *= 1.25;
    }
    return value;
  }

  /* Whether a word of the book is, or begins with, this one. */
  Engine.prototype.knows = function (word, whole) { return this.index.search(word, { prefix: !whole }).length > 0; };

  /* Whether some entry has these words side by side. */
  Engine.prototype.writes = function (text) {
    const wanted = phrase(text);
    return this.entries.some(function (entry) {
      return [entry.title, entry.keywords, entry.text].some(function (part) { return phrase(part).includes(wanted); });
    });
  };

  /* A query with the words that the book writes apart: "crossvalidation" as "cross validation". */
  Engine.prototype.spelled = function (text) {
    const engine = this;
    return text.replace(WORD, function (word) {
      if (word.length < 8 || engine.knows(word)) return word;
      for (let at = 4; at <= word.length - 4; at += 1) {
        const parts = [word.slice(0, at), word.slice(at)], apart = parts.join(' ');
        if (parts.every(function (part) { return term(part) && engine.knows(part, true); }) && engine.writes(apart)) return apart;
      }
      return word;
    });
  };

  /* The words of a query that the book does not have. */
  Engine.prototype.unknown = function (text) {
    const engine = this;
    return words(this.spelled(text)).filter(function (word) { return term(word) && !engine.knows(word); });
  };

  /* Results for a query, best first. One letter beside words that the book does not have finds nothing. */
  Engine.prototype.search = function (asked, limit) {
    const entries = this.entries;
    const text = this.spelled(asked);
    const query = { text: text.trim(), terms: Array.from(new Set(terms(text))), phrase: phrase(text), isName: isName(text),
      name: fold(text.trim().split('.').pop()) };
    if (!query.terms.length) return [];
    const missing = this.unknown(text).map(term);
    const says = function (word) { return word.length > 1 && (word.length > 3 || !missing.includes(word)); };
    if (missing.length && !query.terms.some(says)) return [];
    const last = query.terms[query.terms.length - 1];
    const unknown = new Set(missing);
    const found = this.index.search(text, {
      boost: FIELDS,
      // Only the word that is being typed may be a beginning; a word that the book does not know forgives slips.
      prefix: function (word) { return word === last && word.length > 1; },
      fuzzy: function (word) { return unknown.has(word) && word.length > 3 ? (word.length > 6 ? 2 : 1) : false; },
      weights: { fuzzy: 0.25, prefix: 0.6 },
    });
    return found
      .map(function (result) {
        const entry = entries[result.id];
        return { entry: entry, score: result.score * weight(entry, result, query), terms: new Set(result.terms) };
      })
      .sort(function (one, other) { return other.score - one.score || one.entry.id - other.entry.id; })
      .slice(0, limit || 12);
  };

  /* The part of a text around the place where most of the terms stand, as pieces: [text, is a hit]. */
  function snippet(text, hits, length) {
    const found = [];
    for (const match of text.matchAll(WORD)) {
      const folded = term(match[0]);
      if (folded && hits.has(folded)) found.push([match.index, match.index + match[0].length]);
    }
    const size = length || 150;
    let start = 0, most = -1;
    found.forEach(function (place, i) {
      const count = found.slice(i).filter(function (other) { return other[1] <= place[0] + size - 30; }).length;
      if (count > most) { most = count; start = place[0]; }
    });
    start = Math.max(0, start - 30);
    if (start) start = text.indexOf(' ', start) + 1;
    let end = Math.min(text.length, start + size);
    if (end < text.length) end = text.lastIndexOf(' ', end) > start ? text.lastIndexOf(' ', end) : end;
    const pieces = start ? [['… ', false]] : [];
    let at = start;
    found.forEach(function (place) {
      if (place[0] < start || place[1] > end) return;
      pieces.push([text.slice(at, place[0]), false], [text.slice(place[0], place[1]), true]);
      at = place[1];
    });
    pieces.push([text.slice(at, end) + (end < text.length ? ' …' : ''), false]);
    return pieces.filter(function (piece) { return piece[0]; });
  }

  return { Engine: Engine, snippet: snippet, fold: fold, term: term, phrase: phrase };
})();
