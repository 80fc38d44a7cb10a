// Buttons that copy the text before them, and say so. The old command works in pages that are files, too.
document.addEventListener('click', function (event) {
  const button = event.target.closest('button[data-copy]');
  if (!button) return;
  const source = button.previousElementSibling;
  const text = 'value' in source ? source.value : source.textContent;
  function done() {
    const label = button.textContent;
    button.textContent = 'Copied';
    setTimeout(function () { button.textContent = label; }, 1600);
  }
  function select() {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    button.focus();
    return copied;
  }
  if (select()) done();
  else if (navigator.clipboard) navigator.clipboard.writeText(text).then(done);
});
// What pip is asked to install is a file of this site, wherever the site is: on a server, on a disk, on a stick.
document.querySelectorAll('pre[data-wheels]').forEach(function (line) {
  const wheels = line.dataset.wheels.split(' ').map(function (path) { return '"' + new URL(path, document.baseURI).href + '"'; });
  line.textContent = ('pip install ' + wheels.join(' ') + ' ' + line.dataset.others).trim();
});
// A record shows the figures of one verdict: rows without one go, other figures in a row fade.
document.querySelectorAll('.record-filter select').forEach(function (field) {
  field.addEventListener('change', function () {
    document.querySelectorAll('.record-table tbody tr').forEach(function (row) {
      const cells = Array.from(row.querySelectorAll('td'));
      const fits = cells.map(function (cell) { return !field.value || !!cell.querySelector('.' + field.value); });
      row.hidden = !fits.includes(true);
      cells.forEach(function (cell, i) { cell.classList.toggle('faint', !fits[i]); });
    });
  });
});
// Folded answers and tables are printed unfolded.
window.addEventListener('beforeprint', function () {
  document.querySelectorAll('.bd-article details:not(.hide)').forEach(function (box) { box.open = true; });
});
// The arrows of the contents that open a list of pages get a name.
document.querySelectorAll('.bd-sidebar-primary details > summary').forEach(function (arrow) {
  const entry = arrow.closest('li').querySelector('a');
  arrow.setAttribute('aria-label', 'Pages of ' + (entry ? entry.textContent.trim() : 'this part'));
});
// Search comes when somebody starts to search: the library, the engine, the box, and what they search in.
(function () {
  const root = document.documentElement.dataset.content_root + '_static/';
  const dialog = document.getElementById('pst-search-dialog');
  const field = document.querySelector('.bd-search-container input');
  let asked = false;
  function load() {
    if (asked) return;
    asked = true;
    ['vendor/minisearch.js', 'search/engine.js', 'search/box.js', 'search_index/shards.js'].forEach(function (name) {
      const script = document.createElement('script');
      script.src = root + name;
      script.async = false;
      document.head.appendChild(script);
    });
  }
  document.addEventListener('focusin', function (event) { if (event.target.closest('form.bd-search')) load(); });
  // The theme's script opens the dialog; Escape closes it from anywhere inside, and the focus returns to the button.
  let opener = null;
  document.addEventListener('click', function (event) {
    const button = event.target.closest('.search-button__button');
    if (button) opener = button;
  }, true);
  dialog.addEventListener('keydown', function (event) {
    if (event.key === 'Escape' && dialog.open) { event.preventDefault(); dialog.close(); }
  });
  dialog.addEventListener('click', function (event) {
    if (event.target.closest('a.search-hit')) { opener = null; dialog.close(); }
  });
  dialog.addEventListener('close', function () {
    if (opener) opener.focus({ preventScroll: true });
    opener = null;
  });
  if (field) {
    field.value = new URLSearchParams(window.location.search).get('q') || '';
    field.focus();
    load();
  }
})();
// The menu buttons: a name, what they control, and whether it is open; a link inside the page closes its drawer.
[['primary', 'Contents of the book'], ['secondary', 'On this page']].forEach(function (drawer) {
  const button = document.querySelector('.' + drawer[0] + '-toggle');
  const sidebar = document.getElementById('pst-' + drawer[0] + '-sidebar');
  const dialog = document.getElementById('pst-' + drawer[0] + '-sidebar-modal');
  if (!button || !sidebar || !dialog) return;
  const wide = window.matchMedia('(min-width: 992px)'); // from here on, the theme folds the sidebar where it stands
  button.setAttribute('aria-label', drawer[1]);
  button.setAttribute('aria-controls', sidebar.id);
  dialog.setAttribute('aria-label', drawer[1]);
  function tell() {
    const folds = drawer[0] === 'primary' && wide.matches;
    button.setAttribute('aria-expanded', String(folds ? !sidebar.classList.contains('pst-sidebar-hidden') : dialog.open));
  }
  new MutationObserver(tell).observe(dialog, { attributes: true, attributeFilter: ['open'] });
  new MutationObserver(tell).observe(sidebar, { attributes: true, attributeFilter: ['class'] });
  wide.addEventListener('change', tell);
  // Whoever follows a link goes on reading there; whoever closes the drawer is back at its button.
  let followed = false;
  dialog.addEventListener('click', function (event) {
    followed = Boolean(event.target.closest('a[href*="#"]'));
    if (followed) dialog.close();
  });
  dialog.addEventListener('close', function () {
    if (!followed) button.focus({ preventScroll: true });
    followed = false;
  });
  // The drawer opens where the reader is: in ninety chapters that is far below the first line.
  new MutationObserver(function () {
    const here = dialog.open && dialog.querySelector('a.current');
    if (here) here.scrollIntoView({ block: 'center' });
  }).observe(dialog, { attributes: true, attributeFilter: ['open'] });
  tell();
});
// What scrolls sideways can be reached by keyboard, as long as it is wider than the page.
(function () {
  const boxes = document.querySelectorAll('.bd-article div.math, .figure-scroll');
  function mark(box) {
    const scroller = box.matches('.figure-scroll') ? box : box.querySelector('mjx-container');
    if (!scroller) return;
    const wide = scroller.scrollWidth > scroller.clientWidth + 1;
    const names = { tabindex: '0', role: 'group', 'aria-label': 'Scrolls sideways' };
    Object.keys(names).forEach(function (name) {
      if (wide) scroller.setAttribute(name, names[name]);
      else scroller.removeAttribute(name);
    });
  }
  // A formula gets its size when it is typeset, a figure when it is loaded.
  const watch = new ResizeObserver(function (entries) { entries.forEach(function (entry) { mark(entry.target); }); });
  boxes.forEach(function (box) { watch.observe(box); });
})();
