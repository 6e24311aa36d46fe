// page.js - what needs a script: decisions on labels and their export, following
// a point, finding a name, copying the command.  All else works without.
'use strict';
(() => {
  const id = name => document.getElementById(name);
  const all = (what, from) => [...(from || document).querySelectorAll(what)];
  const svg = (name, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    return e;
  };
  document.documentElement.classList.add('scripted');

  // ---- labels in doubt: '', 'accepted' or 'rejected' each
  function decide() {
    const data = JSON.parse(id('labels').textContent);
    const items = all('.suspects li');
    const verdict = items.map(() => '');

    function show(i) {
      items[i].classList.toggle('accepted', verdict[i] === 'accepted');
      items[i].classList.toggle('rejected', verdict[i] === 'rejected');
      for (const b of all('button', items[i]))
        b.setAttribute('aria-pressed', verdict[i] === b.className + 'ed');
      const count = v => verdict.filter(w => w === v).length;
      id('tally').textContent = count('accepted') + ' accepted, ' +
        count('rejected') + ' rejected, ' + count('') + ' open';
    }
    function set(i, v) {
      verdict[i] = v;
      show(i);
    }
    // One of them is in the tab order: the one that had the focus last.
    function go(i) {
      if (i < 0 || i >= items.length) return;
      items.forEach((e, k) => { e.tabIndex = k === i ? 0 : -1; });
      items[i].focus();
    }
    function key(event, i) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const k = event.key.toLowerCase();
      const verdicts = {a: 'accepted', r: 'rejected', u: ''};
      if (k in verdicts) {
        set(i, verdicts[k]);
        if (k !== 'u') go(i + 1);
      } else if (k === 'arrowdown' || k === 'j') {
        go(i + 1);
      } else if (k === 'arrowup' || k === 'k') {
        go(i - 1);
      } else {
        return;
      }
      event.preventDefault();
    }
    items.forEach((e, i) => {
      e.addEventListener('keydown', event => key(event, i));
      for (const b of all('button', e))
        b.addEventListener('click', () => {
          const v = b.className + 'ed';
          set(i, verdict[i] === v ? '' : v);
        });
    });
    if (items.length) show(0);

    // The cell with `given` exchanged for `proposed`: all of it, or its entry
    // where it is a list; nothing given: one more entry, nothing proposed: one
    // less.
    function change(cell, s) {
      if (cell === s.given) return s.proposed;
      const list = cell.split(';');
      if (s.given === '') return [...list, s.proposed].join(';');
      return list.map(e => e === s.given ? s.proposed : e)
        .filter(e => e !== '').join(';');
    }
    // Of a text that a spreadsheet would run, as lapis_text_runs has it.
    const number =
      /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$/i;
    const obeyed = '[\\x00-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]';
    const hidden = '[\\x00-\\x1f\\x7f-\\xa0\\u200b-\\u200f\\u202a-\\u202e' +
      '\\u2060-\\u2069\\ufeff]';
    const control = new RegExp('^' + obeyed);
    const formula = new RegExp('^' + hidden + '*[=+@-]');
    const runs = text => {
      const bare = text.replace(/^'+/, '');
      return bare.length > 1 && (control.test(bare) ||
        formula.test(bare) && !number.test(bare));
    };
    // As RFC 4180 has it.
    const quote = text =>
      /^\s|[",;\t\r\n]|\s$/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    const cell = text => quote((runs(text) ? "'" : '') + text);
    id('export').addEventListener('click', () => {
      const rows = data.rows.map(row => row.slice());
      data.suspects.forEach((s, i) => {
        const row = rows[s.row];
        if (verdict[i] === 'accepted') row[s.column] = change(row[s.column], s);
      });
      const text = [data.columns, ...rows]
        .map(row => row.map(cell).join(',') + '\n').join('');
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
      link.download = 'labels.csv';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
  }

  // ---- the table of answers: sorted, searched, a few rows at a time
  function leaf() {
    const SHOWN = 25, {columns, marks} = JSON.parse(id('sheet').textContent);
    const body = document.querySelector('.sheet tbody');
    const heads = all('.sheet th button'), count = columns[0].values.length;
    const rows = [...Array(count).keys()];
    const words = rows.map(j => columns.map(c => c.values[j]).join(' ').toLowerCase());
    rows.sort((a, b) =>
      (marks[b] === 'several') - (marks[a] === 'several') || a - b);
    let found = rows, at = 0, by = -1, sign = 1;

    function cell(c, j, first) {
      const e = document.createElement(first ? 'th' : 'td'), v = c.values[j];
      if (first) e.scope = 'row';
      if (typeof v === 'number' && !first) e.className = 'n';
      if (c.share && v !== '') {
        const bar = document.createElement('meter');
        bar.value = v;
        e.append(bar, ' ');
      }
      e.append(c.share && v !== '' ? v.toFixed(3) : v);
      return e;
    }
    function row(j) {
      const e = document.createElement('tr');
      e.className = marks[j] || '';
      e.append(...columns.map((c, k) => cell(c, j, k === 0)));
      return e;
    }
    function show() {
      body.replaceChildren(...found.slice(at, at + SHOWN).map(row));
      const end = Math.min(at + SHOWN, found.length);
      id('range').textContent = found.length === 0 ? 'no rows' :
        (at + 1) + ' to ' + end + ' of ' + found.length;
      id('earlier').disabled = at === 0;
      id('later').disabled = end === found.length;
    }
    // What is not known comes last, whichever way.
    function order(a, b) {
      const x = columns[by].values[a], y = columns[by].values[b];
      if (x === '' || y === '') return (x === '') - (y === '') || a - b;
      const numbers = typeof x === 'number' && typeof y === 'number';
      return sign * (numbers ? x - y :
        String(x).localeCompare(String(y), undefined, {numeric: true})) || a - b;
    }
    function choose() {
      const text = id('find-row').value.toLowerCase();
      const mark = id('which') ? id('which').value : '';
      found = rows.filter(j => words[j].includes(text) &&
        (mark === '' || marks[j] === mark));
      if (by >= 0) found.sort(order);
      at = 0;
      show();
    }
    heads.forEach((b, k) => b.addEventListener('click', () => {
      sign = by === k ? -sign : columns[k].share ? -1 : 1;
      by = k;
      heads.forEach((h, i) => h.parentNode.setAttribute('aria-sort',
        i !== k ? 'none' : sign > 0 ? 'ascending' : 'descending'));
      choose();
    }));
    id('find-row').addEventListener('input', choose);
    if (id('which')) id('which').addEventListener('change', choose);
    id('earlier').addEventListener('click', () => { at -= SHOWN; show(); });
    id('later').addEventListener('click', () => { at += SHOWN; show(); });
    show();
  }

  // ---- one point in all pictures
  function follow() {
    const gallery = document.querySelector('.gallery');
    const circles = all('.points circle', gallery);
    const where = new Map(); // number -> circles
    for (const c of circles) {
      const n = Number(c.dataset.p);
      if (!where.has(n)) where.set(n, []);
      where.get(n).push(c);
    }
    const numbers = [...where.keys()].sort((a, b) => a - b);
    let now = null, kept = false;

    function patch(circle) {
      const shot = circle.closest('.shot'), i = shot.id.slice(1);
      const view = circle.ownerSVGElement.viewBox.baseVal;
      const r = Math.max(view.width, view.height) / 12;
      const x = circle.cx.baseVal.value, y = circle.cy.baseVal.value;
      const a = document.createElement('a'), name = document.createElement('span');
      const s = svg('svg', {viewBox: [x - r, y - r, 2 * r, 2 * r].join(' '),
        'aria-hidden': 'true'});
      s.append(svg('use', {href: '#p' + i, width: view.width, height: view.height}),
        svg('circle', {'class': 'cross', cx: x, cy: y, r: r / 6}));
      name.textContent = shot.querySelector('strong').textContent;
      a.href = '#' + shot.id;
      a.append(s, name);
      return a;
    }
    function choose(n, patches) {
      if (n !== now) {
        for (const c of where.get(now) || []) c.classList.remove('on');
        for (const c of where.get(n) || []) c.classList.add('on');
        now = n;
      }
      gallery.classList.toggle('following', n !== null);
      id('point').value = n === null ? '' : n;
      id('where').textContent = n === null ? numbers.length + ' points' :
        'Point ' + n + ': in ' + where.get(n).length + ' pictures';
      id('patches').replaceChildren(
        ...(patches && n !== null ? where.get(n).map(patch) : []));
    }
    function step(by) {
      const at = now === null ? (by > 0 ? -1 : 0) : numbers.indexOf(now);
      kept = true;
      choose(numbers[(at + by + numbers.length) % numbers.length], true);
    }
    function leave() {
      kept = false;
      choose(null);
    }
    for (const c of circles) {
      const n = Number(c.dataset.p);
      c.addEventListener('pointerenter', () => { if (!kept) choose(n, false); });
      c.addEventListener('pointerleave', () => { if (!kept) choose(null); });
      c.addEventListener('click', () => { kept = true; choose(n, true); });
    }
    id('back').addEventListener('click', () => step(-1));
    id('next').addEventListener('click', () => step(1));
    id('leave').addEventListener('click', leave);
    id('point').addEventListener('input', () => {
      const n = Number(id('point').value);
      if (id('point').value !== '' && where.has(n)) { kept = true; choose(n, true); }
    });
    id('follow').addEventListener('keydown', event => {
      if (event.target === id('point')) return;
      if (event.key === 'ArrowRight') step(1);
      else if (event.key === 'ArrowLeft') step(-1);
      else if (event.key === 'Escape') leave();
      else return;
      event.preventDefault();
    });
  }

  // ---- names
  function find() {
    const shots = all('.shot');
    const names = shots.map(s => all('strong, .labels', s)
      .map(e => e.textContent).join(' ').toLowerCase());
    id('find').addEventListener('input', () => {
      const text = id('find').value.toLowerCase();
      shots.forEach((s, i) => s.classList.toggle('unfound', !names[i].includes(text)));
    });
  }

  // ---- the command
  function copy() {
    const button = id('copy');
    button.addEventListener('click', async () => {
      getSelection().selectAllChildren(id('command'));
      try {
        await navigator.clipboard.writeText(id('command').textContent);
        button.textContent = 'Copied';
      } catch (refused) {
        button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
      }
    });
  }

  if (id('sheet')) leaf();
  if (id('labels')) decide();
  if (id('follow')) follow();
  if (id('find')) find();
  if (id('copy')) copy();
})();
