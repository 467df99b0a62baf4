// SPDX-License-Identifier: Apache-2.0
// Makes flame graphs interactive: a click on a function zooms in, a click on the lowest frame shows all again, and
// "Search" asks for a word.
for (const svg of document.querySelectorAll('svg[data-flame]')) {
  const frames = [...svg.querySelectorAll('g[data-cost]')].map((group) => {
    const [title, box, text] = group.children;
    const [x, width] = [Number(box.getAttribute('x')), Number(box.getAttribute('width'))];
    return { group, box, text, name: title.textContent, x, width, y: Number(box.getAttribute('y')) };
  });
  const all = frames[0];
  const told = svg.querySelector('text.told');
  const place = (frame, x, width) => {
    frame.group.style.display = width < 0.3 ? 'none' : '';
    frame.box.setAttribute('x', x);
    frame.box.setAttribute('width', Math.max(width - 0.3, 0.3));
    frame.text.setAttribute('x', x + 3);
    const name = frame.name.replace(/: [^:]*$/, '');
    const room = Math.floor((width - 6) / 6.2);
    frame.text.textContent = room < 3 ? '' : name.length > room ? name.slice(0, room - 1) + '…' : name;
  };
  const enlarge = (chosen) => {
    const scale = all.width / chosen.width;
    for (const frame of frames) {
      const below = frame.y > chosen.y && frame.x <= chosen.x + 0.01 && frame.x + frame.width >= chosen.x + chosen.width - 0.01;
      const within = frame.y <= chosen.y && frame.x >= chosen.x - 0.01 && frame.x + frame.width <= chosen.x + chosen.width + 0.01;
      if (below) place(frame, all.x, all.width);
      else if (within) place(frame, (frame.x - chosen.x) * scale, frame.width * scale);
      else frame.group.style.display = 'none';
    }
  };
  const search = () => {
    const word = window.prompt('Part of a function name:');
    if (word === null) return;
    const found = frames.filter((frame) => word !== '' && frame.name.toLowerCase().includes(word.toLowerCase()));
    for (const frame of frames) frame.box.setAttribute('fill-opacity', found.includes(frame) ? '0.95' : '0.35');
    // A match above another match is already included in the width of the lower one.
    const outer = found.filter((frame) => !found.some((other) => other.y > frame.y && other.x <= frame.x + 0.01 &&
      other.x + other.width >= frame.x + frame.width - 0.01));
    const part = outer.reduce((sum, frame) => sum + frame.width, 0) / all.width;
    told.textContent = word === '' ? 'Search' : `Search: ${word}, ${(100 * part).toFixed(1)} % of all`;
  };
  told.textContent = 'Search';
  told.style.cursor = 'pointer';
  told.addEventListener('click', search);
  for (const frame of frames) frame.group.addEventListener('click', () => enlarge(frame));
}
