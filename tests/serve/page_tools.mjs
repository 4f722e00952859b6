// Chromium on the page of a server, with what all tests of the page do there.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchAxe } from '../book/axe.mjs';
import { fetchPuppeteer, Server, skip } from './browser.mjs';

export const [source, build] = process.argv.slice(2);
const browserPath = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browserPath) skip('no Chromium or Chrome here to show the page with');
const puppeteer = fetchPuppeteer(build);
const axe = fetchAxe(build);
if (axe.skip) skip(axe.skip);
if (axe.failed) { console.log(`FAILED: ${axe.failed}`); process.exit(1); }
const axeText = readFileSync(axe.path, 'utf8');

let failures = 0;
export const check = (what, good, more = '') => {
  console.log(`${good ? 'ok' : 'FAILED'}: ${what}${good ? '' : ` ${more}`}`);
  if (!good) failures += 1;
};
export const server = new Server(build);
export const mine = join(server.work, '01_coalescing', 'copy.cu');
export const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, userDataDir: join(server.home, 'profile'),
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage', '--host-resolver-rules=MAP ondemand.test 127.0.0.1'] });

// Whether the student's file begins with `text` within some seconds.
export async function file(text) {
  for (let i = 0; i < 500 && !readFileSync(mine, 'utf8').startsWith(text); ++i) await new Promise(done => setTimeout(done, 50));
  return readFileSync(mine, 'utf8').startsWith(text);
}
export const shown = page => page.$eval('#r-shown', e => e.innerText);
export const code = page => page.$eval('.CodeMirror', e => e.CodeMirror.getValue());
export const put = (page, text) => page.$eval('.CodeMirror', (e, t) => e.CodeMirror.setValue(t), text);
export const until = (page, what, ...more) => page.waitForFunction(what, { timeout: 60000 }, ...more);
export const saved = page => until(page, () => document.getElementById('r-saved').textContent === 'saved');
export async function chord(page, ...keys) {
  for (const key of keys.slice(0, -1)) await page.keyboard.down(key);
  await page.keyboard.press(keys[keys.length - 1]);
  for (const key of keys.slice(0, -1).reverse()) await page.keyboard.up(key);
}
// Checks the task that is open; its predictions are left out.
export async function judge(page) {
  const asked = () => page.evaluate(() => document.activeElement.closest('#r-predict') !== null);
  const answers = await asked();
  await chord(page, 'Control', 'Enter');
  if (!answers && await asked()) await chord(page, 'Control', 'Enter');
  await until(page, () => !document.getElementById('r-stop').hidden);
  await until(page, () => document.getElementById('r-stop').hidden);
}
export async function open(url) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 720 });
  page.on('console', message => { if (message.type() === 'error' && !/Failed to load resource|ERR_|Cross-Origin-Opener-Policy/.test(message.text())) check('the console is quiet', false, message.text()); });
  page.on('pageerror', error => check('no script fails', false, String(error)));
  await page.goto(url, { waitUntil: 'load' });
  await until(page, () => document.querySelector('#r-lesson h1') && document.querySelector('#r-shown h2'));
  return page;
}
export async function look(page, name) {
  for (const theme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    if (process.env.RIDGE_PICTURES) await page.screenshot({ path: join(process.env.RIDGE_PICTURES, `serve_${name}_${theme}.png`) });
    await page.evaluate(axeText);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const serious = violations.filter(v => ['serious', 'critical'].includes(v.impact));
    check(`axe-core finds nothing serious: ${name}, ${theme}`, serious.length === 0, JSON.stringify(serious.map(v => [v.id, v.nodes.map(n => [n.html.slice(0, 160), n.failureSummary])]), null, 1));
  }
  const wide = await page.evaluate(() => ['#r-lesson', '#r-work', '#r-result', 'header'].filter(s => {
    const e = document.querySelector(s);
    return e.scrollWidth > e.clientWidth + 1;
  }));
  check(`nothing is wider than its column: ${name}`, wide.length === 0 && await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), wide.join(' '));
}


// Runs a test's steps, and ends the program with its exit code.
export async function run(steps) {
  try {
    await steps();
  } catch (error) {
    check('the way to the end', false, error.stack);
  } finally {
    await browser.close();
    await server.end('SIGKILL');
    server.remove();
  }
  process.exit(failures > 0 ? 1 : 0);
}
