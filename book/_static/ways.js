// The reader's own path. Only this browser remembers it; where it may not store anything, the plain links remain.
(function () {
  const KEY = 'learnable-path';
  function read() {
    try { return JSON.parse(localStorage.getItem(KEY)) || {}; } catch (error) { return {}; }
  }
  function write(state) {
    try { localStorage.setItem(KEY, JSON.stringify(state)); return true; } catch (error) { return false; }
  }
  function button(words, act) {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = words;
    made.addEventListener('click', act);
    return made;
  }
  function link(address, words) {
    const made = document.createElement('a');
    made.href = address;
    made.textContent = words;
    return made;
  }

  // At the end of a chapter: the step of the followed path comes first; the page becomes the place where the reader is.
  const box = document.querySelector('.path-steps');
  function showSteps() {
    const state = read();
    const steps = Array.from(box.querySelectorAll('.path-step[data-path]'));
    steps.forEach(function (step) {
      const mine = step.dataset.path === state.path;
      step.classList.toggle('mine', mine);
      step.querySelectorAll('button').forEach(function (old) { old.remove(); });
      if (mine) {
        box.prepend(step);
        state.at = step.dataset.doc;
        state.seen = Array.from(new Set((state.seen || []).concat(step.dataset.doc)));
        write(state);
      } else {
        step.append(button('Follow this path', function () {
          if (write({ path: step.dataset.path, at: step.dataset.doc, seen: [step.dataset.doc] })) showSteps();
        }));
      }
    });
  }
  if (box) showSteps();

  // On the page of paths: follow or leave a path, see the steps that were read, go on.
  const offers = Array.from(document.querySelectorAll('.path-follow'));
  function showOffers() {
    const state = read();
    offers.forEach(function (offer) {
      const steps = JSON.parse(offer.dataset.steps);
      const names = steps.map(function (step) { return step[0]; });
      const mine = state.path === offer.dataset.path;
      const at = mine ? names.indexOf(state.at) : -1;
      const next = steps[Math.min(at + 1, steps.length - 1)];
      const seen = names.filter(function (name) { return (state.seen || []).includes(name); }).length;
      offer.replaceChildren();
      offer.classList.toggle('mine', mine);
      if (mine) {
        const words = at < 0 ? 'Begin with ' : at + 1 < steps.length ? 'Go on with ' : 'At its end: ';
        offer.append(link(offer.dataset.up + next[0] + '.html', words + next[1]));
        const note = document.createElement('span');
        note.textContent = ' Your path, ' + seen + ' of ' + steps.length + ' pages opened. ';
        offer.append(note, button('Leave this path', function () { write({}); showOffers(); }));
      } else {
        offer.append(link(offer.dataset.up + steps[0][0] + '.html', 'Begin with ' + steps[0][1]), ' ');
        offer.append(button('Follow this path', function () {
          if (write({ path: offer.dataset.path, at: null, seen: [] })) showOffers();
        }));
      }
    });
  }
  if (offers.length) showOffers();

  // On the opening page: back to where the reader was.
  const resume = document.querySelector('.path-resume');
  if (resume && read().at) {
    const up = resume.dataset.up;
    resume.append(link(up + read().at + '.html', 'Go on where you were'), ' ', link(up + 'book/generated/paths.html', 'Your path'));
    resume.hidden = false;
  }
})();
