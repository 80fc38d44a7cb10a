// The ledger's filters, text search, order and download. Without JavaScript every row is shown. The state stands in the
// address behind '#', which also works for a page opened from disk, and comes back with the browser's way back.
(function () {
  const box = document.querySelector('.ledger');
  if (!box) return;
  const fields = Array.from(box.querySelectorAll('[data-filter]'));
  const body = box.querySelector('tbody');
  const rows = Array.from(body.rows);
  const words = rows.map(function (row) { return row.textContent.toLowerCase(); });
  const heads = Array.from(box.querySelectorAll('thead th'));
  const count = box.querySelector('.ledger-count');
  let order = '';

  function apply() {
    const wanted = {};
    fields.forEach(function (field) { wanted[field.dataset.filter] = field.value; });
    const parts = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach(function (row, i) {
      const fits = ['chapter', 'kind', 'outcome', 'source'].every(function (name) {
        return !wanted[name] || row.dataset[name] === wanted[name];
      });
      row.hidden = !(fits && parts.every(function (part) { return words[i].includes(part); }));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = shown + ' of ' + rows.length + ' entries';
  }

  function sort() {
    const column = Math.abs(Number(order)) - 1, back = order.startsWith('-');
    const sorted = rows.slice();
    if (order) {
      const text = function (row) { return row.cells[column].textContent.trim(); };
      const number = function (word) { const m = /-?\d[\d,]*\.?\d*(e-?\d+)?/i.exec(word); return m ? parseFloat(m[0].replace(/,/g, '')) : Infinity; };
      const numeric = column === 2 || column === 3;
      sorted.sort(function (a, b) {
        const x = text(a), y = text(b);
        const by = numeric && number(x) !== number(y) ? (number(x) < number(y) ? -1 : 1) : x.localeCompare(y);
        return back ? -by : by;
      });
    }
    sorted.forEach(function (row) { body.appendChild(row); });
    heads.forEach(function (head, i) {
      head.setAttribute('aria-sort', order && i === column ? (back ? 'descending' : 'ascending') : 'none');
    });
  }

  function write() {
    const state = new URLSearchParams();
    fields.forEach(function (field) { if (field.value) state.set(field.dataset.filter, field.value); });
    if (order) state.set('sort', order);
    const text = state.toString().replace(/%2F/g, '/');
    if (location.hash.slice(1) !== text) location.replace('#' + text);
  }

  function read() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const row = hash && !hash.includes('=') && document.getElementById(hash);
    // A chapter's end links its own row of the totals: show its claims.
    const own = row && row.querySelector('a[href^="#chapter="]');
    const state = new URLSearchParams(own ? own.getAttribute('href').slice(1) : hash.includes('=') ? location.hash.slice(1) : '');
    fields.forEach(function (field) { field.value = state.get(field.dataset.filter) || ''; });
    order = /^-?[1-5]$/.test(state.get('sort') || '') ? state.get('sort') : '';
    sort();
    apply();
  }

  fields.forEach(function (field) {
    field.addEventListener(field.tagName === 'SELECT' ? 'change' : 'input', function () { apply(); write(); });
  });
  heads.forEach(function (head, i) {
    head.querySelector('button').addEventListener('click', function () {
      const up = String(i + 1);
      order = order === up ? '-' + up : order === '-' + up ? '' : up;
      sort();
      write();
    });
  });
  box.querySelector('.ledger-csv').addEventListener('click', function () {
    const quote = function (text) {
      const clean = text.replace(/\s+/g, ' ').trim();
      return '"' + (/^[=+@]/.test(clean) ? "'" + clean : clean).replace(/"/g, '""') + '"';
    };
    const lines = [['verdict', 'claim', 'printed', 'measured', 'source', 'chapter', 'kind'].join(',')];
    Array.from(body.rows).forEach(function (row) {
      if (row.hidden) return;
      const cells = Array.from(row.cells).map(function (cell, i) { return i === 1 ? cell.querySelector('a').textContent : cell.innerText; });
      lines.push(cells.concat([row.dataset.chapter, row.dataset.kind]).map(quote).join(','));
    });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(['\ufeff' + lines.join('\r\n') + '\r\n'], { type: 'text/csv' }));
    link.download = 'learnable-ledger.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  });
  window.addEventListener('hashchange', function () {
    read();
    if (location.hash.includes('=')) box.scrollIntoView();
  });
  read();
  if (location.hash.includes('=')) box.scrollIntoView();
})();
