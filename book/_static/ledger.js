// Filters of the ledger: plain selects over table rows; without JavaScript every row is shown.
(function () {
  const box = document.querySelector('.ledger');
  if (!box) return;
  const selects = Array.from(box.querySelectorAll('select[data-filter]'));
  const rows = Array.from(box.querySelectorAll('tbody tr'));
  const count = box.querySelector('.ledger-count');
  function apply() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = selects.some(function (s) { return s.value && row.dataset[s.dataset.filter] !== s.value; });
      if (!row.hidden) shown += 1;
    }
    count.textContent = shown + ' of ' + rows.length + ' claims';
  }
  for (const select of selects) select.addEventListener('change', apply);
  // A chapter's end links its own row of the totals: show its claims.
  const row = location.hash && document.getElementById(location.hash.slice(1));
  const chapter = selects.find(function (s) { return s.dataset.filter === 'chapter'; });
  if (row && row.dataset.chapter && chapter) chapter.value = row.dataset.chapter;
  apply();
})();
