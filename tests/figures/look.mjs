// Can the figures be read? Draws all of them in headless Chromium and looks for texts that leave a figure or cover each
// other, and computes the contrast of the palette's texts.
//
//   node look.mjs SOURCE_DIR [NN]              the figures of one lab
//
// RIDGE_PICTURES=DIR leaves pictures of each folder's figures, dark and light, 360 and 1200 pixels wide.
// Exit codes: 0 right, 1 wrong, 77 no Chromium here.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PALETTES } from '../../figures/kit/svg.mjs';

const [given, only = ''] = process.argv.slice(2);
const source = resolve(given);
let failures = 0;
const fail = what => { failures += 1; console.log(`FAILED: ${what}`); };

// ---- WCAG's contrast of texts with what lies under them
const luminance = colour => {
  const full = colour.length === 4 ? colour.replace(/[0-9a-f]/g, '$&$&') : colour;
  const [r, g, b] = [1, 3, 5].map(i => parseInt(full.slice(i, i + 2), 16) / 255).map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => { const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
for (const [theme, p] of Object.entries(PALETTES)) {
  for (const [over, under] of [['t', 'page'], ['q', 'page'], ['a', 'page'], ['w', 'page'], ['g', 'page'], ['t', 'p'], ['o', 'a'], ['o', 'w'], ['o', 'g']]) {
    const ratio = contrast(p[over], p[under]);
    if (ratio < 4.5) fail(`${theme}: text '${over}' on '${under}' has a contrast of ${ratio.toFixed(2)}: wanted 4.5`);
  }
}

const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) { console.log('skipped: no Chromium or Chrome here to draw the figures with'); process.exit(failures ? 1 : 77); }
const folders = readdirSync(join(source, 'labs')).filter(lab => lab.startsWith(only)).sort().map(lab => `labs/${lab}/figures`).filter(folder => existsSync(join(source, folder)));
const scratch = mkdtempSync(join(tmpdir(), 'ridge-look-'));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--allow-file-access-from-files', `--user-data-dir=${scratch}/profile`, '--virtual-time-budget=3000', '--run-all-compositor-stages-before-draw', '--force-prefers-reduced-motion'];
const chromium = (...more) => spawnSync(browser, [...FLAGS, ...more], { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 100e3 });

// Runs in the page: texts that leave their figure or cover each other, in the still frame of what moves. The visualizer
// clips its own texts.
function texts() {
  return [...document.querySelectorAll('figure')].flatMap(figure => {
    const svg = figure.querySelector('svg'), { width, height } = svg.viewBox.baseVal, wrong = [];
    if (svg.querySelector('clipPath')) return [];
    const boxes = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() && !t.hasAttribute('transform') && !t.closest('[opacity="0"]')).map(t => [t.textContent, t.getBBox()]);
    boxes.forEach(([what, a], i) => {
      if (a.x < 0 || a.y < -1 || a.x + a.width > width || a.y + a.height > height + 1) wrong.push(`'${what}' leaves it`);
      for (const [other, b] of boxes.slice(0, i)) {
        if (Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 2 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 6) wrong.push(`'${what}' lies over '${other}'`);
      }
    });
    return wrong.map(what => `${figure.id}: ${what}`);
  });
}
const figures = folders.flatMap(folder => readdirSync(join(source, folder)).filter(file => file.endsWith('.svg')).sort().map(file => `${folder}/${file}`));
const all = join(scratch, 'all.html');
writeFileSync(all, `<!doctype html><meta charset="utf-8"><body>${figures.map(file => `<figure id="${file}">${readFileSync(join(source, file), 'utf8')}</figure>`).join('')}
<pre id="said"></pre><script>document.getElementById('said').textContent = 'SAID' + JSON.stringify((${texts})()) + 'END';</script></body>`);
const said = chromium('--dump-dom', `file://${all}`).stdout.match(/id="said">SAID(.*)END</)?.[1];
if (!said) fail(`${browser} gave no answer`);
else for (const what of JSON.parse(said.replace(/&amp;/g, '&').replace(/&lt;/g, '<').replace(/&gt;/g, '>'))) fail(what);

if (process.env.RIDGE_PICTURES) {
  for (const folder of folders) for (const theme of ['dark', 'light']) for (const [width, columns] of [[360, 4], [1200, 1]]) {
    const files = figures.filter(file => file.startsWith(folder));
    const high = files.map(file => { const [, w, h] = readFileSync(join(source, file), 'utf8').match(/viewBox="0 0 ([\d.]+) ([\d.]+)"/); return width * h / w + 10; });
    const tall = columns === 1 ? high.reduce((a, b) => a + b, 0) : Array.from({ length: Math.ceil(files.length / columns) }, (_, r) => Math.max(...high.slice(r * columns, (r + 1) * columns))).reduce((a, b) => a + b, 0);
    const sheet = join(scratch, 'sheet.html');
    writeFileSync(sheet, `<!doctype html><html style="color-scheme:${theme}"><body style="margin:0;background:#777;display:grid;grid-template-columns:repeat(${columns},${width}px);gap:10px;align-items:start">${files.map(file => `<img src="file://${join(source, file)}" style="width:${width}px">`).join('')}</body></html>`);
    chromium(`--window-size=${columns * (width + 10)},${Math.ceil(tall) + 90}`, `--screenshot=${join(resolve(process.env.RIDGE_PICTURES), `${folder.split('/')[1]}.${theme}.${width}.png`)}`, `file://${sheet}`);
  }
}
for (let left = 20; ; --left) {
  try { rmSync(scratch, { recursive: true, force: true }); break; } catch (error) { if (left === 0) throw error; }
  await new Promise(done => setTimeout(done, 250));
}
console.log(`${figures.length} figures looked at, ${failures} problems`);
process.exit(failures === 0 ? 0 : 1);
