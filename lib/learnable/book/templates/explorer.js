(function () {
  const box = document.currentScript.closest('.explorer');
  const inputs = Array.from(box.querySelectorAll('input'));
  const image = box.querySelector('img'), text = box.querySelector('.explorer-text');
  let data = null;
  function draw() {
    let index = 0;
    for (const input of inputs) {
      const labels = JSON.parse(input.dataset.labels);
      index = index * labels.length + Number(input.value);
      const label = labels[Number(input.value)];
      input.setAttribute('aria-valuetext', label);
      input.nextElementSibling.textContent = label;
    }
    image.src = 'data:image/webp;base64,' + data.frames[index];
    image.alt = text.textContent = data.texts[index];
  }
  function start(loaded) {
    data = loaded;
    for (const input of inputs) { input.disabled = false; input.addEventListener('input', draw); }
    box.dataset.ready = 'yes';
  }
  function load() {
    const holder = box.querySelector('.explorer-data');
    if (!holder.dataset.src) { start(JSON.parse(holder.textContent)); return; }
    window.learnableExplorers = window.learnableExplorers || {};
    window.learnableExplorers[holder.dataset.key] = start;
    const script = document.createElement('script');
    script.src = holder.dataset.src;
    document.head.appendChild(script);
  }
  if ('IntersectionObserver' in window) {
    const watch = new IntersectionObserver(function (entries) {
      if (entries.some(function (e) { return e.isIntersecting; })) { watch.disconnect(); load(); }
    }, { rootMargin: '300px' });
    watch.observe(box);
  } else { load(); }
})();
