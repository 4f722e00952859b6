// The instructor's page that follows the gradebook, in headless Chromium: a change arrives by itself, and the reader's place,
// order and open lists stay.
//
//   node check_live_page.mjs SOURCE_DIR BUILD_DIR ADDRESS     RIDGE_CHANGE: a command, as JSON, that changes the gradebook
//
// RIDGE_PICTURES=DIR leaves pictures there. Exit codes: 0 right, 1 wrong, 77 a Chromium or npm's registry is missing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchAxe } from '../book/axe.mjs';
import { fetchPuppeteer, skip } from '../serve/browser.mjs';

const [source, build, address] = process.argv.slice(2);
const browserPath = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browserPath) skip('no Chromium or Chrome here to show the page with');
const puppeteer = fetchPuppeteer(build);
const axe = fetchAxe(build);
if (axe.skip) skip(axe.skip);
let failures = 0;
const check = (what, good, more = '') => {
  console.log(`${good ? 'ok' : 'FAILED'}: ${what}${good ? '' : ` ${more}`}`);
  if (!good) failures += 1;
};
const profile = mkdtempSync(join(tmpdir(), 'ridge-live-page-'));
const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, userDataDir: profile, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const page = await browser.newPage();
page.on('console', message => { if (message.type() === 'error') check('the console is quiet', false, message.text()); });
page.on('pageerror', error => check('no script fails', false, String(error)));
const until = (what, ...more) => page.waitForFunction(what, { timeout: 30000 }, ...more);
try {
  await page.setViewport({ width: 1280, height: 720 });
  await page.goto(address, { waitUntil: 'load' });
  await until(() => document.querySelector('iframe:not(.next)')?.contentDocument?.querySelector('table.students button'));
  const head = column => page.evaluate(n => {
    const all = [...document.querySelector('iframe').contentDocument.querySelectorAll('table.students thead th')];
    const found = all.find(h => h.textContent === n);
    return { sort: found.getAttribute('aria-sort'), at: all.indexOf(found) };
  }, column);
  const cells = () => page.evaluate(() => [...document.querySelector('iframe').contentDocument.querySelectorAll('table.students tbody tr')].map(r => [r.cells[0].textContent, r.cells[2].dataset.v]));
  await page.evaluate(() => { // by percent, the most first; a list unfolded; in the middle of the page
    const inside = document.querySelector('iframe').contentDocument;
    const button = [...inside.querySelectorAll('table.students thead th')].find(h => h.textContent === 'Percent').querySelector('button');
    button.click(), button.click();
    inside.querySelector('details').open = true;
    inside.scrollingElement.scrollTo(0, 700);
  });
  check('the table is sorted', (await head('Percent')).sort === 'descending');
  const before = await cells();
  for (const theme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    if (process.env.RIDGE_PICTURES) await page.screenshot({ path: join(process.env.RIDGE_PICTURES, `live_class_${theme}.png`) });
    await page.evaluate(readFileSync(axe.path, 'utf8'));
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], iframes: false }));
    check(`axe-core finds nothing: ${theme}`, violations.length === 0, JSON.stringify(violations.map(v => [v.id, v.nodes.map(n => n.html)])));
  }
  const changed = spawnSync(JSON.parse(process.env.RIDGE_CHANGE)[0], JSON.parse(process.env.RIDGE_CHANGE).slice(1), { encoding: 'utf8' });
  check('the gradebook changes', changed.status === 0, changed.stderr);
  await until(() => document.querySelectorAll('iframe').length === 1 && document.querySelector('iframe').contentDocument.body?.textContent.includes('an oral exam'));
  const after = await cells(), of = (all, id) => all.find(r => r[0] === id)[1];
  check('the new grade is shown', of(before, 'kx105') !== '77.25' && of(after, 'kx105') === '77.25', `${of(before, 'kx105')} ${of(after, 'kx105')}`);
  const filled = after.map(r => r[1]).filter(v => v !== '').map(Number);
  check('in the reader\'s order', (await head('Percent')).sort === 'descending' && filled.every((v, i) => i === 0 || v <= filled[i - 1]), filled.join());
  const stays = await page.evaluate(() => ({ top: document.querySelector('iframe').contentDocument.scrollingElement.scrollTop, open: document.querySelector('iframe').contentDocument.querySelector('details').open }));
  check('and at the reader\'s place', stays.top === 700 && stays.open, JSON.stringify(stays));
  check('the line says that it follows', /follows the gradebook/.test(await page.$eval('#r-says', e => e.textContent)));
} catch (error) {
  check('the way to the end', false, error.stack);
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
process.exit(failures ? 1 : 0);
