// Can everybody use the decks? Shows each slide in headless Chromium, dark and light, to axe-core (contrast, headings,
// alternative texts, language), goes through the deck with the keyboard, and looks for motion where less is wanted.
//
//   node check_access.mjs SOURCE_DIR BUILD_DIR [NN_name...]        all decks without a name
//
// Exit codes: 0 right, 1 wrong, 77 no Chromium, no decks built, or npm cannot reach its registry.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchAxe } from '../book/axe.mjs';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

const [source, build, ...named] = process.argv.slice(2);
const root = join(build, 'slides');
const here = dirname(fileURLToPath(import.meta.url));
const skip = why => { console.log(`skipped: ${why}`); process.exit(77); };
const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) skip('no Chromium or Chrome here to show the slides with');
const decks = named.length ? named : readdirSync(join(source, 'slides')).filter(name => existsSync(join(source, 'slides', name, 'deck.md'))).sort();
const unbuilt = decks.filter(deck => !existsSync(join(root, deck, 'index.html')));
if (unbuilt.length) skip(`not built: ${unbuilt.join(' ')}; cmake --build build --target slides_html`);
const { path: axe, skip: offline, failed } = fetchAxe(build);
if (offline) skip(offline);
if (failed) { console.log(`FAILED: ${failed}`); process.exit(1); }

let finish;
const finished = new Promise(done => { finish = done; });
const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const answer = (body, type = 'text/html', code = 200) => { response.writeHead(code, { 'Content-Type': `${type}; charset=utf-8` }); response.end(body); };
  if (url.pathname === '/-access') return answer('<!doctype html><title>access</title><body style="margin:0"><script src="/-access.js"></script>');
  if (url.pathname === '/-access.js') return answer(readFileSync(join(here, 'access.js')), 'text/javascript');
  if (url.pathname === '/-axe.js') return answer(readFileSync(axe), 'text/javascript');
  if (url.pathname === '/-plan.json') return answer(JSON.stringify(decks), 'application/json');
  if (url.pathname === '/-result') {
    let text = '';
    request.on('data', part => { text += part; });
    request.on('end', () => { answer('thanks'); finish(JSON.parse(text)); });
    return undefined;
  }
  const file = join(root, normalize(decodeURIComponent(url.pathname)));
  if (!file.startsWith(root) || !existsSync(file)) return answer(`no ${url.pathname}`, 'text/plain', 404);
  return answer(readFileSync(file), TYPES[extname(file)] ?? 'application/octet-stream');
});
await new Promise(done => server.listen(0, '127.0.0.1', done));

const profile = mkdtempSync(join(tmpdir(), 'ridge-access-'));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-prefers-reduced-motion', `--user-data-dir=${profile}/profile`];
const started = Date.now();
const chromium = spawn(browser, [...FLAGS, '--remote-debugging-port=0', '--window-size=1500,900', `http://127.0.0.1:${server.address().port}/-access`], { stdio: 'ignore', detached: true });
const ended = new Promise(done => chromium.on('exit', done));
const results = await Promise.race([finished, new Promise(done => setTimeout(done, 800e3)), ended.then(() => new Promise(done => setTimeout(done, 500)))]);
chromium.kill();

const problems = results?.problems ?? [`${browser} gave no answer (${Math.round((Date.now() - started) / 1000)} s)`];
for (const problem of problems) console.log(`FAILED: ${problem}`);
server.close();
server.closeAllConnections();
await Promise.race([ended, new Promise(done => setTimeout(done, 3000))]);
try { process.kill(-chromium.pid, 'SIGKILL'); } catch { /* the browser's helpers have ended */ }
for (let left = 20; ; --left) {
  try { rmSync(profile, { recursive: true, force: true }); break; } catch (error) { if (left === 0) throw error; }
  await new Promise(done => setTimeout(done, 250));
}
console.log(`${decks.length} decks, ${results?.audits ?? 0} slides audited, ${problems.length} problems, ${((Date.now() - started) / 1000).toFixed(1)} s`);
process.exit(problems.length === 0 ? 0 : 1);
