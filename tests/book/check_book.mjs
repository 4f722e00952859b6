// Makes the book and looks at each of its pages in headless Chromium: links, widths, contrast, alternative texts.
//
//   node check_book.mjs SOURCE_DIR BUILD_DIR
//
// RIDGE_PICTURES=DIR leaves pictures of three lessons in DIR. RIDGE_BOOK=DIR looks at a book that is there already.
// Exit codes: 0 right, 1 wrong, 77 the generator, npm's registry or a Chromium is missing.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchAxe } from './axe.mjs';

const WIDTHS = [360, 768, 1440];
const FEWEST_PAGES = 30;
const PICTURES = ['01_coalescing', '02_tiling', '03_warp_shuffle', '04_tensor_core', '06_ring_allreduce', '07_ddp', '08_pipeline'].map(lab => `labs/${lab}/README.html`);
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png', '.json': 'application/json' };

const [source, build] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const skip = why => { console.log(`skipped: ${why}`); process.exit(77); };

const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) skip('no Chromium or Chrome here to show the book with');

// ---- the book
const root = process.env.RIDGE_BOOK ?? join(build, 'book-test');
if (!process.env.RIDGE_BOOK) {
  const made = spawnSync('sh', [join(source, 'book', 'make.sh'), source, build, '--out', root], { encoding: 'utf8' });
  if (made.status === 3) skip(made.stderr.trim().replace(/\n/g, '; '));
  if (made.status !== 0) { console.log(`FAILED: the book cannot be made:\n${made.stdout}${made.stderr}`); process.exit(1); }
}

const { path: axe, skip: offline, failed } = fetchAxe(build);
if (offline) skip(offline);
if (failed) { console.log(`FAILED: ${failed}`); process.exit(1); }

const files = folder => readdirSync(folder, { withFileTypes: true }).flatMap(entry => entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]);
const pages = files(root).filter(file => file.endsWith('.html')).map(file => relative(root, file)).sort();

// ---- links: every file and every anchor that a page names is there
let failures = 0;
const fail = what => { failures += 1; console.log(`FAILED: ${what}`); };
const idsOf = new Map();
const ids = file => {
  if (!idsOf.has(file)) idsOf.set(file, new Set([...readFileSync(file, 'utf8').matchAll(/\s(?:id|name)="([^"]+)"/g)].map(match => match[1])));
  return idsOf.get(file);
};
let links = 0;
for (const page of pages) {
  const text = readFileSync(join(root, page), 'utf8').replace(/<script\b[^>]*>[\s\S]*?<\/script>|<!--[\s\S]*?-->/g, script => script.match(/^<script\b[^>]*>/)?.[0] ?? '');
  for (const [, name, link] of text.matchAll(/\s(href|src|srcset)="([^"]*)"/g)) {
    if (/^(data:|mailto:)/.test(link)) continue;
    if (/^([a-z]+:)?\/\//.test(link)) {
      if (name !== 'href') fail(`${page} loads ${link}: the book must open without a network`);
      continue;
    }
    links += 1;
    const [path, anchor] = link.replace(/\?[^#]*/, '').split('#');
    const target = path ? normalize(join(root, dirname(page), decodeURIComponent(path))) : join(root, page);
    if (!existsSync(target)) fail(`${page}: ${link}: there is no such file in the book`);
    else if (anchor && target.endsWith('.html') && !target.startsWith(join(root, 'slides/0')) && !ids(target).has(decodeURIComponent(anchor))) fail(`${page}: ${link}: there is no such place`);
  }
}
const lessons = pages.filter(page => !/^slides\/\d\d_/.test(page)); // decks have tests of their own
if (lessons.length < FEWEST_PAGES) fail(`the book has ${lessons.length} pages, fewer than ${FEWEST_PAGES}`);
for (const lab of readdirSync(join(source, 'labs')).filter(name => existsSync(join(source, 'labs', name, 'lab.toml')))) {
  if (!lessons.includes(`labs/${lab}/README.html`)) fail(`the book has no lesson of ${lab}`);
}

// ---- the browser
let finish;
const finished = new Promise(done => { finish = done; });
const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const answer = (body, type = 'text/html', code = 200) => { response.writeHead(code, { 'Content-Type': `${type}; charset=utf-8` }); response.end(body); };
  if (url.pathname === '/-probe') return answer('<!doctype html><title>probe</title><body style="margin:0"><script src="/-probe.js"></script>');
  if (url.pathname === '/-frame') {
    const { page, theme, width } = Object.fromEntries(url.searchParams);
    return answer(`<!doctype html><body style="margin:0"><iframe src="/${page}?theme=${theme}" style="border:0;width:${width}px;height:2600px"></iframe>`);
  }
  if (url.pathname === '/-auto') {
    return answer(`<!doctype html><iframe src="/index.html"></iframe><pre></pre><script>document.querySelector('iframe').onload = e => {
      const { backgroundColor, color } = getComputedStyle(e.target.contentDocument.body); document.querySelector('pre').textContent = 'COLOURS ' + backgroundColor + '; ' + color; };</script>`);
  }
  if (url.pathname === '/-probe.js') return answer(readFileSync(join(here, 'probe.js')), 'text/javascript');
  if (url.pathname === '/-axe.js') return answer(readFileSync(axe), 'text/javascript');
  if (url.pathname === '/-plan.json') return answer(JSON.stringify({ pages: lessons, widths: WIDTHS }), 'application/json');
  if (url.pathname === '/-result') {
    let text = '';
    request.on('data', part => { text += part; });
    request.on('end', () => { answer('thanks'); finish(JSON.parse(text)); });
    return undefined;
  }
  const file = join(root, normalize(decodeURIComponent(url.pathname)));
  if (!file.startsWith(root) || !existsSync(file)) return answer(`no ${url.pathname}`, 'text/plain', 404);
  let body = readFileSync(file);
  const theme = url.searchParams.get('theme');
  if (theme) body = String(body).replace(/document\.body\.dataset\.theme = [^;]*;/, `document.body.dataset.theme = "${theme}"; localStorage.setItem("theme", "${theme}");`);
  return answer(body, TYPES[extname(file)] ?? 'application/octet-stream');
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}`;

const profile = mkdtempSync(join(tmpdir(), 'ridge-book-'));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', `--user-data-dir=${profile}/profile`];
const started = Date.now();
const chromium = spawn(browser, [...FLAGS, '--remote-debugging-port=0', '--window-size=1500,1000', `${base}/-probe`], { stdio: 'ignore', detached: true });
const ended = new Promise(done => chromium.on('exit', done));
const results = await Promise.race([finished, new Promise(done => setTimeout(done, 900e3)), ended.then(() => new Promise(done => setTimeout(done, 500)))]);
chromium.kill();
if (!results) fail(`${browser} gave no answer (${Math.round((Date.now() - started) / 1000)} s)`);
for (const problem of results?.problems ?? []) fail(problem);

// Without a choice of its own the book follows the system: a dark page has light letters.
for (const [scheme, number] of [['dark', 0], ['light', 1]]) {
  const shown = spawn(browser, [...FLAGS, `--user-data-dir=${profile}/${scheme}`, `--blink-settings=preferredColorScheme=${number}`, '--virtual-time-budget=4000', '--dump-dom', `${base}/-auto`], { stdio: ['ignore', 'pipe', 'ignore'] });
  let dom = '';
  shown.stdout.on('data', part => { dom += part; });
  await new Promise(done => shown.on('close', done));
  const [page, letters] = [...dom.matchAll(/rgba?\((\d+), (\d+), (\d+)/g)].map(([, r, g, b]) => Number(r) + Number(g) + Number(b));
  if (!(scheme === 'dark' ? page < 150 && letters > 500 : page > 600 && letters < 250)) fail(`a system that is ${scheme} shows a page of ${dom.match(/COLOURS [^<]*/)?.[0] ?? 'no colours'}`);
}

const pictures = process.env.RIDGE_PICTURES;
if (pictures) {
  for (const page of PICTURES) for (const theme of ['light', 'dark']) for (const width of [360, 1440]) {
    const name = `${page.split('/')[1]}_${theme}_${width}.png`;
    // Chromium's own window has no width below 500 pixels: a frame has.
    const frame = `${base}/-frame?page=${page}&theme=${theme}&width=${width}`;
    const shot = spawn(browser, [...FLAGS, '--virtual-time-budget=6000', `--window-size=${Math.max(width, 500)},2600`, `--screenshot=${join(pictures, name)}`, frame], { stdio: 'ignore' });
    await new Promise(done => shot.on('exit', done));
  }
}
server.close();
server.closeAllConnections();
await Promise.race([ended, new Promise(done => setTimeout(done, 3000))]);
try { process.kill(-chromium.pid, 'SIGKILL'); } catch { /* the browser's helpers have ended */ }
for (let left = 20; ; --left) {
  try { rmSync(profile, { recursive: true, force: true }); break; } catch (error) { if (left === 0) throw error; }
  await new Promise(done => setTimeout(done, 250));
}
console.log(`${lessons.length} pages, ${links} links, ${results?.views ?? 0} views, ${results?.audits ?? 0} audits, ${failures} failed, ${((Date.now() - started) / 1000).toFixed(1)} s`);
process.exit(failures === 0 ? 0 : 1);
