// A student's whole way through labs 01, 03 and 06 in headless Chromium, light and dark: open, read, predict, a wrong edit and
// its finding on its line, a hint, the right edit with full marks, then the timeline and the warp view, dragged and zoomed.
// Each stop is compared with its recorded picture in tests/serve/pictures, 240 pixels wide.
//
//   node check_flow.mjs SOURCE_DIR BUILD_DIR [--write]     --write: records the pictures
//
// RIDGE_PICTURES=DIR leaves whole pictures there. Exit codes: 0 right, 1 wrong, 77 a Chromium or npm's registry is missing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { driver } from '../visualizer/web/drive.mjs';
import { compare } from '../visualizer/web/pixels.mjs';
import { browser, build, check, chord, code, judge, open, put, run, saved, shown, source, until } from './page_tools.mjs';
import { Server } from './browser.mjs';

const WIDTH = 240, HEIGHT = 135, LEVELS = 15; // levels of a channel, so that a picture is small
// Fonts are drawn a little differently from machine to machine, and a view's labels hold an attempt's time.
const MOST_MEAN = 3, MOST_DIFFERENT = 0.05;
const write = process.argv[4] === '--write';
const folder = join(source, 'tests', 'serve', 'pictures');
const text = (...path) => readFileSync(join(source, ...path), 'utf8');
const edited = (whole, ...edits) => edits.reduce((now, [old, by]) => {
  if (now.split(old).length !== 2) throw new Error(`'${old}' is not there once`);
  return now.replace(old, () => by);
}, whole);

// By lab: a task, a solution that is wrong or slow, what stands on its line, and the views of a right one.
const WAYS = [
  { lab: '01_coalescing', task: 'copy', file: 'copy.cu', wrong: () => text('labs', '01_coalescing', 'copy.cu'), note: /sectors asks for 32 sectors per request/, views: ['warp', 'roofline'] },
  { lab: '03_warp_shuffle', task: 'reduce', file: 'reduce.cu', note: /shared makes \d+ of the \d+ requests to shared memory/, views: ['warp'],
    wrong: () => edited(text('solutions', '03_warp_shuffle', 'steps', 'reduce_2_shared_tree.cu'), ['for (unsigned half = 128; half > 0; half /= 2) {', 'for (unsigned step = 1; step < 256; step *= 2) {'],
      ['if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];', 'if (threadIdx.x % (2 * step) == 0) sums[threadIdx.x] += sums[threadIdx.x + step];']) },
  { lab: '06_ring_allreduce', task: 'ring', file: 'ring.cu', note: /device .*the host waits for the device in cudaStreamSynchronize/, views: ['timeline', 'roofline'],
    wrong: () => edited(text('solutions', '06_ring_allreduce', 'ring.cu'), ['          in + got.first, received + got.first, out + got.first, got.count);',
      '          in + got.first, received + got.first, out + got.first, got.count);\n    cudaStreamSynchronize(stream);']) },
];

const blank = await browser.newPage();
async function shrunk(png) {
  return Buffer.from(await blank.evaluate(async (base64, width, height, levels) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob(), { resizeWidth: width, resizeHeight: height, resizeQuality: 'high' });
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const pixels = context.getImageData(0, 0, width, height);
    for (let i = 0; i < pixels.data.length; ++i) pixels.data[i] = Math.round(Math.round(pixels.data[i] * levels / 255) * 255 / levels);
    context.putImageData(pixels, 0, 0);
    let text = '';
    for (const byte of new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())) text += String.fromCharCode(byte);
    return btoa(text);
  }, Buffer.from(png).toString('base64'), WIDTH, HEIGHT, LEVELS), 'base64');
}
async function like(page, name, theme) {
  await page.evaluate(() => { document.getElementById('r-step').textContent = ''; document.activeElement.blur(); });
  await page.mouse.move(640, 2);
  await new Promise(done => setTimeout(done, 400));
  const png = await page.screenshot(), small = join(process.env.RIDGE_PICTURES ?? build, `flow_${name}_${theme}_small.png`), recorded = join(folder, `${name}_${theme}.png`);
  if (process.env.RIDGE_PICTURES) writeFileSync(join(process.env.RIDGE_PICTURES, `flow_${name}_${theme}.png`), png);
  writeFileSync(write ? recorded : small, await shrunk(png));
  if (write) return;
  if (!existsSync(recorded)) return check(`there is a picture of ${name}, ${theme}`, false);
  const off = await compare(blank, small, recorded);
  check(`${name}, ${theme}, looks as recorded`, off.mean < MOST_MEAN && off.different < MOST_DIFFERENT, JSON.stringify(off));
  console.log(`   ${(100 * off.different).toFixed(2)}% of the pixels differ by more than 16 of 255, the mean is ${off.mean.toFixed(2)}`);
}

// What a reader does to a view; each step changes the picture.
async function moved(page, kind, at) {
  const { settle, click } = driver(page);
  const box = await page.$eval('canvas', e => { const b = e.getBoundingClientRect(); return { x: b.left + b.width / 2, y: b.top + b.height / 2 }; });
  let before = null;
  const changed = async what => {
    await settle();
    const now = join(build, `flow_${what ? 'now' : 'before'}.png`);
    await page.screenshot({ path: now });
    if (what) check(`${at}: ${kind}: ${what}`, (await compare(blank, before, now)).different > 0.0002);
    before = join(build, 'flow_before.png');
    await page.screenshot({ path: before });
  };
  await page.focus('#r-viz-canvas');
  await page.mouse.move(box.x, box.y);
  await changed();
  if (kind === 'timeline') {
    for (let i = 0; i < 4; ++i) await page.mouse.wheel({ deltaY: -100 });
    await changed('the wheel zooms');
    await page.mouse.down();
    await page.mouse.move(box.x - 180, box.y, { steps: 10 });
    await page.mouse.up();
    await changed('a drag chooses a range');
  } else if (kind === 'warp') {
    await page.keyboard.press('ArrowRight');
    await changed('a key shows the next request');
    await page.mouse.move(box.x + 130, box.y - 110, { steps: 3 });
    await changed('the pointer shows a lane');
  } else {
    await click('button/levels');
    await changed('a click shows the levels');
  }
}

async function way(page, { lab, task, file, wrong, note, views }, theme) {
  const at = `${lab.slice(0, 2)}, ${theme}`;
  if (await page.$eval('#r-lab', e => e.value) !== lab) await page.select('#r-lab', lab);
  await until(page, (number, id) => document.title.startsWith(number) && document.querySelector(`[data-task="${id}"]`), lab.slice(0, 2), task);
  await page.click(`[data-task="${task}"]`);
  await until(page, () => document.getElementById('r-lesson').scrollTop > 200); // to the task's section
  check(`${at}: the stub`, (await code(page)).includes(`TASK(${task})`));
  await until(page, () => [...document.querySelectorAll('#r-lesson img')].filter(i => i.complete && i.naturalWidth > 0).length > 0);
  // ---- predict
  await page.click('.CodeMirror');
  const asks = await page.$('#r-predict') !== null;
  if (asks) {
    await chord(page, 'Control', 'Enter');
    await until(page, () => document.activeElement.dataset.prediction);
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    await until(page, () => !document.getElementById('r-stop').hidden);
    await until(page, () => document.getElementById('r-stop').hidden);
    check(`${at}: predicted and measured`, /predicted/.test(await shown(page)), await shown(page));
  }
  // ---- wrong
  await put(page, wrong());
  await saved(page);
  await judge(page);
  const told = await page.$$eval('.ridge-note', all => all.map(e => e.textContent));
  check(`${at}: the finding is on its line`, told.some(t => note.test(t)), JSON.stringify(told) + await shown(page));
  await page.click('#r-shown .place');
  await until(page, () => document.querySelector('.ridge-note')?.getBoundingClientRect().height > 0);
  await like(page, `${lab.slice(0, 2)}_finding`, theme);
  // ---- a hint, and right
  await page.keyboard.press('F2');
  await until(page, () => document.querySelectorAll('[aria-label="Hints taken"] li').length === 1);
  await put(page, text('solutions', lab, file));
  await saved(page);
  await judge(page);
  check(`${at}: full marks`, (await shown(page)).includes('full marks'), await shown(page));
  const left = await page.$$eval('.ridge-note', all => all.map(e => e.textContent));
  check(`${at}: no note is left`, left.length === 0, left.join());
  check(`${at}: the result begins at its top`, await page.$eval('#r-shown', e => e.scrollTop) === 0);
  await page.$eval('.CodeMirror', e => e.CodeMirror.scrollTo(0, 0));
  await like(page, `${lab.slice(0, 2)}_full`, theme);
  // ---- the visualizer
  await page.keyboard.press('F4');
  await until(page, () => document.querySelectorAll('#r-viz-views button').length > 0);
  const names = await page.$$eval('#r-viz-views button', all => all.map(e => e.textContent));
  check(`${at}: the views ${views.join(', ')}`, views.every(v => names.some(n => n.toLowerCase().includes(v))), names.join());
  const { shown: drawn, settle } = driver(page);
  for (const kind of views) {
    await page.evaluate(n => document.querySelectorAll('#r-viz-views button')[n].click(), names.findIndex(n => n.toLowerCase().includes(kind)));
    await drawn();
    await settle();
    await like(page, `${lab.slice(0, 2)}_${kind}`, theme);
    await moved(page, kind, at);
  }
  await page.keyboard.press('F4');
  await until(page, () => document.getElementById('r-viz').hidden);
}

await run(async () => {
  for (const theme of ['light', 'dark']) {
    const server = new Server(build);
    try {
      const page = await open(await server.start());
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      for (const w of WAYS) await way(page, w, theme);
      await page.close();
    } finally {
      await server.end('SIGKILL');
      server.remove();
    }
  }
});
