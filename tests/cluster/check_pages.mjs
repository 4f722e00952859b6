// Shows pages that stand alone in headless Chromium, light and dark, wide and narrow: axe-core, widths, and, where a page
// has a table that sorts, a click on each of its heads.
//
//   node check_pages.mjs SOURCE_DIR BUILD_DIR PAGE...
//
// RIDGE_PICTURES=DIR leaves a picture of each view there. Exit codes: 0 right, 1 wrong, 77 npm's registry or a Chromium
// is missing.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fetchAxe } from '../book/axe.mjs';

const WIDTHS = [360, 1280];
const [source, build, ...pages] = process.argv.slice(2);
const skip = why => { console.log(`skipped: ${why}`); process.exit(77); };
const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) skip('no Chromium or Chrome here to show the pages with');
const { path: axe, skip: offline, failed } = fetchAxe(build);
if (offline) skip(offline);
if (failed) { console.log(`FAILED: ${failed}`); process.exit(1); }

let failures = 0;
const fail = what => { failures += 1; console.log(`FAILED: ${what}`); };

// ---- in the browser
const probe = async (count, widths) => {
  const problems = [];
  let audits = 0, sorted = 0;
  const say = what => problems.push(what);
  try {
    for (let page = 0; page < count; ++page) for (const width of widths) {
      const frame = document.createElement('iframe');
      frame.style.cssText = `width:${width}px;height:900px;border:0;position:absolute;left:0;top:0`;
      await new Promise(done => { frame.onload = done; frame.src = `/${page}`; document.body.append(frame); });
      const view = frame.contentWindow, inside = frame.contentDocument;
      const where = `page ${page} at ${width}`;
      if (inside.documentElement.scrollWidth > width) say(`${where}: it is ${inside.documentElement.scrollWidth} wide`);
      const script = inside.createElement('script');
      await new Promise(done => { script.onload = done; script.src = '/axe.js'; inside.head.append(script); });
      const { violations } = await view.axe.run(inside, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], resultTypes: ['violations'] });
      audits += 1;
      for (const { id, nodes } of violations) for (const node of nodes.slice(0, 3))
        say(`${where}: ${id}: ${node.html.slice(0, 120)}: ${[...node.any, ...node.all, ...node.none].map(c => c.message).join('; ').slice(0, 200)}`);
      for (const table of inside.querySelectorAll('table.sortable')) {
        if (width === 1280 && table.scrollWidth > table.parentElement.clientWidth + 1) say(`${where}: its table is ${table.scrollWidth} wide, the box ${table.parentElement.clientWidth}`);
        const heads = [...table.tHead.rows[0].cells];
        for (const [column, head] of heads.entries()) for (const order of ['ascending', 'descending']) {
          const button = head.querySelector('button');
          if (!button) { say(`${where}: the column ${head.textContent} has no button`); continue; }
          button.click();
          if (head.getAttribute('aria-sort') !== order) say(`${where}: ${head.textContent} is sorted ${head.getAttribute('aria-sort')}, not ${order}`);
          const keys = [...table.tBodies[0].rows].map(row => row.cells[column].dataset.v ?? row.cells[column].textContent);
          const numbers = keys.every(key => key === '' || !Number.isNaN(Number(key)));
          const compare = (a, b) => (numbers ? Number(a) - Number(b) : a.localeCompare(b));
          const filled = keys.filter(key => key !== '');
          if (!filled.every((key, i) => i === 0 || compare(filled[i - 1], key) * (order === 'ascending' ? 1 : -1) <= 0)) say(`${where}: ${head.textContent}, ${order}: ${keys.join(' | ')}`);
          if (keys.slice(filled.length).some(key => key !== '')) say(`${where}: ${head.textContent}: empty fields are not last`);
          sorted += 1;
        }
      }
      frame.remove();
    }
  } catch (error) { say(String(error.stack)); }
  await fetch('/result', { method: 'POST', body: JSON.stringify({ problems, audits, sorted }) });
};

// ---- beside it
let finish;
const server = createServer((request, response) => {
  const answer = (body, type = 'text/html') => { response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }); response.end(body); };
  const name = request.url.split('?')[0].slice(1);
  if (name === 'axe.js') return answer(readFileSync(axe), 'text/javascript');
  if (name === 'probe') return answer(`<!doctype html><title>probe</title><body><script>(${probe})(${pages.length}, ${JSON.stringify(WIDTHS)})</script>`);
  if (name.startsWith('frame-')) {
    const [, page, width] = name.split('-');
    return answer(`<!doctype html><body style="margin:0"><iframe src="/${page}" style="border:0;width:${width}px;height:4000px"></iframe>`);
  }
  if (name === 'result') {
    let text = '';
    request.on('data', part => { text += part; });
    request.on('end', () => { answer('thanks'); finish(JSON.parse(text)); });
    return undefined;
  }
  const page = readFileSync(pages[Number(name)] ?? '/dev/null', 'utf8');
  const policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
  if (pages[Number(name)] && !policy.test(page)) fail(`${pages[Number(name)]} has no policy`);
  return answer(page.replace(policy, '')); // it would keep axe out
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}`;
const profile = mkdtempSync(join(tmpdir(), 'ridge-pages-'));
const flags = scheme => ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', `--user-data-dir=${profile}/${scheme}`,
  `--blink-settings=preferredColorScheme=${scheme === 'dark' ? 0 : 1}`];
const totals = { audits: 0, sorted: 0 };
for (const scheme of ['light', 'dark']) {
  const finished = new Promise(done => { finish = done; });
  const shown = spawn(browser, [...flags(scheme), '--remote-debugging-port=0', '--window-size=1400,1000', `${base}/probe`], { stdio: 'ignore', detached: true });
  const ended = new Promise(done => shown.on('exit', done));
  const result = await Promise.race([finished, new Promise(done => setTimeout(done, 300e3)), ended.then(() => new Promise(done => setTimeout(done, 500)))]);
  try { process.kill(-shown.pid, 'SIGKILL'); } catch { /* it has ended */ }
  await ended;
  if (!result) fail(`${browser} gave no answer, ${scheme}`);
  for (const problem of result?.problems ?? []) fail(`${scheme}, ${problem}`);
  totals.audits += result?.audits ?? 0, totals.sorted += result?.sorted ?? 0;
  if (process.env.RIDGE_PICTURES) for (const [i, page] of pages.entries()) for (const width of WIDTHS) {
    const file = join(process.env.RIDGE_PICTURES, `${basename(dirname(page))}-${basename(page, '.html')}-${scheme}-${width}.png`);
    // Chromium's own window has no width below 500 pixels: a frame has.
    const shot = spawn(browser, [...flags(scheme), '--virtual-time-budget=4000', `--window-size=${Math.max(width, 500)},${process.env.RIDGE_HEIGHT ?? 2600}`, `--screenshot=${file}`, `${base}/frame-${i}-${width}`], { stdio: 'ignore' });
    await new Promise(done => shot.on('exit', done));
  }
}
server.close();
server.closeAllConnections();
for (let left = 20; ; --left) {
  try { rmSync(profile, { recursive: true, force: true }); break; } catch (error) { if (left === 0) throw error; }
  await new Promise(done => setTimeout(done, 250));
}
if (totals.audits !== 2 * WIDTHS.length * pages.length) fail(`${totals.audits} audits of ${2 * WIDTHS.length * pages.length}`);
console.log(`${pages.length} pages, ${totals.audits} audits, ${totals.sorted} times sorted, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
