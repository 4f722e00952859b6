// Figures of lab 16: goodput over the interval, a save and its crashes, training beside the storage, buckets, generations.
import { readFileSync } from 'node:fs';
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, dashed, line, path, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// Daly's model of a run of 16,384 GPUs: a save of 60 s, and one of 3 s.
const M = 50700 * 3600 / 16384, RESTART = 900;
const goodput = (save, work) => work / (M * Math.exp(RESTART / M) * Math.expm1((work + save) / M));
const MINUTES = range(60).map(i => 0.5 * 480 ** (i / 59));
const at = (minutes, share) => [110 + 560 * Math.log(minutes / 0.5) / Math.log(480), 330 - 280 * share];
const curve = save => MINUTES.map((m, i) => (i ? 'L' : 'M') + at(m, goodput(save, 60 * m)).map(v => v.toFixed(1)).join(' ')).join('');
const best = save => MINUTES.reduce((a, b) => goodput(save, 60 * a) > goodput(save, 60 * b) ? a : b);
const top = (save, style) => { const [x, y] = at(best(save), goodput(save, 60 * best(save))); return rect(x - 5, y - 5, 10, 10, style); };
here.draw('interval', 720, 430, 'Goodput over the time between two saves, 16,384 GPUs',
  'With a save of 60 seconds the goodput has its maximum of 83% at 19 minutes. With a save of 3 seconds the maximum is 90%, at four minutes. Saves that come too often and saves that come too seldom both cost.', [
    [0, 0.25, 0.5, 0.75, 1].map(g => [line(110, at(1, g)[1], 670, at(1, g)[1], 'sr', 1), text(100, at(1, g)[1] + 7, `${100 * g}%`, { at: 'end', size: 20 })]),
    [[1, '1 min'], [4, '4'], [19, '19'], [60, '1 h'], [240, '4 h']].map(([m, name]) => text(at(m, 0)[0], 358, name, { at: 'middle', size: 20 })),
    path(curve(60), 'sw', 4), path(curve(3), 'sa', 4), top(60, 'w'), top(3, 'a'),
    text(360, 392, 'training between two saves', { style: 'q', size: 20, at: 'middle' }), text(120, 420, 'a save of 3 s: 90%', { style: 'a', size: 20 }), text(400, 420, 'a save of 60 s: 83%', { style: 'w', size: 20 })]);

// The changes of one save on two ranks, and what a crash of the node in each leaves.
const CALLS = ['create part 0', 'pwrite', 'fsync', 'create part 1', 'pwrite', 'fsync', 'create manifest.new', 'pwrite', 'fsync', 'fsync of the folder', 'rename to manifest', 'fsync of the folder', 'the next step'];
here.draw('crash', 720, 588, 'Each call of a save, and what a crash of the node in it leaves',
  'A save of two ranks. A crash in any call before the rename leaves the old checkpoint. A crash in the rename or in the second fsync of the folder leaves the old or the new one. After that it is the new one.', [
    text(420, 32, 'a crash here leaves', { style: 'q', size: 20 }),
    CALLS.map((call, i) => [text(30, 66 + i * 38, call, { mono: true, size: 20 }), i < 10 ? box(420, 44 + i * 38, 130, 32, 'the old', 'p', { size: 20 }) : i < 12 ? box(420, 44 + i * 38, 270, 32, 'the old or the new', 'w', { size: 20 }) : box(560, 44 + i * 38, 130, 32, 'the new', 'g', { size: 20 })]),
    dashed(20, 422, 400, 422, 'sw', 2), text(20, 568, 'Never a mixture, and never nothing.', { size: 20 })]);

// Three intervals in us, as the emulator times them: twelve steps, the copy, the storage.
const STEPS = 169, COPY = 11, STORE = 115;
const scale = 560 / (3 * (STEPS + COPY + STORE));
const row = (y, name) => text(16, y + 25, name, { size: 20 });
const bar = (x, y, w, style) => rect(128 + x * scale, y, Math.max(3, w * scale - 1), 34, style);
const one = STEPS + COPY + STORE, both = STEPS + COPY;
here.draw('async', 720, 400, 'Three saves: training waits for the storage, and for the copy alone',
  'Where training waits for the storage, an interval takes 295 microseconds. Where it waits for the copy alone, 180: the storage writes while the next steps run.', [
    text(16, 32, `training waits for the storage: ${one} us an interval`, { bold: true }), ['steps', 'copy', 'storage'].map((name, i) => row(46 + i * 44, name)),
    range(3).map(i => [bar(i * one, 46, STEPS, 'a'), bar(i * one + STEPS, 90, COPY, 'w'), bar(i * one + STEPS + COPY, 134, STORE, 'g')]),
    text(16, 222, `training waits for the copy: ${both} us an interval`, { bold: true }), ['steps', 'copy', 'storage'].map((name, i) => row(236 + i * 44, name)),
    range(3).map(i => [bar(i * both, 236, STEPS, 'a'), bar(i * both + STEPS, 280, COPY, 'w'), bar(i * both + STEPS + COPY, 324, STORE, 'g')]),
    text(704, 390, 'the last save has nothing to hide behind', { style: 'q', size: 20, at: 'end' })]);

// Two buckets of 7 and 5 elements on two data parts, and on three.
const cells = (y, parts, sizes, owners) => sizes.map((n, b) => {
  const part = Math.ceil(n / parts), x = 130 + b * 330;
  return range(part * parts).map(i => box(x + i * 32, y, 29, 44, i < n ? b * sizes[0] + i : '0', i < n ? owners[Math.floor(i / part)] : 'p', { size: 20 }));
});
here.draw('buckets', 720, 340, 'Two buckets, padded for two ranks and for three',
  'Buckets of 7 and 5 elements. For two ranks they are padded to 8 and 6, for three ranks to 9 and 6. Element 7, the first of bucket 1, is float 4 of the file of rank 0 on two ranks, and float 3 on three.', [
    text(130, 32, 'bucket 0: 7 elements', { style: 'q', size: 20 }), text(460, 32, 'bucket 1: 5 elements', { style: 'q', size: 20 }),
    text(16, 76, '2 ranks', { size: 20 }), cells(46, 2, [7, 5], ['a', 'w']), text(16, 156, '3 ranks', { size: 20 }), cells(126, 3, [7, 5], ['a', 'w', 'g']),
    ['a', 'w', 'g'].map((style, r) => [rect(130 + r * 130, 200, 26, 26, style), text(164 + r * 130, 221, `rank ${r}`, { size: 20 })]),
    text(16, 276, 'Element 7 in the file of rank 0: float 4 on two ranks, float 3 on three.', { size: 20 }), text(16, 312, 'Without the padding of bucket 0 every later offset is wrong.', { style: 'w', size: 20 })]);

// Four ranks over 60 seconds: a death, a timeout, a smaller generation, a return.
const seconds = s => 100 + s * 10;
const span = (rank, from, to, what, style) => box(seconds(from), 56 + rank * 56, (to - from) * 10 - 3, 42, what, style, { size: 20 });
here.draw('generations', 720, 400, 'A rank dies, the others go on, and it comes back',
  'Four ranks train in generation 1. Rank 3 dies at second 12; the others wait in a collective until second 22, make generation 2 without it and go on from the last checkpoint. Rank 3 starts again at second 42 and makes generation 3.', [
    range(4).map(r => text(16, 84 + r * 56, `rank ${r}`, { size: 20 })), [0, 12, 22, 42].map(s => text(seconds(s), 36, `${s} s`, { style: 'q', size: 20, at: 'middle' })),
    range(3).map(r => [span(r, 0, 12, '1', 'a'), span(r, 12, 22, 'waits', 'p'), span(r, 22, 42, 'generation 2', 'w'), span(r, 42, 60, 'generation 3', 'g')]),
    span(3, 0, 12, '1', 'a'), arrow(seconds(13), 245, seconds(41), 245, 'sq', 2), text(seconds(27), 234, 'starts again', { size: 20, at: 'middle', style: 'q' }), span(3, 42, 60, 'generation 3', 'g'),
    text(16, 316, 'Each new generation goes on from the last checkpoint:', { size: 20 }), text(16, 346, 'at most the steps of one interval are made again.', { size: 20 }), text(16, 382, 'The others notice after a timeout of 10 s.', { style: 'q', size: 20 })]);

// What TensorBoard shows of a run that is killed twenty times (run.json): loss over steps, goodput over time.
const ROWS = JSON.parse(readFileSync(new URL('run.json', import.meta.url), 'utf8')).rows;
const END = ROWS.at(-1), [LEAST, MOST] = [1.4, 3.2];
const lossAt = ([, step, loss]) => [90 + 590 * step / END[1], 230 - 190 * (loss - LEAST) / (MOST - LEAST)];
const goodAt = ([s, , , , , good]) => [90 + 590 * s / END[0], 470 - 170 * good];
const join = points => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
const again = ROWS.filter((row, i) => ROWS.slice(0, i).some(r => r[1] === row[1]));
here.draw('training', 720, 540, 'Loss and goodput of a run that is killed twenty times',
  `Above, the loss over 160 steps falls from about 3 to about 1.6; the ${again.length} steps that were made again lie on the same curve. Below, the goodput over ${Math.round(END[0])} seconds falls to 10% and ends at ${Math.round(100 * END[5])}%, since each start takes a second or more and each life is short.`, [
    text(90, 28, 'loss', { bold: true, size: 20 }), text(680, 28, 'steps made again', { style: 'w', size: 20, at: 'end' }),
    [1.5, 2, 2.5, 3].map(v => [line(90, lossAt([0, 0, v])[1], 680, lossAt([0, 0, v])[1], 'sr', 1), text(80, lossAt([0, 0, v])[1] + 7, v, { at: 'end', size: 20 })]),
    path(join([...new Map(ROWS.map(row => [row[1], row])).values()].sort((a, b) => a[1] - b[1]).map(lossAt)), 'sa', 3),
    again.map(row => { const [x, y] = lossAt(row); return rect(x - 4, y - 4, 8, 8, 'w'); }),
    [0, 40, 80, 120, 160].map(s => text(lossAt([0, s, 0])[0], 256, s ? s : 'step 0', { at: 'middle', size: 20 })),
    text(90, 290, 'goodput', { bold: true, size: 20 }),
    [0, 0.5, 1].map(g => [line(90, goodAt([0, 0, 0, 0, 0, g])[1], 680, goodAt([0, 0, 0, 0, 0, g])[1], 'sr', 1), text(80, goodAt([0, 0, 0, 0, 0, g])[1] + 7, `${100 * g}%`, { at: 'end', size: 20 })]),
    path(join(ROWS.map(goodAt)), 'sg', 3),
    [0, 10, 20, 30].map(s => text(goodAt([s, 0, 0, 0, 0, 0])[0], 498, `${s} s`, { at: 'middle', size: 20 })),
    text(385, 528, `${ROWS.length} steps were made for ${END[1]}, in ${Math.round(END[0])} s`, { style: 'q', size: 20, at: 'middle' })]);
