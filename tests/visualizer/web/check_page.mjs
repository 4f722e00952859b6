// The visualizer's page in headless Chromium: every view beside the picture of the program with a window, drag and zoom, the
// clipboard, sizes, both themes, a lost context, a connection that ends.
//
//   node check_page.mjs SOURCE_DIR BUILD_DIR
//
// RIDGE_PICTURES=DIR leaves pictures there. Exit codes: 0 right, 1 wrong, 77 a Chromium or npm's registry is missing.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchAxe } from '../../book/axe.mjs';
import { fetchPuppeteer, skip } from '../../serve/browser.mjs';
import { driver } from './drive.mjs';
import { compare } from './pixels.mjs';
import { relay } from './relay.mjs';
import { viewsOf } from './views.mjs';

const [source, build] = process.argv.slice(2);
const browserPath = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browserPath) skip('no Chromium or Chrome here to show the page with');
const puppeteer = fetchPuppeteer(build);
const axe = fetchAxe(build);
if (axe.skip) skip(axe.skip);
if (axe.failed) { console.log(`FAILED: ${axe.failed}`); process.exit(1); }
const screens = spawnSync('sh', ['-c', 'command -v xvfb-run']).status === 0;

let failures = 0;
const check = (what, good, more = '') => {
  console.log(`${good ? 'ok' : 'FAILED'}: ${what}${good ? '' : ` ${more}`}`);
  if (!good) failures += 1;
};
const sleep = ms => new Promise(done => setTimeout(done, ms));
const program = join(build, 'bin', 'ridge-viz');
const views = viewsOf(source);
let files = views.roofline;
const server = await relay(join(source, 'visualizer', 'web', 'page'), () => [program, '--web', ...files]);
const scratch = mkdtempSync(join(tmpdir(), 'ridge-viz-page-'));
const pictures = process.env.RIDGE_PICTURES ?? scratch;
mkdirSync(pictures, { recursive: true });
const origin = `http://127.0.0.1:${server.port}`;
const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, userDataDir: join(scratch, 'profile'),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
await browser.defaultBrowserContext().overridePermissions(origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
const blank = await browser.newPage();

const page = await browser.newPage();
page.on('console', message => { if (message.type() === 'error' && !/Failed to load resource|WebSocket connection|CONTEXT_LOST/.test(message.text())) check('the console is quiet', false, message.text()); });
page.on('pageerror', error => check('no script fails', false, String(error)));

const { counts, until, shown, settle, items, place, click } = driver(page);
async function open(names, { width = 1280, height = 720, ratio = 1, dark = false } = {}) {
  files = names;
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
  await page.mouse.move(0, 0);
  await page.setViewport({ width, height, deviceScaleFactor: ratio });
  await page.goto(`${origin}/viz.html`, { waitUntil: 'load' });
  await shown();
  await settle();
}
async function picture(name) {
  await page.evaluate(() => document.activeElement.blur());   // without the ring of the focus
  await settle();
  const file = join(pictures, `${name}.png`);
  await page.screenshot({ path: file });
  await page.focus('#viz');
  return file;
}
const value = (all, name) => all.findLast(i => i.name === name);

for (const [name, names] of Object.entries(views))
  for (const dark of [false, true]) {
    await open(names, { dark });
    const here = await picture(`web_${name}${dark ? '_dark' : ''}`);
    if (!screens) continue;
    const there = join(scratch, 'window.png');
    const drawn = spawnSync('xvfb-run', ['-a', '-s', '-screen 0 1280x720x24', program, '--screenshot', there, '--size', '1280x720', '--theme', dark ? 'dark' : 'light', ...names],
      { encoding: 'utf8', env: { ...process.env, LIBGL_ALWAYS_SOFTWARE: '1' } });
    if (drawn.status !== 0) { check(`${name}: the program with a window draws`, false, drawn.stderr); continue; }
    const off = await compare(blank, here, there);
    check(`${name}${dark ? ', dark' : ''}: the page's picture is the window's`, off.different < 0.003 && off.mean < 0.5, JSON.stringify(off));
    console.log(`   ${(100 * off.different).toFixed(3)}% of the pixels differ by more than 16 of 255, the mean is ${off.mean.toFixed(3)}`);
    if (process.env.RIDGE_PICTURES) copyFileSync(there, join(pictures, `window_${name}${dark ? '_dark' : ''}.png`));
  }
if (!screens) console.log('skipped: pictures of the program with a window (Debian: apt-get install xvfb xauth)');

{ // What a reader who cannot see the canvas gets; axe on the page.
  await open(views.timeline);
  const words = await page.$eval('#viz', e => e.getAttribute('aria-label'));
  check('the canvas has a name that says what is drawn', /^Visualizer\. Timeline: torch_ddp.1.json.gz and 1 more/.test(words), words);
  check('and so has the line below it', (await page.$eval('#says', e => e.textContent)).startsWith('Timeline: '));
  const tester = readFileSync(axe.path, 'utf8');
  const client = await page.createCDPSession();
  await client.send('Page.setBypassCSP', { enabled: true });
  await page.reload({ waitUntil: 'load' });
  await shown();
  await page.evaluate(tester);
  const found = await page.evaluate(async () => (await window.axe.run()).violations.map(v => `${v.id} (${v.impact})`));
  check('axe-core finds nothing', found.length === 0, found.join(', '));
  await client.send('Page.setBypassCSP', { enabled: false });
}

{ // The mouse.
  await open(views.timeline);
  const before = await picture('drag_before');
  const [x, y] = await place('lanes').catch(() => [640, 400]);
  await page.mouse.move(x, y);
  for (let i = 0; i < 6; ++i) await page.mouse.wheel({ deltaY: -100 });
  await settle();
  const zoomed = await picture('zoomed');
  check('the wheel zooms', (await compare(blank, before, zoomed)).different > 0.02);
  const held = (await counts()).frames;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 20; ++i) { await page.mouse.move(x - 10 * i, y); await sleep(16); }
  await page.mouse.up();
  await settle();
  const dragged = await picture('dragged');
  check('a drag draws frames on its way', (await counts()).frames > held + 5, (await counts()).frames - held);
  check('and changes the picture', (await compare(blank, zoomed, dragged)).different > 0.005);
  await page.mouse.move(x, 300);
  const latencies = (await counts()).latencies;
  check('the time from input to picture is counted', latencies.length > 10 && latencies.every(ms => ms > 0 && ms < 5000));
}

{ // Keys and the clipboard.
  await open(views.timeline);
  await click('search');
  await page.keyboard.type('gemm');
  await settle();
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await settle();
  await page.keyboard.press('c');
  await page.keyboard.up('Control');
  await until(async () => await navigator.clipboard.readText() === 'gemm').catch(() => {});
  check('a copy is on the clipboard of the browser', await page.evaluate(() => navigator.clipboard.readText()) === 'gemm');
  await page.evaluate(() => navigator.clipboard.writeText('nccl'));
  await page.keyboard.down('Control');
  await page.keyboard.press('v', { commands: ['Paste'] });
  await settle();
  await page.keyboard.press('a');
  await settle();
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.keyboard.press('c');
  await page.keyboard.up('Control');
  await until(async () => await navigator.clipboard.readText() === 'nccl').catch(() => {});
  check('a paste arrives in the program', await page.evaluate(() => navigator.clipboard.readText()) === 'nccl');
  await page.keyboard.press('Enter');
  await settle();
  await picture('search');
  await page.keyboard.press('Escape');
  await open(views.roofline);
  await page.keyboard.press('?');
  await settle();
  check('? lists the keys', (await items()).some(i => i.name === 'keys'));
  await page.keyboard.press('Escape');
  await settle();
  check('and Escape closes the list', !(await items()).some(i => i.name === 'keys'));
  await page.keyboard.press('2');
  await settle();
  await page.keyboard.down('Shift');
  await page.keyboard.press('Tab');
  await page.keyboard.up('Shift');
  check('shift and Tab leave the canvas', await page.evaluate(() => document.activeElement.id !== 'viz'));
}

{ // A story, step by step.
  await open(['--story', join(source, 'visualizer', 'stories', '01_transpose', 'story.json')]);
  const steps = [await picture('story_1')];
  for (let i = 2; i <= 3; ++i) {
    await page.keyboard.press('Space');
    await settle();
    steps.push(await picture(`story_${i}`));
    check(`space goes to step ${i} of a story`, (await compare(blank, steps[i - 2], steps[i - 1])).different > 0.005);
  }
}

{ // Sizes and densities.
  await open(views.warp);
  await page.setViewport({ width: 900, height: 600, deviceScaleFactor: 2 });
  await until(() => document.getElementById('viz').width === 1800);
  await settle();
  check('the canvas has as many pixels as the screen', await page.$eval('#viz', e => e.width === 1800 && e.height === 2 * Math.round(e.getBoundingClientRect().height)));
  await picture('density_2');
  await page.setViewport({ width: 1600, height: 900, deviceScaleFactor: 1 });
  await until(() => document.getElementById('viz').width === 1600);
}

{ // A context that is lost, and comes back.
  await open(views.warp);
  const before = await picture('context_before');
  await page.evaluate(async () => {
    const lose = document.getElementById('viz').getContext('webgl2').getExtension('WEBGL_lose_context');
    lose.loseContext();
    await new Promise(done => setTimeout(done, 200));
    lose.restoreContext();
    await new Promise(done => setTimeout(done, 500));
  });
  check('a restored context has the picture again', (await compare(blank, before, await picture('context_after'))).different < 1e-4);
}

{ // A connection that ends.
  await open(views.roofline);
  const before = await picture('reconnect_before');
  for (const socket of server.sockets) socket.destroy();
  await until(() => document.querySelector('canvas').visualizer.state === 'waiting');
  const said = await page.$eval('#says', e => e.textContent);
  check('a lost connection is said', said === 'Connecting to the visualizer again: the connection ended.', said);
  await shown();
  await settle();
  check('and comes back by itself', (await compare(blank, before, await picture('reconnect_after'))).different < 1e-4);
  const broken = join(scratch, 'broken.json');
  writeFileSync(broken, 'no result');
  files = [broken];
  await page.goto(`${origin}/viz.html`, { waitUntil: 'load' });
  await until(() => document.querySelector('canvas')?.visualizer?.state === 'ended');
  const why = await page.$eval('#says', e => e.textContent);
  check('a file that cannot be shown is said with its reason', why.includes('broken.json') && why.includes('Press Enter'), why);
  files = views.roofline;
  await page.focus('#viz');
  await page.keyboard.press('Enter');
  await shown();
  check('and Enter tries again', true);
}

await browser.close();
server.end();
rmSync(scratch, { recursive: true, force: true });
process.exit(failures ? 1 : 0);
