
(() => {
  'use strict';
  for (const walk of document.querySelectorAll('.walk')) {
    const table = walk.querySelector('table');
    const rows = [...table.querySelectorAll('.step')];
    const end = table.querySelector('.end');
    const status = walk.querySelector('.steps .at');
    const button = (name) => walk.querySelector(`[data-walk="${name}"]`);
    // The number of steps that were taken; past the last one the test has failed.
    let taken = null;

    const draw = () => {
      rows.forEach((row, index) => {
        row.classList.toggle('later', taken !== null && index >= taken);
        row.classList.toggle('now', taken !== null && index === taken - 1);
        if (index === taken - 1) row.setAttribute('aria-current', 'step');
        else row.removeAttribute('aria-current');
      });
      const isOver = taken === null || taken > rows.length;
      end.classList.toggle('later', !isOver);
      end.classList.toggle('now', taken !== null && isOver);
      if (taken === null) {
        status.textContent = `${rows.length} steps`;
      } else {
        const at = Math.min(taken, rows.length);
        status.textContent = isOver ? end.textContent : `Step ${at} of ${rows.length}`;
        const row = isOver ? end : rows[at - 1];
        row.scrollIntoView({ block: 'nearest' });
      }
      button('back').disabled = taken === null || taken <= 1;
      button('on').disabled = taken !== null && isOver;
    };
    const go = (to) => {
      taken = Math.max(1, Math.min(to, rows.length + 1));
      draw();
    };
    const actions = {
      back: () => go((taken ?? 2) - 1),
      on: () => go((taken ?? 0) + 1),
      all: () => { taken = null; draw(); },
    };
    for (const [name, action] of Object.entries(actions)) {
      button(name).addEventListener('click', action);
    }
    table.addEventListener('keydown', (event) => {
      const keys = {
        ArrowRight: actions.on,
        ArrowDown: actions.on,
        ArrowLeft: actions.back,
        ArrowUp: actions.back,
        Home: () => go(1),
        End: () => go(rows.length + 1),
        Escape: actions.all,
      };
      const action = keys[event.key];
      if (action) {
        event.preventDefault();
        action();
      }
    });
    draw();
  }
})();
