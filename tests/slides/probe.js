// Runs in the browser, beside the decks: shows every slide of every deck at every size, and reports its faults.
// Lengths are pixels of the deck's own page, 1280 x 720, at any scale.
const WIDTH = 1280, HEIGHT = 720;
const SMALLEST = 17;        // text on a slide
const SMALLEST_FIGURE = 11; // text in a figure, at the figure's size on the slide
const BLOCKS = 'h1,h2,h3,p,li,pre,table,figure,img,blockquote';

const sleep = ms => new Promise(done => setTimeout(done, ms));
const label = element => `<${element.tagName.toLowerCase()}> '${(element.alt ?? element.textContent).trim().replace(/\s+/g, ' ').slice(0, 40)}'`;

// Returns a figure's smallest text in units of its viewBox, the viewBox's width, and the texts that leave the figure or
// cover each other.
const figures = new Map();
async function figure(url) {
  if (!figures.has(url)) {
    const svg = new DOMParser().parseFromString(await (await fetch(url)).text(), 'image/svg+xml').documentElement;
    const host = document.body.appendChild(document.importNode(svg, true));
    const texts = [...host.querySelectorAll('text, tspan')].filter(text => text.textContent.trim() && text.getClientRects().length);
    const sizes = texts.map(text => parseFloat(getComputedStyle(text).fontSize));
    const { x, y, width, height } = host.viewBox.baseVal, wrong = [];
    // The visualizer clips its own texts, and rotated texts have no upright box.
    const boxes = host.querySelector('clipPath') ? [] : texts.filter(t => t.tagName === 'text' && !t.hasAttribute('transform')).map(t => [t.textContent, t.getBBox()]);
    boxes.forEach(([what, a], i) => {
      if (a.x < x - 1 || a.y < y - 1 || a.x + a.width > x + width + 1 || a.y + a.height > y + height + 1) wrong.push(`'${what}' leaves it`);
      for (const [other, b] of boxes.slice(0, i)) {
        if (Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 2 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 6) wrong.push(`'${what}' lies over '${other}'`);
      }
    });
    host.remove();
    figures.set(url, { smallest: Math.min(Infinity, ...sizes), width, wrong });
  }
  return figures.get(url);
}

async function look(view, section, say) {
  const box = view.document.querySelector('.slides').getBoundingClientRect();
  const scale = box.width / WIDTH;
  const place = rect => ({ left: (rect.left - box.left) / scale, top: (rect.top - box.top) / scale,
    right: (rect.right - box.left) / scale, bottom: (rect.bottom - box.top) / scale });
  if (box.left < -1 || box.top < -1 || box.right > view.innerWidth + 1 || box.bottom > view.innerHeight + 1) say('the page is larger than the window');

  const shown = [...section.querySelectorAll('*')].filter(e => !e.closest('aside') && e.getClientRects().length && view.getComputedStyle(e).visibility !== 'hidden');
  for (const element of shown) {
    const at = place(element.getBoundingClientRect());
    if (at.bottom > HEIGHT + 1 || at.right > WIDTH + 1 || at.left < -1 || at.top < -1) {
      say(`${label(element)} leaves the slide: ${Math.round(at.left)}..${Math.round(at.right)} x ${Math.round(at.top)}..${Math.round(at.bottom)}`);
      break; // its children leave it as well
    }
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && /^(pre|table|div|p|li)$/i.test(element.tagName)) {
      say(`${label(element)} is ${element.scrollWidth} wide in ${element.clientWidth}`);
    }
    const direct = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const size = parseFloat(view.getComputedStyle(element).fontSize);
    if (direct && size < SMALLEST) say(`${label(element)} is ${size} px small`);
  }
  for (const image of section.querySelectorAll('img')) {
    if (!image.complete || image.naturalWidth === 0) { say(`the figure ${image.getAttribute('src')} is missing`); continue; }
    if (!image.getClientRects().length) continue; // belongs to the other theme
    const at = place(image.getBoundingClientRect());
    if (at.bottom - at.top < 60) say(`${label(image)} is ${Math.round(at.bottom - at.top)} px high`);
    const { smallest, width, wrong } = await figure(image.src);
    for (const what of wrong) say(`the figure ${image.getAttribute('src')}: ${what}`);
    const size = smallest * (at.right - at.left) / width;
    if (size < SMALLEST_FIGURE) say(`the text of ${image.getAttribute('src')} is ${size.toFixed(1)} px small`);
  }
  // Boxes that contain no other box must not cover each other.
  const number = view.document.querySelector('.slide-number');
  const leaves = [...(number ? [number] : []), ...shown].filter(e => e === number || (e.matches(BLOCKS) && !e.querySelector(BLOCKS) && (e.tagName === 'IMG' || e.textContent.trim())));
  const places = leaves.map(e => place(e.getBoundingClientRect()));
  for (let i = 0; i < leaves.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      const x = Math.min(places[i].right, places[j].right) - Math.max(places[i].left, places[j].left);
      const y = Math.min(places[i].bottom, places[j].bottom) - Math.max(places[i].top, places[j].top);
      if (x > 2 && y > 2) say(`${label(leaves[i])} lies over ${label(leaves[j])}`);
    }
  }
}

async function probe(deck, width, height) {
  const problems = [];
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${width}px;height:${height}px;border:0;position:absolute;left:0;top:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = `/${deck}/index.html?dark`; });
  const view = frame.contentWindow;
  for (let i = 0; i < 300 && !view.Reveal?.isReady(); i += 1) await sleep(10);
  if (!view.Reveal?.isReady()) return { deck, width, height, slides: 0, problems: ['reveal.js does not start'] };
  await view.document.fonts.ready;
  const sections = [...view.document.querySelectorAll('.slides > section')];
  for (let i = 0; i < sections.length; i += 1) {
    view.Reveal.slide(i);
    await Promise.all([...sections[i].querySelectorAll('img')].map(image => image.decode().catch(() => {})));
    const title = sections[i].querySelector('h1, h2')?.textContent.trim();
    await look(view, sections[i], what => problems.push(`slide ${i + 1} '${title}': ${what}`));
  }
  for (const error of view.ridgeErrors) problems.push(`console: ${error}`);
  frame.remove();
  return { deck, width, height, slides: sections.length, problems };
}

(async () => {
  const { decks, sizes } = await (await fetch('/plan.json')).json();
  const results = [];
  try {
    for (const deck of decks) for (const [width, height] of sizes) results.push(await probe(deck, width, height));
  } catch (error) {
    results.push({ deck: 'probe', width: 0, height: 0, slides: 0, problems: [`${error.stack}`] });
  }
  await fetch('/result', { method: 'POST', body: JSON.stringify(results) });
})();
