// How long the page of `ridge serve` takes, in headless Chromium: from its address to the first task with full marks, by
// script, and from Ctrl-Enter to the result beside the time of the check itself.
//
//   node benchmarks/serve/page.mjs SOURCE_DIR BUILD_DIR OUT.json
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { browser, check, judge, open, put, run, server, shown, source } from '../../tests/serve/page_tools.mjs';

const out = process.argv[4], CHECKS = 12;
const median = all => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
const round = s => Math.round(s * 1000) / 1000;

// Seconds from the key to the drawn result, and those that the server tells of the check.
async function timed(page) {
  await page.evaluate(() => {
    window.listens = false;
    window.measured = new Promise(done => {
      const events = new EventSource('api/events');
      events.addEventListener('ended', e => {
        const seconds = JSON.parse(e.data).seconds;
        const look = () => (document.getElementById('r-stop').hidden && document.getElementById('r-step').textContent.endsWith(' s')
          ? requestAnimationFrame(() => { events.close(); done({ whole: (performance.now() - window.pressed) / 1000, check: seconds }); }) : requestAnimationFrame(look));
        look();
      });
      events.onopen = () => { window.listens = true; };
    });
    window.pressed = NaN;
    if (!window.watched) addEventListener('keydown', e => { if (e.key === 'Enter') window.pressed = performance.now(); }, true);
    window.watched = true;
  });
  await page.waitForFunction(() => window.listens);
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
  return page.evaluate(() => window.measured);
}

await run(async () => {
  const solution = readFileSync(join(source, 'solutions', '01_coalescing', 'copy.cu'), 'utf8');
  const url = await server.start();
  const begin = performance.now();
  const page = await open(url);
  const opened = performance.now();
  await put(page, solution);
  await judge(page);
  check('full marks', (await shown(page)).includes('full marks'), await shown(page));
  const first = (performance.now() - begin) / 1000;
  await page.click('[data-task="copy"]');
  await page.click('.CodeMirror');
  const runs = [];
  for (let i = 0; i < CHECKS; ++i) {
    await put(page, `// ${i}\n${solution}`); // a changed file is saved and compiled
    runs.push(await timed(page));
  }
  const more = runs.map(r => r.whole - r.check);
  check('each time was taken, and no result came before its check had ended', runs.every(r => Number.isFinite(r.whole) && r.whole >= r.check), JSON.stringify(runs));
  const record = {
    date: new Date().toISOString().slice(0, 10), commit: execFileSync('git', ['-C', source, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    cpu: cpus()[0].model, cores: cpus().length, load_average: round(loadavg()[0]), browser: await browser.version(),
    address_to_page_s: round((opened - begin) / 1000), address_to_full_marks_s: round(first),
    key_to_result_s: runs.map(r => round(r.whole)), check_s: runs.map(r => round(r.check)),
    page_adds_s: { median: round(median(more)), largest: round(Math.max(...more)) },
  };
  console.log(JSON.stringify(record, null, 1));
  if (out) writeFileSync(out, `${JSON.stringify(record, null, 1)}\n`);
});
