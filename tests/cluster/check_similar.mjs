// Looks at the page of `cluster similar` in headless Chromium: axe-core, widths, links, light and dark.
//
//   node check_similar.mjs SOURCE_DIR BUILD_DIR PAGE
//
// RIDGE_PICTURES=DIR leaves pictures there. Exit codes: 0 right, 1 wrong, 77 npm's registry or a Chromium is missing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchAxe } from '../book/axe.mjs';

const [source, build, page] = process.argv.slice(2);
const skip = why => { console.log(`skipped: ${why}`); process.exit(77); };
let failures = 0;
const fail = what => { failures += 1; console.log(`FAILED: ${what}`); };

const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) skip('no Chromium or Chrome here to show the page with');
const { path: axe, skip: offline, failed } = fetchAxe(build);
if (offline) skip(offline);
if (failed) { console.log(`FAILED: ${failed}`); process.exit(1); }

const text = readFileSync(page, 'utf8');
if (/<script|<link|<img|\ssrc=|https?:/.test(text.replace(/<pre[\s\S]*?<\/pre>/g, ''))) fail('the page loads something, or runs a script');
const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(match => match[1]);
if (new Set(ids).size !== ids.length) fail('two places have one name');
const links = [...text.matchAll(/href="#([^"]+)"/g)].map(match => match[1]);
if (links.length < 10) fail(`only ${links.length} links`);
for (const link of links) if (!ids.includes(link)) fail(`#${link}: there is no such place`);
for (const [, klass, from, to] of text.matchAll(/<mark class="(c\d)" id="([^"]+)"><a href="#([^"]+)"/g)) {
  if (!text.includes(`<mark class="${klass}" id="${to}"><a href="#${from}"`)) fail(`${from} and ${to} are not one another's counterparts in one colour`);
}

const folder = mkdtempSync(join(tmpdir(), 'ridge-similar-'));
const AUDIT = `<script>${readFileSync(axe, 'utf8').replaceAll('</script', '<\\/script')}</script><script>addEventListener('load', async () => {
  const { violations } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], resultTypes: ['violations'] });
  const problems = violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 100) + ' ' + [...nodes[0].any, ...nodes[0].all].map(check => check.message).join('; '));
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push('wider than the window: ' + document.documentElement.scrollWidth);
  parent.postMessage({ problems, dark: matchMedia('(prefers-color-scheme: dark)').matches }, '*'); });</script>`;
writeFileSync(join(folder, 'audited.html'), text.replace('</body>', () => `${AUDIT}</body>`));
writeFileSync(join(folder, 'page.html'), text);
for (const [scheme, number] of [['dark', 0], ['light', 1]]) {
  for (const width of [360, 1280]) {
    const frame = (file, at = '') => `<!doctype html><body style="margin:0"><iframe src="${file}${at}" title="page" style="border:0;width:${width}px;height:1600px"></iframe><pre></pre>
      <script>addEventListener('message', e => { document.querySelector('pre').textContent = 'RESULT' + JSON.stringify(e.data) + 'END'; });</script>`;
    writeFileSync(join(folder, 'frame.html'), frame('audited.html'));
    writeFileSync(join(folder, 'shot.html'), frame('page.html'));
    writeFileSync(join(folder, 'pair.html'), frame('page.html', '#pair-1'));
    // Chromium's own window has no width below 500 pixels: a frame has.
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', `--user-data-dir=${folder}/profile`,
      `--blink-settings=preferredColorScheme=${number}`, '--allow-file-access-from-files', `--window-size=${Math.max(width, 500)},1600`];
    const dom = spawnSync(browser, [...flags, '--virtual-time-budget=60000', '--dump-dom', `file://${folder}/frame.html`], { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout;
    const result = dom.match(/RESULT(.*?)END/s);
    if (!result) { fail(`${scheme}, ${width} wide: no answer`); continue; }
    const { problems, dark } = JSON.parse(result[1].replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
    if (dark !== (scheme === 'dark')) fail(`${scheme}: the page does not follow`);
    for (const problem of problems) fail(`${scheme}, ${width} wide: ${problem}`);
    if (!process.env.RIDGE_PICTURES) continue;
    for (const name of ['shot', 'pair'])
      spawnSync(browser, [...flags, '--virtual-time-budget=4000', `--screenshot=${join(process.env.RIDGE_PICTURES, `similar_${name}_${scheme}_${width}.png`)}`, `file://${folder}/${name}.html`]);
  }
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 300 });
console.log(`${links.length} links, ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
