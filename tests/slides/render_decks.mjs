// Shows every slide of the decks in headless Chromium at 1920 x 1080 and at 1024 x 768. It fails if an element leaves its
// slide, covers another one, is too small to read or is missing, or if the console shows an error (probe.js looks).
//
//   node render_decks.mjs SOURCE_DIR BUILD_DIR [NN_name...]        all decks without a name
//
// RIDGE_PICTURES=DIR leaves a picture of all slides of each deck in DIR (RIDGE_THEME=light for the light theme).
// Exit codes: 0 right, 1 wrong, 77 no Chromium here, or no decks built.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const SIZES = [[1920, 1080], [1024, 768]];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' };
// Comes first in a deck's page, so that it hears every error.
const LISTEN = `<script>window.ridgeErrors = [];
addEventListener('error', e => ridgeErrors.push(e.message || 'cannot load ' + (e.target.src || e.target.href)), true);
addEventListener('unhandledrejection', e => ridgeErrors.push(String(e.reason)));
for (const level of ['error', 'warn']) { const old = console[level]; console[level] = (...all) => { ridgeErrors.push(all.join(' ')); old(...all); }; }
</script>`;

const [source, build, ...named] = process.argv.slice(2);
const root = join(build, 'slides');
const here = dirname(fileURLToPath(import.meta.url));
const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) { console.log('skipped: no Chromium or Chrome here to draw the slides with'); process.exit(77); }
const decks = named.length ? named
  : readdirSync(join(source, 'slides')).filter(name => existsSync(join(source, 'slides', name, 'deck.md'))).sort();
const unbuilt = decks.filter(deck => !existsSync(join(root, deck, 'index.html')));
if (unbuilt.length) { console.log(`skipped: not built: ${unbuilt.join(' ')}; cmake --build build --target slides_html`); process.exit(77); }

let finish;
const finished = new Promise(done => { finish = done; });
function contactSheet(deck, count, theme) {
  const frames = Array.from({ length: count }, (_, i) => `<iframe src="/${deck}/index.html?${theme}#/${i}" style="width:960px;height:540px;border:0"></iframe>`);
  return `<body style="margin:0;background:#777;display:grid;grid-template-columns:960px 960px;gap:8px">${frames.join('')}</body>`;
}
const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const answer = (body, type = 'text/html', code = 200) => { response.writeHead(code, { 'Content-Type': `${type}; charset=utf-8` }); response.end(body); };
  if (url.pathname === '/probe') return answer('<!doctype html><title>probe</title><body><script src="/probe.js"></script>');
  if (url.pathname === '/probe.js') return answer(readFileSync(join(here, 'probe.js')), 'text/javascript');
  if (url.pathname === '/plan.json') return answer(JSON.stringify({ decks, sizes: SIZES }), 'application/json');
  if (url.pathname === '/contact') return answer(contactSheet(url.searchParams.get('deck'), Number(url.searchParams.get('slides')), url.searchParams.get('theme')));
  if (url.pathname === '/result') {
    let text = '';
    request.on('data', part => { text += part; });
    request.on('end', () => { answer('thanks'); finish(JSON.parse(text)); });
    return undefined;
  }
  if (url.pathname === '/favicon.ico') return answer('', 'image/x-icon');
  const file = join(root, normalize(decodeURIComponent(url.pathname)));
  if (!file.startsWith(root) || !existsSync(file)) return answer(`no ${url.pathname}`, 'text/plain', 404);
  let body = readFileSync(file);
  if (file.endsWith('index.html')) body = String(body).replace('<head>', `<head>${LISTEN}`);
  return answer(body, TYPES[extname(file)] ?? 'application/octet-stream');
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}`;

const profile = mkdtempSync(join(tmpdir(), 'ridge-slides-'));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', `--user-data-dir=${profile}/profile`];
const started = Date.now();
const chromium = spawn(browser, [...FLAGS, '--remote-debugging-port=0', '--window-size=1920,1080', `${base}/probe`], { stdio: 'ignore', detached: true });
const results = await Promise.race([finished, new Promise(done => setTimeout(done, 450e3)), new Promise(done => chromium.on('exit', () => setTimeout(done, 500)))]);
chromium.kill();

let failures = 0;
if (!results) { failures = 1; console.log(`FAILED: ${browser} gave no answer (${Math.round((Date.now() - started) / 1000)} s)`); }
for (const { deck, width, height, slides, problems } of results ?? []) {
  for (const problem of problems) console.log(`FAILED: ${deck} at ${width} x ${height}: ${problem}`);
  failures += problems.length;
  if (slides === 0) { failures += 1; console.log(`FAILED: ${deck} at ${width} x ${height} shows no slide`); }
  const pictures = process.env.RIDGE_PICTURES;
  if (pictures && [width, height].join() === SIZES[0].join()) {
    const theme = process.env.RIDGE_THEME ?? 'dark';
    const shot = spawn(browser, [...FLAGS, '--virtual-time-budget=8000', `--window-size=1928,${Math.ceil(slides / 2) * 548}`,
      `--screenshot=${join(pictures, `${deck}.png`)}`, `${base}/contact?deck=${deck}&slides=${slides}&theme=${theme}`], { stdio: 'ignore' });
    await new Promise(done => shot.on('exit', done));
  }
}
server.close();
server.closeAllConnections();
await new Promise(done => { if (chromium.exitCode !== null || chromium.signalCode) done(); else { chromium.on('exit', done); setTimeout(done, 3000); } });
// Chromium's helper processes write into the profile for a moment after it has ended.
try { process.kill(-chromium.pid, 'SIGKILL'); } catch { /* they have ended */ }
for (let left = 20; ; --left) {
  try { rmSync(profile, { recursive: true, force: true }); break; } catch (error) { if (left === 0) throw error; }
  await new Promise(done => setTimeout(done, 250));
}
const total = (results ?? []).reduce((sum, { slides }) => sum + slides, 0);
console.log(`${decks.length} decks, ${total} slides drawn, ${failures} problems, ${((Date.now() - started) / 1000).toFixed(1)} s`);
process.exit(failures === 0 ? 0 : 1);
