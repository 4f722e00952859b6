// Shapes for all figures, in one look. Each file carries its dark and its light colours and takes the reader's, so that one
// file serves GitHub, decks and book, and its line in the Markdown is an ordinary image with alternative text.
// Classes: `t` text, `q` quiet text, `a` accent, `w` warning, `g` a third colour, `p` panel, `o` text on a filled shape;
// `sa`, `sw`, `sg`, `sq` are lines.
const DARK = { page: '#10171f', t: '#eef2f6', q: '#a9b6c4', a: '#62bdf0', w: '#f0a830', g: '#5fc9a8', p: '#31404f', o: '#0b1117', r: '#4c5b6a' };
const LIGHT = { page: '#fff', t: '#17202a', q: '#4a5868', a: '#005a94', w: '#a34700', g: '#00664f', p: '#d5dde5', o: '#fff', r: '#9aa7b4' };
export const PALETTES = { dark: DARK, light: LIGHT };
const look = colours => `.page{fill:${colours.page}}` + ['t', 'q', 'a', 'w', 'g', 'p', 'o'].map(k => `.${k}{fill:${colours[k]}}`).join('')
  + ['t', 'q', 'a', 'w', 'g', 'r'].map(k => `.s${k}{stroke:${colours[k]}}`).join('')
  + ['t', 'q', 'a', 'w', 'g'].map(k => `.m${k}{fill:${colours[k]}}`).join('');

export const escape = text => String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const n = value => String(Math.round(value * 10) / 10);

export const rect = (x, y, w, h, style = 'p', more = '') => `<rect class="${style}" x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ${more}/>`;
export const frame = (x, y, w, h, style = 'sq', more = '') => `<rect class="${style} f" x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ${more}/>`;
// `at`: start, middle or end
export const text = (x, y, what, { style = 't', size = 22, at = 'start', mono = false, bold = false, more = '' } = {}) =>
  `<text class="${style}${mono ? ' mono' : ''}" x="${n(x)}" y="${n(y)}" font-size="${n(size)}"${at === 'start' ? '' : ` text-anchor="${at}"`}${bold ? ' font-weight="700"' : ''} ${more}>${escape(what)}</text>`;
export const line = (x1, y1, x2, y2, style = 'sq', width = 2, more = '') => `<path class="${style} f" stroke-width="${width}" d="M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}" ${more}/>`;
export const dashed = (x1, y1, x2, y2, style = 'sa', width = 2) => line(x1, y1, x2, y2, style, width, 'stroke-dasharray="6 6"');
export const arrow = (x1, y1, x2, y2, style = 'sa', width = 3) => line(x1, y1, x2, y2, style, width, `marker-end="url(#${style.slice(1)})"`);
export const path = (d, style = 'sa', width = 3, more = '') => `<path class="${style} f" stroke-width="${width}" d="${d}" ${more}/>`;
// A filled box with its text in the middle.
export const box = (x, y, w, h, what, style = 'p', { size = 22, over = style === 'p' ? 't' : 'o', more = '', mono = false } = {}) =>
  rect(x, y, w, h, style, `rx="4" ${more}`) + text(x + w / 2, y + h / 2 + size * 0.36, what, { style: over, size, at: 'middle', mono });
export const wrap = (what, width) => what.split(' ').reduce((lines, word) => {
  if (lines.length && `${lines.at(-1)} ${word}`.length <= width) lines[lines.length - 1] += ` ${word}`;
  else lines.push(word);
  return lines;
}, []);

export const range = count => Array.from({ length: count }, (_, i) => i);
export const grid = (columns, rows, make) => range(rows).map(r => range(columns).map(c => make(c, r)));

// A whole file. `style` is more CSS: animations are written for readers who have not asked for less motion.
export function page(width, height, title, desc, body, style = '') {
  const inside = [body].flat(9).join('\n');
  const markers = ['a', 'w', 'g', 'q', 't'].filter(k => inside.includes(`url(#${k})`))
    .map(k => `<marker id="${k}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto-start-reverse"><path class="m${k}" d="M0 0L8 4L0 8z"/></marker>`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${escape(title)}</title>
<desc id="desc">${escape(desc)}</desc>
<style>${look(DARK)}.f{fill:none}text{font-family:'Inter','Segoe UI','Helvetica Neue','DejaVu Sans',sans-serif}.mono{font-family:'JetBrains Mono','Cascadia Mono','Menlo','DejaVu Sans Mono',monospace}
@media (prefers-color-scheme:light){${look(LIGHT)}}${style && `\n${style}`}</style>
${markers && `<defs>${markers}</defs>\n`}<rect class="page" width="${width}" height="${height}"/>
${inside}
</svg>
`;
}
