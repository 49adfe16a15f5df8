
(() => {
  'use strict';
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const search = document.getElementById('search');
  const select = document.getElementById('package');
  const shown = document.getElementById('shown');
  const chips = all('.chip');
  const groups = all('.group').map((element) => ({
    element,
    wasOpen: element.open,
    items: all('.card, .rows li', element).map((item) => ({
      element: item,
      package: item.closest('[data-p]').dataset.p,
      section: item.closest('.rows'),
    })),
  }));
  let verdict = 'all';

  // Read once, when it is first needed: a page may have thousands of tests.
  const text = (item) => {
    if (item.text === undefined) {
      const title = item.element.querySelector('summary') || item.element;
      const binary = item.section ? item.section.firstElementChild.textContent + ' ' : '';
      item.text = (binary + title.textContent).toLowerCase();
    }
    return item.text;
  };

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = select ? select.value : '';
    const isFiltered = words.length > 0 || wanted !== '' || verdict !== 'all';
    let count = 0;
    for (const group of groups) {
      const isWanted = verdict === 'all' || group.element.dataset.v === verdict;
      const sections = new Map();
      let matches = 0;
      for (const item of group.items) {
        const holds = isWanted && (wanted === '' || item.package === wanted)
          && words.every((word) => text(item).includes(word));
        item.element.hidden = !holds;
        matches += holds;
        if (item.section) {
          sections.set(item.section, sections.get(item.section) || holds);
        }
      }
      for (const [section, holds] of sections) {
        section.hidden = !holds;
      }
      group.element.hidden = matches === 0;
      group.element.open = isFiltered ? matches > 0 : group.wasOpen;
      count += matches;
    }
    shown.textContent = isFiltered ? `${count} shown` : '';
    document.querySelector('.none').hidden = count > 0;
    for (const chip of chips) {
      if (chip.dataset.chip === verdict) chip.setAttribute('aria-current', 'true');
      else chip.removeAttribute('aria-current');
    }
  };

  // The target of a link may be closed, or filtered out.
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target || !target.closest('.group')) {
      return;
    }
    if (target.closest('[hidden]')) {
      search.value = '';
      if (select) select.value = '';
      verdict = 'all';
      apply();
    }
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === 'DETAILS') at.open = true;
    }
    (target.closest('.card') || target).scrollIntoView();
  };

  const copy = async (button) => {
    const code = button.parentElement.querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without permission the command is selected, for Ctrl+C.
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  };

  search.addEventListener('input', apply);
  if (select) select.addEventListener('change', apply);
  for (const chip of chips) {
    chip.addEventListener('click', (event) => {
      event.preventDefault();
      verdict = chip.dataset.chip === verdict ? 'all' : chip.dataset.chip;
      apply();
    });
  }
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) copy(button);
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, select, textarea');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === 'Escape' && event.target === search) {
      search.value = '';
      apply();
    }
  });
  addEventListener('hashchange', reveal);

  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('.card, .group:has(.card)').filter((details) => !details.open);
    for (const details of closed) details.open = true;
  });
  addEventListener('afterprint', () => {
    for (const details of closed) details.open = false;
  });

  apply();
  reveal();
})();
