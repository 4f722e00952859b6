// Figures of lab 09: one layer on several GPUs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { album, ROOT } from '../../../figures/kit/album.mjs';
import { bars, lane } from '../../../figures/kit/charts.mjs';
import { emulated, exported } from '../../../figures/kit/exports.mjs';
import { timeline } from '../../../figures/kit/trace.mjs';
import { arrow, box, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

here.draw('column_row', 720, 430, 'Two ranks: the first layer is cut by columns, the second by rows, with one sum at the end',
  'Each rank has all of x, half of the columns of A and half of the rows of B. x times its half of A, gelu, and its half of B give a summand of all of y; one all-reduce adds the two.', [
    [0, 1].map(k => { const y = 50 + k * 190, style = k ? 'w' : 'a';
      return [text(10, y + 8, `rank ${k}`, { size: 20, style: 'q' }), box(10, y + 20, 56, 100, 'x', 'p', { size: 26 }), arrow(68, y + 70, 96, y + 70, 'sq'), box(100, y, 64, 140, `A${k + 1}`, style, { size: 24 }), text(132, y - 12, 'columns', { size: 20, style: 'q', at: 'middle' }),
        arrow(166, y + 70, 196, y + 70, 'sq'), box(200, y + 36, 80, 68, 'gelu', 'p'), arrow(282, y + 70, 312, y + 70, 'sq'), box(316, y + 36, 120, 68, `B${k + 1}`, style, { size: 24 }), text(376, y + 24, 'rows', { size: 20, style: 'q', at: 'middle' }),
        arrow(438, y + 70, 464, y + 70, 'sq'), rect(468, y + 20, 56, 100, style, 'fill-opacity=".6"'), arrow(526, y + 70, 562, k ? 244 : 196, 'sg')]; }),
    text(496, 212, 'summands', { size: 20, style: 'q', at: 'middle' }), box(566, 180, 66, 80, '+', 'g', { size: 36 }), text(600, 166, 'all-reduce', { style: 'g', at: 'middle', bold: true, size: 20 }), arrow(634, 220, 654, 220, 'sg'), box(658, 170, 52, 100, 'y', 'p', { size: 26 })]);

here.draw('heads', 720, 400, 'The rows of qkv that belong to a rank',
  'qkv has all heads\' q, then all k, then all v. Cut into three equal ranges, rank 0 would get nothing but q. Each rank needs its own heads\' q, k and v: three ranges that are not neighbours.', (() => {
    const styles = ['a', 'w', 'g'], parts = (y, style) => range(3).map(m => range(6).map(h => box(130 + (m * 6 + h) * 32, y, 30, 56, h, style(m, h), { size: 20 })));
    return [range(3).map(m => [text(130 + m * 192 + 94, 66, ['q', 'k', 'v'][m], { at: 'middle', bold: true, size: 26 })]), text(16, 34, 'wrong: three equal ranges', { bold: true, style: 'w' }), text(16, 112, 'head', { style: 'q' }), parts(78, m => styles[m]),
      text(16, 190, 'right: whole heads, each with its q, k and v', { bold: true, style: 'a' }), text(16, 244, 'head', { style: 'q' }), parts(210, (m, h) => styles[h >> 1]),
      range(3).map(r => [rect(130 + r * 180, 310, 30, 30, styles[r]), text(170 + r * 180, 333, `rank ${r}`)]), text(16, 382, 'six heads on three ranks: two heads a rank', { style: 'q', size: 20 })];
  })());

here.draw('sequence', 720, 560, 'The all-reduce in two halves, with the rows divided among ranks between them',
  'norm on N / t rows, all-gather, the products on all rows with a t-th of the channels, reduce-scatter, then bias, dropout and residual on N / t rows.', [
    [['norm', 'p', 'N / t rows'], ['all-gather', 'g', 'rows come together'], ['A, gelu, B', 'a', 'N rows, a t-th of the channels'], ['reduce-scatter', 'g', 'sums of N / t rows'], ['+ b, dropout, + x', 'p', 'N / t rows']].map(([name, style, what], i) => [
      box(16, 20 + i * 92, 260, 62, name, style), text(300, 58 + i * 92, what, {}), i < 4 ? arrow(146, 84 + i * 92, 146, 108 + i * 92, 'sq') : '']),
    text(16, 508, 'The bytes are those of an all-reduce, and a rank keeps a', { style: 'q' }), text(16, 538, 't-th of the activations outside of the products.', { style: 'q' })]);

here.draw('chunks', 720, 340, 'Chunks of rows let collectives run beside products',
  'The collective of chunk 1 runs while the products of chunk 0 are computed, and so on. Only the first all-gather and the last reduce-scatter are exposed.', [
    text(130, 30, 'g: all-gather, s: reduce-scatter, number: chunk of rows', { style: 'q', size: 20 }),
    lane(50, 'links', [[0, 1, 'g0', 'w'], [1, 2, 'g1', 'g'], [3, 4, 's0', 'g'], [4, 5, 'g2', 'g'], [5.2, 6.2, 's1', 'g'], [6.2, 7.2, 'g3', 'g'], [7.4, 8.4, 's2', 'g'], [9.3, 10.3, 's3', 'w']], { scale: 55 }),
    lane(104, 'products', [[1, 3, 'chunk 0', 'a'], [3, 5.1, 'chunk 1', 'a'], [5.1, 7.2, 'chunk 2', 'a'], [7.2, 9.3, 'chunk 3', 'a']], { scale: 55 }),
    text(130, 200, 'exposed: the first gather and the last scatter', { style: 'w', bold: true }),
    text(16, 250, 'The order of calls: gather of the next chunk first, then the', { style: 'q' }), text(16, 280, 'scatter of this one; a communicator runs them in this order.', { style: 'q' })]);

const solution = here.record('overlap_solution');
timeline(here, 'trace_overlap', 'Timeline of overlap, rank 0 of two',
  `Recorded on the emulator with links of PCI Express. The products run nearly without a gap while gathers and scatters go on beside them; only the first gather and the last scatter are exposed. ${Math.round(solution.us)} us.`,
  [{ head: 'solution: four chunks of rows', record: solution }], { order: ['host', 'kernels', 'transfers'] });

const blocks = readFileSync(join(ROOT, 'benchmarks/training/h200x4/training.jsonl'), 'utf8').trim().split('\n').map(row => JSON.parse(row)).filter(r => r.what === 'tensor parallel blocks'), one = blocks.find(r => r.ranks === 1).median_s;
bars(here, 'strong_scaling', 'Tensor parallel blocks on up to four GPUs',
  blocks.map(r => `${r.ranks} GPUs${r.messages ? '' : ' without all-reduces'}: ${(r.median_s * 1e3).toFixed(1)} ms`).join(', '),
  blocks.map(r => [`${r.ranks} GPU${r.ranks > 1 ? 's' : ''}${r.messages ? '' : ', no all-reduces'}`, r.median_s * 1e3, `${(r.median_s * 1e3).toFixed(1)} ms`, `${(one / r.median_s).toFixed(2)} x, ${Math.round(r.tflops_per_gpu)} TFLOP/s a GPU`, r.messages ? (r.ranks === 1 ? 'p' : 'a') : 'w']), one * 1e3, '24 blocks of 1.3B, 8192 rows, bf16, H200s');
exported(here, 'timeline_tensor', 'The visualizer\'s timeline of the solution of overlap on two emulated ranks.', '1000x330', '1.9', '--set', 'mode=overlap', () => emulated('09_tensor_parallel', 'overlap', 'solutions/09_tensor_parallel'));
