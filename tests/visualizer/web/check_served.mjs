// The visualizer behind the server: `ridge viz --web FILE`, and the tab of `ridge serve`, in headless Chromium.
//
//   node check_served.mjs SOURCE_DIR BUILD_DIR
//
// RIDGE_PICTURES=DIR leaves pictures there. Exit codes: 0 right, 1 wrong, 77 a Chromium or npm's registry is missing.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchPuppeteer, impostor, Server, skip } from '../../serve/browser.mjs';
import { driver } from './drive.mjs';
import { compare } from './pixels.mjs';
import { viewsOf } from './views.mjs';

const [source, build] = process.argv.slice(2);
const browserPath = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browserPath) skip('no Chromium or Chrome here to show the page with');
const puppeteer = fetchPuppeteer(build);

let failures = 0;
const check = (what, good, more = '') => {
  console.log(`${good ? 'ok' : 'FAILED'}: ${what}${good ? '' : ` ${more}`}`);
  if (!good) failures += 1;
};
const scratch = mkdtempSync(join(tmpdir(), 'ridge-viz-served-'));
const pictures = process.env.RIDGE_PICTURES ?? scratch;
mkdirSync(pictures, { recursive: true });
const ridge = join(build, 'bin', 'ridge');
const server = new Server(build);
const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, userDataDir: join(scratch, 'profile'),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
const blank = await browser.newPage();
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 720 });
page.on('console', message => { if (message.type() === 'error' && !/Failed to load resource|Cross-Origin-Opener-Policy/.test(message.text())) check('the console is quiet', false, message.text()); });
page.on('pageerror', error => check('no script fails', false, String(error)));
const { until, shown, settle, items, place, click } = driver(page);
async function picture(name) {
  const file = join(pictures, `${name}.png`);
  await page.screenshot({ path: file });
  return file;
}
// How many visualizers run.
const programs = () => spawnSync('pgrep', ['-fc', `^${join(build, 'bin', 'ridge-viz')} --web`], { encoding: 'utf8' }).stdout.trim();

async function drag(name) {
  const before = await picture(`${name}_before`), box = await page.$eval('canvas', e => { const b = e.getBoundingClientRect(); return { x: b.left + b.width / 2, y: b.top + b.height / 2 }; });
  await page.mouse.move(box.x, box.y);
  for (let i = 0; i < 4; ++i) await page.mouse.wheel({ deltaY: -100 });
  await settle();
  const zoomed = await picture(`${name}_zoomed`);
  check(`${name}: the wheel zooms`, (await compare(blank, before, zoomed)).different > 0.01);
  await page.mouse.down();
  await page.mouse.move(box.x - 150, box.y, { steps: 10 });
  await page.mouse.up();
  await settle();
  check(`${name}: a drag changes the picture`, (await compare(blank, zoomed, await picture(`${name}_dragged`))).different > 0.003);
}

const ends = [];   // of what is still running when a step fails
async function alone(files) {
  const child = spawn(ridge, ['viz', '--web', ...files], { env: { ...process.env, RIDGE_WORK: join(scratch, 'work') }, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  ends.push(() => child.kill());
  const url = await new Promise((done, fail) => {
    child.stdout.on('data', data => { said += data; const found = said.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//); if (found) done(found[0]); });
    child.on('exit', code => fail(new Error(`ridge viz --web ended with ${code}: ${said}`)));
  });
  return { child, url };
}
try {
  { // Alone, for any trace.
    const { child, url } = await alone([...viewsOf(source).timeline, viewsOf(source).warp[0]]);
    await page.goto(url, { waitUntil: 'load' });
    await shown();
    await settle();
    const told = await page.$eval('#says', e => e.textContent);
    check('ridge viz --web shows several files in one window', / and 2 more/.test(told), told);
    await page.focus('canvas');
    await page.keyboard.press('3');
    await settle();
    check('and each in its view', /^Warp: /.test(await page.$eval('#says', e => e.textContent)), await page.$eval('#says', e => e.textContent));
    await page.keyboard.press('2');
    await settle();
    await drag('trace');
    // The clipboard, both ways, through the server.
    await browser.defaultBrowserContext().overridePermissions(new URL(url).origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
    const chord = async key => { await page.keyboard.down('Control'); await page.keyboard.press(key, key === 'v' ? { commands: ['Paste'] } : {}); await page.keyboard.up('Control'); await settle(); };
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await click('search');
    await page.keyboard.type('gemm');
    await settle();
    await chord('a');
    await chord('c');
    await until(async () => await navigator.clipboard.readText() === 'gemm').catch(() => {});
    check('a copy in the visualizer is on the browser\'s clipboard', await clipboard() === 'gemm', await clipboard());
    await page.evaluate(() => navigator.clipboard.writeText('größe 日本'));
    await chord('v');
    await chord('a');
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await chord('c');
    await until(async () => await navigator.clipboard.readText() !== '').catch(() => {});
    check('a paste arrives in the visualizer', await clipboard() === 'größe 日本', await clipboard());
    await page.keyboard.press('Escape');
    await settle();
    check('one visualizer runs', programs() === '1', programs());
    await page.goto('about:blank');
    for (let i = 0; i < 50 && programs() !== '0'; ++i) await new Promise(done => setTimeout(done, 100));
    check('and ends with its page', programs() === '0', programs());
    // A picture that needs no file, by the page's address.
    await page.goto(`${url}?view=warp&set=show=swizzle`, { waitUntil: 'load' });
    await shown();
    await settle();
    check('the page shows the view that its address names', (await items()).some(item => item.name.startsWith('tile/')));
    await page.goto('about:blank');
    const ended = new Promise(done => child.on('exit', done));
    child.kill('SIGINT');
    check('Ctrl-C ends the server in order', await ended === 0);
  }

  { // Another program at the port of a server that has ended.
    const { child, url } = await alone(viewsOf(source).warp);
    await page.goto(url, { waitUntil: 'load' });
    await shown();
    const ended = new Promise(done => child.on('exit', done)), { port, pathname } = new URL(url);
    child.kill('SIGKILL');
    await ended;
    const stranger = await impostor(port);
    for (let i = 0; i < 100 && stranger.heard.length < 2; ++i) await new Promise(done => setTimeout(done, 100));
    check('another program at the port hears questions alone', stranger.heard.length >= 2 && stranger.heard.every(r => r.url.startsWith('/prove?question=')), JSON.stringify(stranger.heard));
    check('and no token', !JSON.stringify(stranger.heard).includes(pathname.split('/')[1]));
    await page.goto('about:blank');
    await stranger.end();
  }

  { // The tab of a lab: a timeline and a warp view of the last check.
    const url = await server.start();
    const environment = { ...process.env, RIDGE_WORK: server.work, RIDGE_RESULTS: join(server.home, 'results') };
    const solution = join(source, 'solutions', '01_coalescing'), mine = join(server.work, '01_coalescing');
    for (const file of readdirSync(solution).filter(name => name.endsWith('.cu'))) cpSync(join(solution, file), join(mine, file));
    const checked = spawnSync(ridge, ['check', '01', '--backend', 'cpu'], { env: environment, encoding: 'utf8' });
    check('the check runs', checked.status === 0, checked.stdout + checked.stderr);
    await page.goto(url, { waitUntil: 'load' });
    await until(() => document.querySelector('#r-shown h2'));
    // The line under the cursor: what it asked of memory.
    const stand = text => page.$eval('.CodeMirror', (e, t) => {
      const lines = e.CodeMirror.getValue().split('\n');
      e.CodeMirror.setCursor({ line: lines.findIndex(l => l.includes(t)), ch: 0 });
    }, text);
    await stand('reinterpret_cast<float4*>(out)[i]');
    await until(() => document.getElementById('r-line')?.hidden === false);
    const told = await page.$eval('#r-line summary', e => e.textContent);
    check('a line that reads and writes says what it asked for', /^Line 14: copy_kernel: \d+ requests \(loads, global memory\), 16 sectors each, as few as can be\. \d+ requests \(stores/.test(told), told);
    await page.$eval('#r-line', e => { e.open = true; });
    await until(() => document.querySelectorAll('#r-line svg').length === 2);
    await picture('line_view');
    check('and draws a request of each access, 32 lanes of it', (await page.$$eval('#r-line svg', all => all.map(e => e.querySelectorAll('.lane').length))).join() === '32,32');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await picture('line_view_dark');
    await page.emulateMediaFeatures([]);
    await stand('#include');
    await until(() => document.getElementById('r-line').hidden);
    check('a line that asks for nothing says nothing', true);
    await page.keyboard.press('F4');
    await until(() => document.querySelectorAll('#r-viz-views button').length > 0).catch(() => picture('tab_nothing'));
    const names = await page.$$eval('#r-viz-views button', all => all.map(e => e.textContent));
    console.log(`   views: ${names.join(', ')}`);
    for (const [i, name] of names.entries()) {
      await page.evaluate(k => document.querySelectorAll('#r-viz-views button')[k].click(), i);
      await shown();
      await settle();
      await picture(`tab_${i}`);
      check(`the tab shows "${name}"`, (await items()).length > 5);
    }
    check('a warp view is among them', names.some(name => /warp/i.test(name)), names.join());
    await page.keyboard.press('F4');
    await until(() => document.getElementById('r-viz').hidden);
    check('F4 leads back to the lab', true);
    await page.goto('about:blank');
    await server.end();
  }
} catch (error) {
  check('all steps are taken', false, error.stack);
}
for (const end of ends) end();
await server.end('SIGTERM').catch(() => {});
await browser.close();
server.remove();
rmSync(scratch, { recursive: true, force: true });
process.exit(failures ? 1 : 0);
