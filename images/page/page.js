// page.js - what needs a script: labels that are checked and saved, following
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

  // ---- labels: looked at one by one, confirmed or corrected, kept, saved
  function check() {
    const TILE = 88, NAMES = 60; // pixels; most labels that have a button
    const data = JSON.parse(id('labels').textContent), {first, rows} = data;
    const titles = data.columns.slice(first), several = titles.length > 1;
    const picture = new Map(data.pictures.map((row, i) => [row, i]));
    const doubts = new Map(); // row -> what is doubted of it
    for (const s of data.suspects)
      doubts.set(s.row, [...doubts.get(s.row) || [], s]);
    const items = [...new Set([...doubts.keys(), ...data.pictures])];
    const given = row => rows[row].slice(first);
    // What holds until a person says otherwise.
    const start = rows.map((cells, row) => cells.slice(first).map(
      (cell, c) => cell || data.found[row] && data.found[row][c] || ''));
    const usual = row => start[row];
    const entries = cell => (data.lists ? cell.split(';') : [cell]).filter(e => e);
    const names = label_names();
    const toggles = several || data.lists;

    // Of columns of 0 and 1 their titles, else what stands in the one column.
    function label_names() {
      if (several)
        return start.every(c => c.every(v => /^[01]?$/.test(v))) ? titles : [];
      const found = new Set(start.flatMap(c => entries(c[0])));
      const list = [...found].sort(
        (a, b) => a.localeCompare(b, undefined, {numeric: true}));
      return list.length > NAMES ? [] : list;
    }

    // ---- what was decided: row -> its cells; the browser keeps it
    const key = 'lapis ' + id('labels').dataset.key;
    const mine = new Map(), past = [];
    let kept = true;
    try {
      for (const [row, cells] of JSON.parse(localStorage.getItem(key) || '[]'))
        mine.set(row, cells);
    } catch (refused) { kept = false; }
    function keep() {
      try {
        if (mine.size > 0) localStorage.setItem(key, JSON.stringify([...mine]));
        else localStorage.removeItem(key);
      } catch (refused) { kept = false; }
      id('check-kept').textContent = kept ?
        'This browser keeps what you decide.' :
        'This browser keeps nothing: save labels.csv before you leave.';
    }
    const now = row => mine.get(row) || usual(row);
    const looked = row => mine.has(row) || data.checked && data.checked[row] === 1;
    const same = (a, b) => a.every((cell, c) => cell === b[c]);
    const changed = row => mine.has(row) && !same(mine.get(row), usual(row));

    // ---- words
    function text(cells) {
      if (cells.every(cell => cell === '')) return 'unknown';
      if (several && names.length > 0)
        return titles.filter((t, c) => cells[c] === '1').join(', ') || 'none';
      return several ? titles.map((t, c) => t + ' ' + cells[c]).join(', ') :
        entries(cells[0]).join(', ');
    }
    // What the row has once all that is doubted of it is changed; or null.
    function proposed(row) {
      const cells = [rows[row].slice(0, first), now(row)].flat();
      for (const s of doubts.get(row) || [])
        cells[s.column] = change(cells[s.column], s);
      if (doubts.has(row)) return cells.slice(first);
      return toggles || names.length !== 2 ? null :
        [names[names[0] === now(row)[0] ? 1 : 0]];
    }
    function state(row) {
      if (changed(row)) return 'changed by you';
      if (mine.has(row)) return 'confirmed by you';
      if (looked(row)) return 'checked before';
      return filled(row) ? 'filled in' : 'given';
    }
    let folder = rows[0][0]; // that all are in
    for (const row of rows)
      while (!row[0].startsWith(folder)) folder = folder.slice(0, -1);
    folder = folder.lastIndexOf('/') + 1;
    const plain = row => rows[row][0].slice(folder);

    // ---- which of them, in which order
    const filled = row => !same(given(row), usual(row));
    const choices = [
      ['all, those in doubt first', () => true],
      ['in doubt', row => doubts.has(row)],
      ['filled in, least sure first', filled],
      ['given', row => !filled(row)],
      ['not looked at', row => !looked(row)],
      ['changed by you', changed],
      ['confirmed by you', row => mine.has(row) && !changed(row)],
      ...names.map(n => ['label ' + n, row => has(now(row), n)])];
    const has = (cells, n) => several ? cells[titles.indexOf(n)] === '1' :
      entries(cells[0]).includes(n);
    let list = [], at = 0;

    function count() {
      const done = items.filter(looked).length, bar = id('check-progress');
      bar.max = items.length;
      bar.value = done;
      id('tally').textContent = done + ' of ' + items.length + ' looked at, ' +
        items.filter(changed).length + ' changed';
    }
    function count_choices() {
      all('option', id('check-show')).forEach((o, k) => {
        o.textContent = choices[k][0] + ' (' + items.filter(choices[k][1]).length +
          ')';
      });
    }
    function choose() {
      const k = id('check-show').selectedIndex;
      const words = id('check-find').value.toLowerCase();
      list = items.filter(row => choices[k][1](row) && (words === '' ||
        (plain(row) + ' ' + text(now(row))).toLowerCase().includes(words)));
      if (choices[k][1] === filled && data.margin)
        list.sort((a, b) => data.margin[a] - data.margin[b]);
      id('check-shown').textContent = list.length + ' of ' + rows.length +
        ' shown, filter: ' + choices[k][0] + (words ? ', "' + words + '"' : '') +
        (items.length < rows.length ?
          '; ' + items.length + ' are on this page' : '');
      go(list.findIndex(row => !looked(row)));
    }

    // ---- one of them
    function drawing(row) {
      const figure = draw('i' + picture.get(row));
      if (!figure) return '';
      const s = figure.querySelector('svg').cloneNode(true);
      s.querySelector('symbol').remove();
      return s;
    }
    function say(row) {
      const said = id('check-said'), name = document.createElement('strong');
      said.replaceChildren();
      if (row === undefined) {
        said.textContent = 'There is none of these.';
        return;
      }
      const label = document.createElement(changed(row) ? 'ins' : 'b');
      name.textContent = plain(row);
      label.textContent = text(now(row));
      said.append(name, ' ', label, ' ', state(row));
      const other = proposed(row);
      if (doubts.has(row) && !mine.has(row))
        said.append('; in doubt, rather ' + text(other));
      said.append('. ' + (at + 1) + ' of ' + list.length + '.');
      id('check-no').textContent = other ? 'No: ' + text(other) : 'No';
      id('check-no').setAttribute('aria-disabled', !other);
    }
    function go(i) {
      at = Math.max(0, Math.min(i, list.length - 1));
      const row = list[at];
      say(row);
      id('check-picture').replaceChildren(row === undefined ? '' : drawing(row));
      for (const b of all('.judge button')) b.disabled = row === undefined;
      all('button', id('check-classes')).forEach((b, k) =>
        b.setAttribute('aria-pressed', row !== undefined && has(now(row), names[k])));
      const strip = id('check-strip');
      strip.firstElementChild.style.width = list.length * TILE + 'px';
      strip.scrollLeft = at * TILE - (strip.clientWidth - TILE) / 2;
      tiles();
    }

    // ---- those beside it: tiles that are seen, and no others
    function tile(row, i) {
      const b = document.createElement('button');
      b.type = 'button';
      b.tabIndex = -1;
      b.className = changed(row) ? 'changed' : looked(row) ? 'looked' : '';
      b.style.left = i * TILE + 'px';
      b.setAttribute('aria-label', plain(row) + ' ' + text(now(row)) + ' ' + state(row));
      if (i === at) b.setAttribute('aria-current', 'true');
      const s = drawing_small(row);
      if (s) b.append(s); else b.textContent = plain(row);
      b.addEventListener('click', () => {
        go(i);
        id('desk').focus({preventScroll: true});
      });
      return b;
    }
    function drawing_small(row) {
      if (!picture.has(row)) return null;
      draw('i' + picture.get(row));
      const s = svg('svg', {viewBox: '0 0 4 3', 'aria-hidden': 'true'});
      s.append(svg('use', {href: '#p' + picture.get(row), width: 4, height: 3}));
      return s;
    }
    function tiles() {
      const strip = id('check-strip');
      const from = Math.max(0, Math.floor(strip.scrollLeft / TILE) - 2);
      const to = from + Math.ceil(strip.clientWidth / TILE) + 4;
      strip.firstElementChild.replaceChildren(
        ...list.slice(from, to).map((row, k) => tile(row, from + k)));
    }

    // ---- a person decides
    function set(cells, move) {
      const row = list[at];
      past.push([row, mine.get(row)]);
      mine.set(row, cells);
      keep();
      count();
      go(at + move);
      if (move && list.every(looked)) id('check-said').append(
        ' All of these are looked at: show others, or save labels.csv.');
    }
    function name(k) {
      const cells = now(list[at]).slice(), n = names[k];
      if (several) {
        cells[k] = cells[k] === '1' ? '0' : '1';
      } else if (data.lists) {
        const had = entries(cells[0]);
        cells[0] = (had.includes(n) ? had.filter(e => e !== n) : [...had, n]).join(';');
      } else {
        cells[0] = n;
      }
      set(cells, toggles ? 0 : 1);
    }
    function undo() {
      if (past.length === 0) return;
      const [row, cells] = past.pop();
      if (cells) mine.set(row, cells); else mine.delete(row);
      keep();
      count();
      go(list.includes(row) ? list.indexOf(row) : at);
    }
    const acts = {
      yes: () => set(now(list[at]), 1),
      no: () => { if (proposed(list[at])) set(proposed(list[at]), 1); },
      unknown: () => set(titles.map(() => ''), 1),
      back: () => go(at - 1),
      on: () => go(at + 1),
      undo: undo};
    for (const k in acts) id('check-' + k).addEventListener('click', acts[k]);
    names.forEach((n, k) => {
      const b = document.createElement('button'), hint = document.createElement('kbd');
      b.type = 'button';
      b.textContent = n;
      hint.textContent = k + 1;
      if (k < 9) {
        b.append(' ', hint);
        b.setAttribute('aria-keyshortcuts', k + 1);
      }
      b.addEventListener('click', () => name(k));
      id('check-classes').append(b);
    });
    // Of one hand, and the first letters.
    const keys = {w: 'yes', y: 'yes', s: 'no', n: 'no', q: 'unknown', z: 'undo',
      a: 'back', arrowleft: 'back', d: 'on', arrowright: 'on'};
    id('desk').addEventListener('keydown', event => {
      if (event.ctrlKey || event.altKey || event.metaKey ||
          event.target.matches('input, select')) return;
      const digit = /^(Digit|Numpad)([1-9])$/.exec(event.code);
      const act = keys[event.key.toLowerCase()];
      const button = act ? id('check-' + act) :
        digit && all('button', id('check-classes'))[digit[2] - 1];
      if (!button) return;
      button.click();
      event.preventDefault();
    });
    id('check-strip').addEventListener('scroll', tiles);
    for (const c of choices) id('check-show').append(document.createElement('option'));
    id('check-show').addEventListener('change', choose);
    id('check-find').addEventListener('input', choose);
    id('check-show').addEventListener('focus', count_choices);
    keep();
    count();
    count_choices();
    choose();

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
      /^\s|[",;|\t\r\n]|\s$/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    const cell = text => quote((runs(text) ? "'" : '') + text);
    id('export').addEventListener('click', () => {
      const told = data.checked ? ['checked'] : [];
      const table = rows.map((row, j) => [
        ...row.slice(0, first), ...mine.get(j) || given(j),
        ...told.map(() => looked(j) ? 'yes' : '')]);
      const head = [...data.columns, ...told];
      const order = data.order || [...head.keys()];
      const text = data.begin + [head, ...table]
        .map(row => order.map(k => cell(row[k])).join(data.delimiter) + data.end).join('');
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
      link.download = 'labels.csv';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
  }

  // ---- the table of answers: sorted, searched, a few rows at a time
  function leaf() {
    const SHOWN = 25;
    const {columns, marks, decimal} = JSON.parse(id('sheet').textContent);
    const body = document.querySelector('.sheet tbody');
    const heads = all('.sheet th button'), count = columns[0].values.length;
    const rows = [...Array(count).keys()];
    // A number as its table writes it.
    const shown = (c, v) => typeof v !== 'number' ? v :
      (c.share ? v.toFixed(3) : String(v)).replace('.', decimal);
    const words = rows.map(j =>
      columns.map(c => shown(c, c.values[j])).join(' ').toLowerCase());
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
      e.append(shown(c, v));
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
        'Point ' + where.get(n)[0].dataset.name + ': in ' + where.get(n).length + ' pictures';
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

  // ---- pictures that are far down: drawn a few at a time, as they are needed
  const FEW = 60, undrawn = new Map(); // id -> text of the figure
  let sought = '';
  function seek(figure) {
    const text = all('strong, .labels', figure).map(e => e.textContent).join(' ');
    figure.classList.toggle('unfound', !text.toLowerCase().includes(sought));
  }
  function draw(name) {
    if (undrawn.has(name)) {
      const drawn = document.createElement('template');
      drawn.innerHTML = undrawn.get(name);
      seek(drawn.content.firstElementChild);
      document.querySelector('.gallery').append(drawn.content);
      undrawn.delete(name);
    }
    return id(name);
  }
  function later() {
    const end = document.createElement('div');
    for (const batch of all('.gallery > noscript')) {
      for (const text of batch.textContent.split(/(?<=<\/figure>)\s*/)) {
        const head = /<figure id="(\w+)"/.exec(text);
        if (head) undrawn.set(head[1], text.slice(head.index));
      }
      batch.remove();
    }
    if (undrawn.size === 0) return;
    const near = new IntersectionObserver(seen => {
      if (!seen[0].isIntersecting || sought !== '') return;
      [...undrawn.keys()].slice(0, FEW).forEach(draw);
      near.unobserve(end); // so that it is looked at again
      if (undrawn.size > 0) near.observe(end);
    }, {rootMargin: '600px'});
    document.querySelector('.gallery').after(end);
    near.observe(end);
    addEventListener('beforeprint', () => [...undrawn.keys()].forEach(draw));
  }

  // ---- names
  function find() {
    id('find').addEventListener('input', () => {
      sought = id('find').value.toLowerCase();
      const found = sought === '' ? [] : [...undrawn.keys()].filter(name =>
        undrawn.get(name).split('</svg>').pop().toLowerCase().includes(sought));
      found.slice(0, FEW).forEach(draw);
      all('.shot').forEach(seek);
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
  later();
  if (id('labels')) check();
  if (id('follow')) follow();
  if (id('find')) find();
  if (id('copy')) copy();
})();
