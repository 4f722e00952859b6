// The visualizer in a browser tab: frames a second, bytes a frame, and milliseconds from an input to its picture, of each view,
// on loopback and over slow lines; CPU time while nothing happens. Prints a table and writes benchmarks/visualizer/web.json.
//
//   node benchmarks/visualizer/web.mjs SOURCE_DIR BUILD_DIR [SECONDS]
//
// Slow lines are shaped by the tests' relay (rate and delay in both directions), since a container's kernel often has no
// netem. The page draws with SwiftShader on the same processors.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fetchPuppeteer, skip } from '../../tests/serve/browser.mjs';
import { driver } from '../../tests/visualizer/web/drive.mjs';
import { relay } from '../../tests/visualizer/web/relay.mjs';
import { viewsOf } from '../../tests/visualizer/web/views.mjs';

const [source, build, seconds = '5'] = process.argv.slice(2);
const browserPath = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browserPath) skip('no Chromium or Chrome here to show the page with');
const puppeteer = fetchPuppeteer(build);
const program = join(build, 'bin', 'ridge-viz');
const LINES = { 'loopback': null, '20 Mbit/s, 50 ms round trip': { rate: 20e6, delay: 25 }, '20 Mbit/s, 100 ms round trip': { rate: 20e6, delay: 50 } };
// What moves in each view, once for each frame of the browser: `i` counts them.
const MOVES = {   // the last one sends all that a view has, each time
  'roofline, zoom': ['roofline', i => window.turn(500, 300, i % 60 < 30 ? 1 : -1, true)],
  'timeline, zoom': ['timeline', i => window.turn(700, 400, i % 60 < 30 ? 0.3 : -0.3, false)],
  'timeline, zoom, nothing drawn': ['timeline', i => window.turn(700, 400, i % 60 < 30 ? 0.3 : -0.3, false)],
  'timeline, pointer': ['timeline', i => window.point(330 + (7 * i) % 600, 190 + (3 * i) % 400)],
  'warp, requests': ['warp', i => window.press(i % 16 < 8 ? 'ArrowRight' : 'ArrowLeft')],
  'progress, pointer': ['progress', i => window.point(680 + (9 * i) % 560, 250)],
  'all views in turn': ['progress', i => window.press(String(1 + i % 4))],
};
// In the page: input as a user's, at the pace of the browser's frames.
function hands() {
  const canvas = document.querySelector('canvas');
  const at = (x, y) => ({ clientX: x, clientY: y, bubbles: true, cancelable: true });
  window.point = (x, y) => canvas.dispatchEvent(new PointerEvent('pointermove', at(x, y)));
  window.turn = (x, y, notches, ctrl) => canvas.dispatchEvent(new WheelEvent('wheel', { ...at(x, y), deltaY: -100 * notches, ctrlKey: ctrl }));
  window.press = key => {
    for (const kind of ['keydown', 'keyup']) canvas.dispatchEvent(new KeyboardEvent(kind, { key, code: key, bubbles: true, cancelable: true }));
  };
}
const middle = numbers => numbers.length ? [...numbers].sort((a, b) => a - b)[numbers.length >> 1] : null;
const high = numbers => numbers.length ? [...numbers].sort((a, b) => a - b)[Math.floor(0.95 * (numbers.length - 1))] : null;
const ticks = pid => { const f = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/.*\) /, '').split(' '); return Number(f[11]) + Number(f[12]); };
const pidOf = () => Number(spawnSync('pgrep', ['-nf', `^${program} --web`], { encoding: 'utf8' }).stdout);

const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
const views = viewsOf(source), rows = [], idle = [];
for (const [lineName, line] of Object.entries(LINES)) {
  let files = [];
  const server = await relay(join(source, 'visualizer', 'web', 'page'), () => [program, '--web', ...files], line);
  for (const [name, [view, move]] of Object.entries(MOVES)) {
    files = name === 'all views in turn' ? [...views.roofline, ...views.timeline, ...views.warp, views.progress[2]] : views[view];
    const page = await browser.newPage();
    const { counts, shown, settle } = driver(page);
    await page.setViewport({ width: 1280, height: 720 });
    const began = performance.now();
    await page.goto(`http://127.0.0.1:${server.port}/viz.html`);
    await shown();
    const opened = performance.now() - began;
    await settle();
    const first = (await counts()).bytes;
    if (!line && name.startsWith(view) && !idle.some(row => row.view === view)) {
      const pid = pidOf(), before = ticks(pid);
      await new Promise(done => setTimeout(done, 10000));
      idle.push({ view, percent: 100 * (ticks(pid) - before) / 1000 });   // of 100 ticks a second
    }
    await page.evaluate(hands);
    // What is left without the browser's drawing, which takes the same processors here.
    if (name.endsWith('nothing drawn')) await page.evaluate(() => { document.querySelector('canvas').visualizer.drawing.draw = () => {}; });
    const pid = line ? 0 : pidOf(), used = line ? 0 : ticks(pid), drawnBefore = (await counts()).frames;
    const got = await page.evaluate(async (text, length) => {
      const step = new Function(`return (${text})`)();
      const drawn = document.querySelector('canvas').visualizer;
      const frame = () => new Promise(done => requestAnimationFrame(done));
      for (let i = 0; i < 30; ++i) { step(i); await frame(); }   // characters that come for the first time
      drawn.counts.latencies.length = 0;
      const { frames, bytes, busy } = drawn.counts, start = performance.now();
      let i = 0;
      for (; performance.now() - start < 1000 * length; ++i) { step(i); await frame(); }
      const took = (performance.now() - start) / 1000;
      return { browser: i / took, frames: (drawn.counts.frames - frames) / took, bytes: (drawn.counts.bytes - bytes) / (drawn.counts.frames - frames || 1), script: (drawn.counts.busy - busy) / (drawn.counts.frames - frames || 1), latencies: [...drawn.counts.latencies] };
    }, move.toString(), Number(seconds));
    rows.push({ line: lineName, movement: name, browser_frames_per_second: got.browser, frames_per_second: got.frames, bytes_per_frame: got.bytes,
      program_cpu_ms_per_frame: line ? undefined : 10 * (ticks(pid) - used) / ((await counts()).frames - drawnBefore || 1), page_script_ms_per_frame: got.script,
      latency_ms: middle(got.latencies), latency_95_ms: high(got.latencies), first_bytes: first, opened_ms: opened });
    await page.close();
  }
  server.end();
}
const version = await browser.version();
await browser.close();
const word = (command, ...more) => execFileSync(command, more, { encoding: 'utf8' }).trim();
const record = { date: new Date().toISOString().slice(0, 10), commit: word('git', '-C', source, 'rev-parse', '--short', 'HEAD'), browser: version, node: process.version,
  processors: `${cpus().length} x ${cpus()[0].model}`, load_average: loadavg()[0], size: '1280 x 720', idle_cpu: idle, rows };
writeFileSync(join(source, 'benchmarks', 'visualizer', 'web.json'), `${JSON.stringify(record, (k, v) => typeof v === 'number' ? Math.round(100 * v) / 100 : v, 1)}\n`);
console.log('| line | movement | frames a second | bytes a frame | input to picture, ms, median | 95% | program, ms of CPU a frame | script, ms a frame | opened, ms |\n|---|---|--:|--:|--:|--:|--:|--:|--:|');
for (const r of rows) console.log(`| ${r.line} | ${r.movement} | ${r.frames_per_second.toFixed(0)} of ${r.browser_frames_per_second.toFixed(0)} | ${r.bytes_per_frame.toFixed(0)} | ${r.latency_ms?.toFixed(0)} | ${r.latency_95_ms?.toFixed(0)} | ${r.program_cpu_ms_per_frame?.toFixed(1) ?? ''} | ${r.page_script_ms_per_frame.toFixed(1)} | ${r.opened_ms.toFixed(0)} |`);
for (const row of idle) console.log(`idle: ${row.view}: ${row.percent.toFixed(1)}% of a processor`);
