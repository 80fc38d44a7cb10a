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
// Folded answers and tables are printed unfolded.
window.addEventListener('beforeprint', function () {
  document.querySelectorAll('.bd-article details:not(.hide)').forEach(function (box) { box.open = true; });
});
// The arrows of the contents that open a list of pages get a name.
document.querySelectorAll('.bd-sidebar-primary details > summary').forEach(function (arrow) {
  const entry = arrow.closest('li').querySelector('a');
  arrow.setAttribute('aria-label', 'Pages of ' + (entry ? entry.textContent.trim() : 'this part'));
});
