// Figures of lab 07: what a step sends, and when.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { album, ROOT } from '../../../figures/kit/album.mjs';
import { bars, lane } from '../../../figures/kit/charts.mjs';
import { exported } from '../../../figures/kit/exports.mjs';
import { timeline } from '../../../figures/kit/trace.mjs';
import { arrow, box, dashed, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

here.draw('replicas', 720, 430, 'Data parallelism: the same weights, parts of one batch, one sum',
  'Four ranks hold the same weights. Each computes the gradient of its own part of the batch; an all-reduce adds the four; each rank makes the same update and again holds the same weights.', [
    range(4).map(r => { const x = 20 + r * 174; return [text(x + 79, 30, `rank ${r}`, { style: 'q', at: 'middle' }), box(x, 44, 158, 50, `part ${r}`, 'w'), arrow(x + 79, 96, x + 79, 124, 'sq'), box(x, 128, 158, 60, 'weights', 'p'), arrow(x + 79, 190, x + 79, 218, 'sq'), box(x, 222, 158, 50, 'gradient', 'g'), arrow(x + 79, 274, x + 79, 302, 'sg')]; }),
    box(20, 306, 680, 50, 'all-reduce: the sum of four gradients, on all ranks', 'a'), text(360, 400, 'the same update everywhere, so the same weights again', { style: 'q', at: 'middle' })]);

here.draw('buckets', 720, 400, 'All-reduce after backward, and in buckets beside it',
  'After backward, the all-reduce adds its whole time to the step. In buckets, the gradients of the last block travel while backward computes the one before; only the last bucket is exposed.', [
    text(16, 30, 'after backward', { size: 24, bold: true }), lane(46, 'compute', [[0, 2, 'forward', 'p'], [2, 6.4, 'backward', 'a']]), lane(96, 'transfers', [[6.4, 9, 'all-reduce', 'w']]),
    text(16, 210, 'in buckets', { size: 24, bold: true }), lane(226, 'compute', [[0, 2, 'forward', 'p'], [2, 2.6, '', 'a'], [2.6, 3.6, '3', 'a'], [3.6, 4.6, '2', 'a'], [4.6, 5.6, '1', 'a'], [5.6, 6.4, '0', 'a']]),
    lane(276, 'transfers', [[3.6, 4.4, '3', 'g'], [4.6, 5.4, '2', 'g'], [5.6, 6.4, '1', 'g'], [6.4, 7.1, '0', 'w']]), dashed(130 + 6.4 * 60, 218, 130 + 6.4 * 60, 340, 'sw'), text(566, 304, 'exposed', { style: 'w', bold: true }),
    text(130, 376, 'a number is a block; backward begins with the last', { style: 'q', size: 20 })]);

const solution = here.record('overlapped_solution');
timeline(here, 'trace_overlapped', 'Timeline of a step of overlapped, rank 0 of four',
  `Recorded on the emulator with links of 25 Gb/s Ethernet. The all-reduces of the buckets run beside backward; only the last one goes on after the kernels have ended. The step takes ${Math.round(solution.us)} us, where one all-reduce after backward takes 3320 us.`,
  [{ head: 'solution: buckets of 128 KiB', record: solution }], { order: ['host', 'kernels', 'transfers'] });

here.draw('zero', 720, 440, 'Bytes for each weight that a rank keeps, with eight ranks',
  'Nothing divided: 16 bytes. ZeRO 1 divides the moments: 9 bytes. ZeRO 2 the gradients as well: 5.5. ZeRO 3 the weights as well: 2 bytes.', [
    text(16, 36, 'weights', { style: 'a', bold: true }), text(150, 36, 'gradients', { style: 'g', bold: true }), text(310, 36, 'moments of Adam', { style: 'w', bold: true }),
    [['nothing divided', 4, 4, 8], ['ZeRO 1: moments divided', 4, 4, 1], ['ZeRO 2: and gradients', 4, 0.5, 1], ['ZeRO 3: and weights', 0.5, 0.5, 1]].map(([name, a, b, c], i) => {
      const s = 34, x = 16, y = 66 + i * 92;
      return [text(x, y + 22, name), rect(x, y + 34, a * s, 40, 'a'), rect(x + a * s, y + 34, b * s, 40, 'g'), rect(x + (a + b) * s, y + 34, c * s, 40, 'w'), text(x + (a + b + c) * s + 12, y + 62, `${a + b + c} bytes`, { bold: true })];
    })]);

const runs = readFileSync(join(ROOT, 'benchmarks/training/h200x4/training.jsonl'), 'utf8').trim().split('\n').map(row => JSON.parse(row));
const speed = (what, model, ranks) => runs.find(r => r.what.startsWith(what) && r.model === model && r.ranks === ranks && r.overlap !== false && r.messages !== false).tokens_per_s_per_gpu;
const row = (what, name, model, ranks, style) => { const own = speed(what, model, ranks) / speed(what, model, 1); return [`${name}, ${ranks} GPU${ranks > 1 ? 's' : ''}`, own, own.toFixed(2), `${Math.round(speed(what, model, ranks)).toLocaleString('en')} tokens/s a GPU`, style]; };
bars(here, 'weak_scaling', 'Weak scaling of data parallel training on up to four GPUs',
  'The speed of one of four H200s over that of one alone: 0.87 for GPT-2 124M, 0.84 with PyTorch, 0.94 for 1.3B.',
  [row('ridge', '124M', 'gpt2-124m', 1, 'p'), row('ridge', '124M', 'gpt2-124m', 2, 'a'), row('ridge', '124M', 'gpt2-124m', 4, 'a'), row('PyTorch', '124M, PyTorch', 'gpt2-124m', 4, 'w'), row('ridge', '1.3B', 'gpt-1.3b', 4, 'a')], 1, 'speed of a GPU over that of one alone; H200s, bf16');

const overlap = (name, desc, file) => exported(here, name, desc, '1000x330', '1.9', '--set', 'mode=overlap', `benchmarks/training/h200x2/${file}`);
overlap('timeline_ddp_after', 'The visualizer\'s view of two H200s: all transfers are exposed after backward.', 'ddp_after.trace.json');
overlap('timeline_ddp_overlapped', 'The visualizer\'s view of two H200s with buckets: 31% of the transfers\' time is exposed.', 'ddp_overlapped.trace.json');
overlap('timeline_ddp_graph', 'The visualizer\'s view of a step as a CUDA graph on two H200s.', 'ddp_graph.trace.json.gz');
