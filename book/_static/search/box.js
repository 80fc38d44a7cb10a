/* The search box: in the dialog of every page and on the search page. book.js loads it when a reader starts to search.
 *
 * The entries come as scripts, one for each part of the book, because a page from disk may not fetch. They are taken in
 * page by page between the reader's keystrokes, and what is shown is refreshed after each part.
 */
window.learnableSearch = (function () {
  'use strict';
  const LABELS = { chapter: 'Chapter', refresher: 'Refresher', glossary: 'Glossary', reference: 'Reference', page: 'Page' };
  const SLICE = 12; // milliseconds of work before the page may answer the reader
  const root = document.documentElement.dataset.content_root;
  const engine = new window.learnableSearchEngine.Engine();
  const waiting = [];
  const boxes = [];
  const NEAREST = 5; // results for a query with words that the book does not have
  let expected = null, arrived = 0, busy = false, absent = [];

  function ready() { return expected !== null && arrived === expected && !waiting.length; }

  function work() {
    const end = performance.now() + SLICE;
    let partDone = false;
    while (waiting.length && performance.now() < end && !partDone) {
      const next = waiting.shift();
      if (next === null) partDone = true;
      else engine.add([next]);
    }
    if (partDone || ready()) boxes.forEach(function (box) { box.refresh(); });
    busy = waiting.length > 0;
    if (busy) setTimeout(work, 0);
  }

  function add(pages) {
    arrived += 1;
    waiting.push.apply(waiting, pages);
    waiting.push(null);
    if (!busy) { busy = true; setTimeout(work, 0); }
  }

  /* Take the names of the shards, and the topics without a chapter: [names, title and address of the nearest] each. */
  function load(names, topics) {
    expected = names.length;
    absent = topics || [];
    names.forEach(function (name) {
      const script = document.createElement('script');
      script.src = root + '_static/search_index/' + name + '.js';
      script.async = false;
      document.head.appendChild(script);
    });
    if (!expected) boxes.forEach(function (box) { box.refresh(); });
  }

  function element(tag, name, text) {
    const made = document.createElement(tag);
    made.className = name;
    if (text) made.textContent = text;
    return made;
  }

  function numbered(number, title) { return number ? number + ' ' + title : title; }

  function item(result) {
    const entry = result.entry, link = element('a', 'search-hit'), where = element('span', 'search-where');
    link.href = root + entry.address;
    const label = entry.kind === 'chapter' && !entry.top ? 'Section' : LABELS[entry.kind];
    where.append(element('span', 'search-kind', label));
    if (!entry.top && entry.kind !== 'glossary') where.append(' ' + numbered(entry.pageNumber, entry.pageTitle));
    link.append(element('span', 'search-name', numbered(entry.number, entry.title)), where);
    if (entry.text) {
      const text = element('span', 'search-snippet');
      window.learnableSearchEngine.snippet(entry.text, result.terms).forEach(function (piece) {
        text.append(piece[1] ? element('mark', '', piece[0]) : piece[0]);
      });
      link.append(text);
    }
    const row = document.createElement('li');
    row.append(link);
    return row;
  }

  /* The topic without a chapter that a query names, or undefined. */
  function missingTopic(text) {
    const phrase = window.learnableSearchEngine.phrase;
    return absent.find(function (topic) {
      return topic[0].some(function (name) { return phrase(name) === phrase(text); });
    });
  }

  function apology(text, topic) {
    const row = element('li', 'search-absent'), link = element('a', 'search-hit');
    link.href = root + topic[2];
    link.append(element('span', 'search-name', topic[1]), element('span', 'search-where', 'The nearest chapter: none is about ' + text + ' yet'));
    row.append(link);
    return row;
  }

  function Box(form) {
    const box = this;
    this.form = form;
    this.input = form.querySelector('input');
    this.list = form.parentElement.querySelector('.search-results');
    this.status = form.parentElement.querySelector('.search-status');
    this.limit = form.closest('dialog') ? 12 : 40;
    this.input.addEventListener('input', function () { box.refresh(); });
    form.addEventListener('submit', function (event) {
      event.preventDefault();
      const first = box.list.querySelector('a');
      if (first) first.click();
    });
    form.parentElement.addEventListener('keydown', function (event) { box.move(event); });
    this.refresh();
  }

  Box.prototype.refresh = function () {
    const text = this.input.value.trim();
    const topic = text && ready() ? missingTopic(text) : undefined;
    const unknown = text && ready() ? engine.unknown(text) : [];
    const limit = topic || unknown.length ? NEAREST : this.limit;
    const results = text ? engine.search(text, limit) : [];
    const rows = (topic ? [apology(text, topic)] : []).concat(results.map(item));
    this.list.replaceChildren.apply(this.list, rows);
    this.list.hidden = !rows.length;
    let said = '';
    if (text && !ready()) said = 'Reading the index …';
    else if (topic) said = 'Not in this book yet: ' + text + '.' + (results.length ? ' Pages that mention it or something near:' : '');
    else if (text && !results.length) said = 'Nothing found. Fewer or other words may help.';
    else if (unknown.length) said = 'Not in this book: ' + unknown.join(', ') + '. The nearest words:';
    else if (text) said = results.length === 1 ? '1 result' : (results.length < limit ? results.length : 'The first ' + limit) + ' results';
    if (this.status.textContent !== said) this.status.textContent = said;
    this.form.dataset.shown = ready() ? text : '';
    this.form.dataset.ready = ready() ? 'yes' : 'no';
    if (!this.form.closest('dialog')) remember(text);
  };

  /* The address of the search page keeps the query, so that going back shows it again. */
  function remember(text) {
    const address = new URL(window.location.href);
    if ((address.searchParams.get('q') || '') === text) return;
    if (text) address.searchParams.set('q', text);
    else address.searchParams.delete('q');
    window.history.replaceState(null, '', address);
  }

  /* Arrows walk from the field through the results and back. */
  Box.prototype.move = function (event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [this.input].concat(Array.from(this.list.querySelectorAll('a')));
    const at = stops.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    stops[Math.min(stops.length - 1, Math.max(0, at + step))].focus();
  };

  document.querySelectorAll('form.bd-search').forEach(function (form) { boxes.push(new Box(form)); });
  return { add: add, load: load };
})();
