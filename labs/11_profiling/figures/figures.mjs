// Figures of lab 11: roofs as times, Little's law, divergence, Amdahl's law, and a search.
import { readFileSync } from 'node:fs';
import { album } from '../../../figures/kit/album.mjs';
import { arrow, dashed, grid, line, path, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// Microseconds, as the lesson's table has them: check/counted.hpp's counts over model.hpp's rates.
const ROOFS = [['strided', [0.28, 1.86, 1.93, 0.53]], ['row_sum', [5.21, 4.51, 5.15, 1.63]], ['transpose', [5.66, 2.12, 1.29, 2.13]],
  ['halo', [0.28, 0.54, 0.32, 0.61]], ['wide', [0.48, 3.18, 2.57, 0.53]], ['table', [0.12, 0.66, 0.32, 0.62]]];
const NAMES = ['l1', 'l2', 'memory', 'latency'];
here.draw('roofs', 720, 590, 'Four roofs of each of six kernels, as times',
  `Microseconds for l1, l2, memory and latency. ${ROOFS.map(([name, t]) => `${name}: ${t.join(', ')}`).join('; ')}. The highest binds.`,
  ROOFS.map(([name, times], k) => {
    const top = 20 + k * 90, most = Math.max(...times);
    return [text(130, top + 50, name, { at: 'end', bold: true }), times.map((t, i) => [rect(146, top + i * 20, 4 + t * 74, 16, t >= 0.95 * most ? 'w' : 'a', t >= 0.95 * most ? '' : 'fill-opacity=".55"'),
      t >= 0.95 * most ? text(158 + t * 74, top + 15 + i * 20, `${NAMES[i]} ${t.toFixed(2)} us`, { size: 20 }) : ''])];
  }).concat([text(704, 582, 'from above: l1, l2, memory, latency', { size: 20, style: 'q', at: 'end' })]));

const X = kb => 90 + kb * 17, Y = tb => 360 - tb * 66;
here.draw('little', 720, 440, 'Bandwidth over the bytes that an SM has in flight',
  'At 427 ns a load, memory delivers bytes in flight over latency: a slope up to 4.2 TB/s, which 13.6 KB for each of 132 SMs reach. One float a thread with 64 warps is 8 KB, one float4 is 32 KB.', [
    line(90, 30, 90, 360, 'sq'), line(90, 360, 704, 360, 'sq'), path(`M${X(0)} ${Y(0)}L${X(13.6)} ${Y(4.2)}L${X(36)} ${Y(4.2)}`, 'sa', 4),
    text(80, Y(4.2) + 8, '4.2', { at: 'end', size: 20 }), text(16, 28, 'TB/s', { size: 20, style: 'q' }), text(704, 428, 'KB in flight for each SM', { size: 20, style: 'q', at: 'end' }),
    [[2, '16 warps'], [8, '64 warps, a float each'], [13.6, 'enough'], [32, '64 warps, a float4 each']].map(([kb, what], i) => [dashed(X(kb), 360, X(kb), Y(Math.min(4.2, kb / 13.6 * 4.2)), i === 2 ? 'sg' : 'sw'),
      text(X(kb), 388, kb, { size: 20, at: 'middle' }), text(X(kb) + (i === 3 ? 30 : 10), Y(Math.min(4.2, kb / 13.6 * 4.2)) + (i === 3 ? -14 : i === 2 ? 32 : 8), what, { size: 20, style: i === 2 ? 'g' : 'w', at: i === 3 ? 'end' : 'start' })])]);

const KINDS = [8, 32, 128, 512], R = 512, W = r => r / R * 420;
here.draw('divergence', 720, 480, 'A warp with lanes of all kinds, and four warps of one kind each',
  'Mixed: 8 lanes each make 8, 32, 128 and 512 rounds, and the warp runs 512 rounds, a third of its lanes active. Sorted: four warps run 8, 32, 128 and 512 rounds, all lanes active, 680 warp rounds in place of 2048.', [
    text(16, 36, 'mixed: each of four warps', { bold: true }), KINDS.map((r, k) => [rect(150, 56 + k * 34, W(R), 28, 'p'), rect(150, 56 + k * 34, Math.max(5, W(r)), 28, 'a'), text(138, 77 + k * 34, '8 lanes', { size: 20, style: 'q', at: 'end' }), text(704, 77 + k * 34, `${r} rounds`, { size: 20, at: 'end' })]),
    text(16, 218, '4 x 512 = 2048 rounds of a warp, 33% of the lanes active', { style: 'w' }),
    text(16, 280, 'sorted: four warps', { bold: true }), KINDS.map((r, k) => [rect(150, 300 + k * 34, Math.max(5, W(r)), 28, 'g'), text(138, 321 + k * 34, '32 lanes', { size: 20, style: 'q', at: 'end' }), text(704, 321 + k * 34, `${r} rounds`, { size: 20, at: 'end' })]),
    text(16, 462, '680 rounds of a warp, all lanes active', { style: 'g' })]);

const T = us => 170 + us * 5.6;
here.draw('amdahl', 720, 360, 'What is left when half of the sectors go',
  'Before: memory is busy for 80 us, l1 for 50 us, issue for 30 us. After: memory 40 us, l1 50 us, issue 30 us. The gain is 80 over 50, 1.6.', [
    [['before', [80, 50, 30], 40], ['half of the sectors', [40, 50, 30], 210]].map(([what, times, top]) => [text(16, top, what, { bold: true }), times.map((us, i) => [text(158, top + 38 + i * 36, ['memory', 'l1', 'issue'][i], { at: 'end' }),
      rect(170, top + 18 + i * 36, us * 5.6, 28, us === Math.max(...times) ? 'w' : 'a'), text(T(us) + 8, top + 40 + i * 36, us, { size: 20 })])]),
    dashed(T(40), 226, T(40), 330, 'sq'), arrow(T(80), 190, T(50), 190, 'sg'), text(T(51), 216, '1.6 x, not 2 x', { style: 'g', bold: true })]);

// The search of the solution on one device that was drawn: check/gemm_times.hpp.
const search = JSON.parse(readFileSync(new URL('search.json', import.meta.url), 'utf8'));
const bar = t => Math.min(300, (t - 1) * 150 + 12);
here.draw('search', 720, 430, 'The configurations that can run, in the order of a model\'s guess',
  `Time over that of the fastest, ${search.times.length} configurations of a product of ${search.shape.join(' x ')}; bars are cut at 3. ${search.measured.reduce((a, b) => a + b)} were measured. The fastest is number ${search.times.indexOf(1) + 1} in the model's order.`, [
    search.times.map((t, i) => rect(30 + i * 14.2, 350 - bar(t), 11, bar(t), t === 1 ? 'g' : search.measured[i] ? 'w' : 'a', search.measured[i] ? '' : 'fill-opacity=".5"')),
    line(20, 350, 704, 350, 'sq'), text(30, 384, 'best guess', { size: 20, style: 'q' }), text(704, 384, 'worst guess', { size: 20, style: 'q', at: 'end' }),
    text(30, 40, 'orange: measured, 12', { style: 'w' }), text(30, 74, 'green: the fastest', { style: 'g' }), text(30, 418, 'height: time beyond that of the fastest', { size: 20, style: 'q' })]);
