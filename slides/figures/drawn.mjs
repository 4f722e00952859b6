// Diagrams that no record can show: accesses, dependencies, schedules, bits of formats.
//
//   node slides/figures/drawn.mjs
import { arrow, box, frame, line, path, rect, text, write } from './svg.mjs';

const range = count => Array.from({ length: count }, (_, i) => i);
const grid = (columns, rows, make) => range(rows).map(r => range(columns).map(c => make(c, r)));

// ---- 00: one node, and one GPU of it
write('machine', 1200, 480, 'A node with eight GPUs, and the inside of one GPU', [
  frame(10, 40, 640, 420, 'sr', 'stroke-width="2" rx="8"'), text(26, 74, 'one node', { size: 24, bold: true }),
  range(8).map(i => box(30 + (i % 4) * 152, i < 4 ? 96 : 300, 140, 64, `GPU ${i}`, i === 1 ? 'a' : 'p')),
  box(30, 206, 596, 48, 'NVSwitch: each GPU 450 GB/s each way', 'w'),
  range(8).map(i => line(100 + (i % 4) * 152, i < 4 ? 160 : 254, 100 + (i % 4) * 152, i < 4 ? 206 : 300, 'sw', 4)),
  box(30, 392, 290, 50, 'two CPUs, PCIe 5'), box(336, 392, 290, 50, 'adapters of 400 Gb/s'),
  line(322, 128, 700, 80, 'sa', 2, 'stroke-dasharray="6 6"'), line(322, 158, 700, 440, 'sa', 2, 'stroke-dasharray="6 6"'),
  frame(700, 40, 490, 420, 'sa', 'stroke-width="3" rx="8"'), text(718, 74, 'one H200', { size: 24, bold: true }),
  grid(22, 6, (c, r) => rect(720 + c * 20.6, 96 + r * 22, 17, 18, 'p')), text(720, 252, '132 multiprocessors (SM), each:', { size: 21 }),
  text(720, 282, '128 fp32 units, 4 tensor cores, 256 KiB of', { style: 'q', size: 19 }), text(720, 308, 'registers, 227 KiB of shared memory', { style: 'q', size: 19 }),
  box(720, 328, 450, 44, 'L2 cache: 50 MB', 'a'), box(720, 386, 450, 56, 'HBM3e: 141 GB at 4.8 TB/s', 'w')]);

// ---- 00: the ten labs, by what they keep busy
const LABS = [['a warp', [['01', 'coalescing'], ['03', 'warp shuffle']]], ['a GPU', [['02', 'tiling'], ['04', 'tensor cores'], ['10', 'mixed precision']]],
  ['the queue', [['05', 'streams, graphs']]], ['the links', [['06', 'ring all-reduce'], ['09', 'tensor parallel']]], ['the cluster', [['07', 'data parallel'], ['08', 'pipeline']]]];
write('course_map', 1200, 400, 'The ten labs, by what they keep busy', LABS.map(([what, labs], i) => [
  text(15 + i * 238 + 112, 36, what, { size: 26, at: 'middle', bold: true, style: i < 3 ? 'a' : 'w' }), line(15 + i * 238, 54, 15 + i * 238 + 224, 54, i < 3 ? 'sa' : 'sw', 4),
  labs.map(([number, name], k) => [rect(15 + i * 238, 76 + k * 106, 224, 92, 'p', 'rx="6"'), text(15 + i * 238 + 14, 112 + k * 106, number, { size: 26, bold: true, style: i < 3 ? 'a' : 'w' }),
    text(15 + i * 238 + 14, 148 + k * 106, name, { size: 22 })])]));

// ---- 02: a tile and its halo
write('halo', 1200, 470, 'A tile of 8 x 8 cells, the halo of two cells around it, and one 5 x 5 neighbourhood', [
  grid(12, 12, (c, r) => rect(20 + c * 37, 14 + r * 37, 34, 34, c > 1 && c < 10 && r > 1 && r < 10 ? 'a' : 'w', 'fill-opacity=".75"')),
  frame(20 + 7 * 37 - 2, 14 + 37 - 2, 5 * 37, 5 * 37, 'st', 'stroke-width="5"'), rect(20 + 9 * 37, 14 + 3 * 37, 34, 34, 't'),
  text(520, 60, 'tile: 8 x 8 results', { size: 28, bold: true, style: 'a' }), text(520, 100, 'halo: 2 cells on all sides', { size: 28, bold: true, style: 'w' }),
  text(520, 140, 'one result reads 5 x 5 cells', { size: 28 }),
  [['8 x 8', '12 x 12', 2.25], ['16 x 16', '20 x 20', 1.56], ['32 x 32', '36 x 36', 1.27], ['64 x 64', '68 x 68', 1.13]].map(([tile, cells, ratio], i) => [
    text(520, 224 + i * 56, tile, { size: 26 }), text(660, 224 + i * 56, cells, { size: 26, style: 'q' }),
    rect(800, 200 + i * 56, 140, 34, 'a'), rect(940, 200 + i * 56, (ratio - 1) * 140, 34, 'w'), text(1190, 226 + i * 56, ratio.toFixed(2), { size: 26, at: 'end', bold: true })]),
  text(520, 180, 'results', { style: 'q', size: 20 }), text(660, 180, 'loads', { style: 'q', size: 20 }), text(1190, 180, 'loads for a result', { style: 'q', size: 20, at: 'end' })]);

// ---- 02: a thread walks down a column
write('column_walk', 1200, 440, 'A thread computes eight cells of a column: 12 rows of 5 cells serve all of them', [
  grid(9, 12, (c, r) => rect(30 + c * 36, 6 + r * 36, 33, 33, c > 1 && c < 7 ? 'w' : 'p', 'fill-opacity=".8"')),
  range(8).map(r => rect(30 + 4 * 36, 6 + (r + 2) * 36, 33, 33, 'a')), arrow(400, 20, 400, 420, 'st', 4),
  text(440, 60, '8 results of one column', { size: 28, bold: true, style: 'a' }), text(440, 104, '12 rows of 5 cells read', { size: 28, bold: true, style: 'w' }),
  [['1 cell', '5 x 5', '25'], ['4 of a column', '8 x 5', '10'], ['8 of a column', '12 x 5', '7.5'], ['4 x 8 with float4', '12 x 3 float4', '4.5']].map(([a, b, c], i) => [
    text(440, 204 + i * 58, a, { size: 26 }), text(760, 204 + i * 58, b, { size: 26, style: 'q' }), rect(970, 180 + i * 58, Number(c) * 6, 32, 'w'), text(1190, 204 + i * 58, c, { size: 26, bold: true, at: 'end' })]),
  text(440, 156, 'a thread computes', { style: 'q', size: 20 }), text(760, 156, 'and reads', { style: 'q', size: 20 }), text(1190, 156, 'reads for a result', { style: 'q', size: 20, at: 'end' })]);

// ---- 02: three sizes of tiles
write('sgemm_tiles', 1200, 470, 'A block has a tile of C in shared memory, a warp a part of it, a thread 8 x 8 in registers', [
  rect(330, 210, 240, 240, 'p'), rect(330, 20, 240, 160, 'p'), rect(130, 210, 170, 240, 'p'),
  rect(410, 290, 80, 80, 'a'), rect(410, 20, 80, 160, 'w', 'fill-opacity=".35"'), rect(130, 290, 170, 80, 'w', 'fill-opacity=".35"'), rect(410, 90, 80, 18, 'w'), rect(208, 290, 18, 80, 'w'),
  text(60, 335, 'A', { size: 34, bold: true }), text(586, 60, 'B', { size: 34, bold: true }), text(586, 440, 'C', { size: 34, bold: true }),
  arrow(140, 400, 290, 400, 'sw'), arrow(390, 30, 390, 170, 'sw'), text(150, 440, 'along k', { style: 'w', size: 22 }),
  line(490, 290, 690, 120, 'sa', 2, 'stroke-dasharray="6 6"'), line(490, 370, 690, 400, 'sa', 2, 'stroke-dasharray="6 6"'),
  rect(690, 120, 280, 280, 'a', 'fill-opacity=".4"'), grid(2, 4, (c, r) => frame(690 + c * 140, 120 + r * 70, 140, 70, 'sa', 'stroke-width="2"')), rect(690, 190, 140, 70, 'a'),
  text(690, 100, 'block: 128 x 128', { size: 24, bold: true }), text(700, 432, 'warp: 32 x 64', { size: 24, bold: true, style: 'a' }),
  line(830, 190, 1010, 190, 'sa', 2, 'stroke-dasharray="6 6"'), line(830, 260, 1010, 340, 'sa', 2, 'stroke-dasharray="6 6"'),
  grid(8, 8, (c, r) => rect(1010 + c * 22, 190 + r * 22, 19, 19, 'g')), text(1010, 170, 'thread: 8 x 8', { size: 24, bold: true, style: 'g' }), text(1010, 400, 'in registers', { size: 22, style: 'q' })]);

// ---- 02: one buffer, two buffers
const lane = (y, name, parts, scale = 100, left = 190) => [text(left - 16, y + 30, name, { size: 22, at: 'end', style: 'q' }),
  parts.map(([from, to, what, style]) => box(left + from * scale, y, (to - from) * scale - 4, 46, what, style, { size: 20 }))];
write('two_buffers', 1200, 400, 'With one buffer loading and multiplying take turns, with two they overlap', [
  text(20, 30, 'one buffer, two barriers a step', { size: 26, bold: true }),
  lane(52, 'load', [[0, 1.2, 'strip 0', 'w'], [2.4, 3.6, 'strip 1', 'w'], [4.8, 6, 'strip 2', 'w'], [7.2, 8.4, 'strip 3', 'w']]),
  lane(108, 'multiply', [[1.2, 2.4, '0', 'a'], [3.6, 4.8, '1', 'a'], [6, 7.2, '2', 'a'], [8.4, 9.6, '3', 'a']]),
  text(20, 230, 'two buffers, one barrier a step', { size: 26, bold: true }),
  lane(252, 'load', [[0, 1.2, 'strip 0', 'w'], [1.2, 2.4, 'strip 1', 'w'], [2.4, 3.6, 'strip 2', 'w'], [3.6, 4.8, 'strip 3', 'w']]),
  lane(308, 'multiply', [[1.2, 2.4, '0', 'a'], [2.4, 3.6, '1', 'a'], [3.6, 4.8, '2', 'a'], [4.8, 6, '3', 'a']]),
  line(790, 240, 790, 370, 'sg', 3), text(806, 330, '6 in place of 9.6', { size: 26, bold: true, style: 'g' })]);

// ---- 03: the butterfly
write('butterfly', 1200, 470, 'Three steps of a butterfly give eight lanes the sum of all', (() => {
  const x = c => 180 + c * 130, y = r => 24 + r * 120, parts = [];
  for (let step = 0; step < 3; step += 1) for (let c = 0; c < 8; c += 1) {
    parts.push(line(x(c), y(step) + 22, x(c), y(step + 1) - 22, 'sr', 3));
    parts.push(arrow(x(c), y(step) + 22, x(c ^ (4 >> step)), y(step + 1) - 22, 'sa', 2.5));
  }
  const terms = ['1', '2', '4', '8'];
  parts.push(grid(8, 4, (c, r) => box(x(c) - 44, y(r) - 22, 88, 44, r ? `sum of ${terms[r]}` : `x${c}`, r === 3 ? 'a' : 'p', { size: 19 })));
  parts.push([4, 2, 1].map((d, i) => text(20, y(i) + 68, `xor ${d}`, { size: 26, bold: true, style: 'a', mono: true })));
  parts.push(text(180 - 44, 450, 'every lane has the sum: no shared memory, no barrier. A warp takes five steps, 32 = 2^5.', { size: 22, style: 'q' }));
  return parts;
})());

// ---- 03: threads that work in a step of a tree
write('divergence', 1200, 330, 'The threads of 32 that work in a step of a tree', [
  [['t % 2 == 0', c => c % 2 === 0, 'all warps stay busy, at half width'], ['t < 128', c => c < 16, 'whole warps rest']].map(([name, works, what], i) => [
    text(20, 40 + i * 160, name, { size: 26, mono: true, bold: true }), text(300, 40 + i * 160, what, { size: 24, style: i ? 'a' : 'w' }),
    range(32).map(c => rect(20 + c * 36.5, 60 + i * 160, 32, 50, works(c) ? (i ? 'a' : 'w') : 'p')),
    i ? range(2).map(k => frame(16 + k * 16 * 36.5, 55 + i * 160, 16 * 36.5 - 1, 60, 'sq', 'stroke-width="2"')) : range(2).map(k => frame(16 + k * 16 * 36.5, 55, 16 * 36.5 - 1, 60, 'sq', 'stroke-width="2"'))])]);

// ---- 03: decoupled look-back
write('look_back', 1200, 400, 'A tile looks back over the sums of earlier tiles until it meets a prefix', [
  range(8).map(i => {
    const style = i < 3 ? 'a' : i < 7 ? 'w' : 'g';
    return [box(20 + i * 147, 120, 132, 70, i < 7 ? (i < 3 ? 'prefix' : 'sum') : 'looks', style, { size: 24 }), text(86 + i * 147, 104, `tile ${i + 40}`, { size: 20, style: 'q', at: 'middle' })];
  }),
  path('M1115 196C1115 290 980 290 974 200', 'sg', 3, 'marker-end="url(#g)"'), path('M960 210C950 300 830 300 827 200', 'sg', 3, 'marker-end="url(#g)"'),
  path('M812 210C800 300 685 300 680 200', 'sg', 3, 'marker-end="url(#g)"'), path('M664 210C650 300 540 300 533 200', 'sg', 3, 'marker-end="url(#g)"'), path('M518 210C500 300 392 300 386 200', 'sg', 3, 'marker-end="url(#g)"'),
  text(20, 50, 'a tile publishes its own sum at once, its prefix when it knows it', { size: 26 }),
  text(240, 340, 'one by one: a trip to L2 for each tile. 32 lanes at once: one trip for 32 tiles', { size: 24, style: 'g' })]);

// ---- 04: two speeds
write('two_speeds', 1200, 420, 'fp32 units and tensor cores of one multiprocessor', [
  text(20, 40, 'in one cycle, one multiprocessor', { size: 24, style: 'q' }),
  text(20, 100, 'fp32 units', { size: 28, bold: true, style: 'w' }), rect(340, 72, 50, 40, 'w'), text(406, 102, '128 multiply-adds', { size: 26 }),
  text(20, 170, 'tensor cores, bf16', { size: 28, bold: true, style: 'a' }), rect(340, 142, 800, 40, 'a'), text(1130, 171, '2048', { size: 26, style: 'o', at: 'end', bold: true }),
  text(20, 260, 'and the memory that feeds both', { size: 24, style: 'q' }),
  text(20, 316, 'operations a byte', { size: 28, bold: true }), text(340, 316, 'fp32: 14', { size: 28, bold: true, style: 'w' }), text(560, 316, 'bf16: 206', { size: 28, bold: true, style: 'a' }),
  text(20, 380, 'Tensor cores must do 206 operations for each byte that memory delivers, or memory is the limit.', { size: 24 })]);

// ---- 04: swizzle
write('swizzle', 1200, 470, 'Pieces of 16 bytes in eight rows: in order a column is one group of banks, swizzled it is eight', [
  [0, 1].map(k => [text(20 + k * 620, 34, k ? 'piece c of row r lies at c xor r' : 'piece c lies at c', { size: 26, bold: true, style: k ? 'a' : 'w' }),
    grid(8, 8, (c, r) => { const piece = k ? c ^ r : c; return box(60 + k * 620 + c * 62, 84 + r * 40, 58, 36, `${piece}`, piece === 2 ? (k ? 'a' : 'w') : 'p', { size: 19 }); }),
    range(8).map(c => text(60 + k * 620 + c * 62 + 29, 72, `${c * 4}`, { size: 17, style: 'q', at: 'middle' })), range(8).map(r => text(46 + k * 620, 109 + r * 40, `${r}`, { size: 17, style: 'q', at: 'end' })),
    text(20 + k * 620, 446, k ? 'column 2: eight groups of banks, 1 wavefront' : 'column 2: four banks, 8 wavefronts', { size: 24 })])]);

// ---- 04: warps with roles
write('warp_roles', 1200, 470, 'One warp loads into a ring of four stages, two warpgroups multiply', [
  range(4).map(i => box(300 + i * 160, 180, 144, 70, `stage ${i}`, i < 3 ? 'a' : 'p', { size: 24 })),
  text(20, 223, 'ring: 4 x 48 KiB', { size: 24, style: 'q' }),
  box(20, 40, 300, 64, 'one thread: TMA loads', 'w', { size: 24 }), arrow(320, 72, 850, 72, 'sw'), arrow(850, 72, 850, 176, 'sw'), text(870, 80, 'waits for "empty", asks for', { size: 22, style: 'w' }), text(870, 110, '(128 + 256) x 128 bytes', { size: 22, style: 'w' }),
  box(300, 340, 300, 64, 'warpgroup 0: rows 0-63', 'g', { size: 22 }), box(620, 340, 300, 64, 'warpgroup 1: rows 64-127', 'g', { size: 22 }),
  arrow(372, 254, 420, 336, 'sg'), arrow(372, 254, 740, 336, 'sg'), text(20, 306, 'wait for "full",', { size: 22, style: 'g' }), text(20, 336, 'multiply, then', { size: 22, style: 'g' }), text(20, 366, 'arrive at "empty"', { size: 22, style: 'g' }),
  text(20, 446, 'a step of 64 of k lasts 128 x 256 x 64 / 2048 = 1024 cycles: about as long as a load from memory', { size: 22, style: 'q' })]);

// ---- 05: three workers
const chunked = (y, name, first, count, length, style, left = 190) => lane(y, name, range(count).map(i => [first + i * length, first + (i + 1) * length, String(i), style]), 100, left);
write('three_workers', 1200, 430, 'Copy in, compute and copy out, one after the other and in chunks', [
  text(20, 30, 'one stream', { size: 26, bold: true }),
  lane(48, 'copy in', [[0, 3, '', 'w']]), lane(100, 'compute', [[3, 6, '', 'a']]), lane(152, 'copy out', [[6, 9, '', 'g']]),
  text(20, 240, 'six chunks in three streams', { size: 26, bold: true }),
  chunked(258, 'copy in', 0, 6, 0.5, 'w'), chunked(310, 'compute', 0.5, 6, 0.5, 'a'), chunked(362, 'copy out', 1, 6, 0.5, 'g'),
  line(592, 250, 592, 416, 'st', 3), text(610, 340, 'T + 2 T / k, and a fixed cost for each copy', { size: 24 })]);

// ---- 05: the diagram is the program
write('fork_join', 1200, 360, 'One kernel, four branches of two, one kernel', [
  box(20, 146, 170, 60, 'prepare', 'a'), box(1010, 146, 170, 60, 'join', 'a'),
  range(4).map(i => [box(330, 10 + i * 88, 220, 60, `refine(${i})`, 'g'), box(640, 10 + i * 88, 220, 60, `refine(${i})`, 'g'), arrow(190, 176, 324, 40 + i * 88, i ? 'sw' : 'sa'), arrow(550, 40 + i * 88, 634, 40 + i * 88), arrow(860, 40 + i * 88, 1004, 176, i ? 'sw' : 'sa')])]);

// ---- 05: launches and a graph
write('launches', 1200, 400, 'Small kernels wait for the host; in a graph they wait only for one another', [
  text(20, 30, '17 launches: the host needs 2.9 us each', { size: 26, bold: true }),
  lane(48, 'host', range(9).map(i => [i * 1.1, i * 1.1 + 1.06, 'launch', 'w'])), lane(104, 'GPU', range(8).map(i => [1.1 + i * 1.1, 1.1 + i * 1.1 + 0.4, '', 'a'])),
  text(20, 240, 'one graph: 4 us for the host, 0.5 us a node', { size: 26, bold: true }),
  lane(258, 'host', [[0, 1.5, 'launch', 'w']]), lane(314, 'GPU', range(17).map(i => [1.5 + i * 0.44, 1.5 + i * 0.44 + 0.4, '', 'a']))]);

// ---- 06: the ring
const ringState = (x, steps, title) => {
  const p = 4, parts = [text(x + 118, 36, title, { size: 22, at: 'middle', bold: true })];
  for (let rank = 0; rank < p; rank += 1) for (let chunk = 0; chunk < p; chunk += 1) {
    // After s steps rank r has received chunks r - 1, r - 2, ..., each with one term more than the one before.
    const age = (((rank - 1 - chunk) % p) + p) % p; // received in step age
    const terms = age < steps && age < p - 1 ? age + 2 : 1;
    parts.push(box(x + 46 + chunk * 48, 56 + rank * 62, 44, 50, String(terms), terms === p ? 'a' : terms > 1 ? 'g' : 'p', { size: 22 }));
  }
  return parts;
};
write('ring_steps', 1200, 400, 'Reduce-scatter around a ring of four ranks: the number of terms in each chunk', [
  ['start', 'step 1', 'step 2', 'step 3'].map((title, i) => ringState(70 + i * 280, i, title)), range(4).map(r => text(20, 90 + r * 62, `rank ${r}`, { size: 20, style: 'q' })),
  range(3).map(i => arrow(308 + i * 280, 176, 384 + i * 280, 176, 'sq')),
  text(116, 346, 'Numbers: terms in the chunk. Each rank sends one chunk right, and adds to the one from the left.', { size: 22 }),
  text(116, 380, 'After 3 steps every rank has one complete chunk; 3 more steps hand them on.', { size: 22, style: 'q' })]);

// ---- 06: three ways, by size; alpha 5 us, beta 365 GB/s, 8 ranks
write('collective_costs', 1200, 470, 'Time of an all-reduce on 8 ranks by the alpha-beta model', (() => {
  const p = 8, alpha = 5e-6, beta = 365e9, L = 110, R = 960, T = 16, B = 400, X = [1e4, 4e9], Y = [2e-5, 2e-1], logs = Math.ceil(Math.log2(p));
  const x = v => L + (R - L) * Math.log(v / X[0]) / Math.log(X[1] / X[0]), y = v => B - (B - T) * Math.log(v / Y[0]) / Math.log(Y[1] / Y[0]);
  const ways = [['all to one', v => 2 * (p - 1) * (alpha + v / beta), 'sw', 'w'], ['a tree', v => 2 * logs * (alpha + v / beta), 'sg', 'g'], ['a ring', v => 2 * (p - 1) * (alpha + v / (p * beta)), 'sa', 'a']];
  const sizes = range(81).map(i => X[0] * (X[1] / X[0]) ** (i / 80));
  const cross = alpha * beta * (p - 1 - logs) / (logs - (p - 1) / p);
  return [[['10 us', 1e-5], ['100 us', 1e-4], ['1 ms', 1e-3], ['10 ms', 1e-2], ['100 ms', 1e-1]].filter(([, v]) => v >= Y[0]).map(([name, v]) => [line(L, y(v), R, y(v), 'sr', 1), text(L - 12, y(v) + 7, name, { size: 20, style: 'q', at: 'end' })]),
    [['64 KB', 64e3], ['1 MB', 1e6], ['16 MB', 16e6], ['256 MB', 256e6], ['4 GB', 4e9]].map(([name, v]) => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, name, { size: 20, style: 'q', at: 'middle' })]),
    ways.map(([, f, style]) => path(sizes.map((v, i) => `${i ? 'L' : 'M'}${x(v).toFixed(1)} ${y(f(v)).toFixed(1)}`).join(''), style, 4)),
    ways.map(([name, f, , fill]) => text(R + 16, y(f(X[1])) + 8, name, { size: 23, style: fill, bold: true })),
    line(x(cross), y(Y[0]), x(cross), y(2 * logs * (alpha + cross / beta)), 'sq', 2, 'stroke-dasharray="6 6"'), text(x(cross) + 10, B - 14, `ring beats tree from ${(cross / 1e6).toFixed(1)} MB`, { size: 21 }),
    text(R, B + 60, 'bytes of each rank', { size: 20, style: 'q', at: 'end' })];
})());

// ---- 06: two levels
write('two_levels', 1200, 440, 'Reduce inside the node first, then between nodes', [
  [0, 1].map(k => [frame(20 + k * 610, 60, 550, 150, 'sr', 'stroke-width="2" rx="8"'), text(36 + k * 610, 48, `node ${k}`, { size: 22, style: 'q' }),
    range(4).map(i => box(44 + k * 610 + i * 130, 96, 112, 70, `GPU ${k * 4 + i}`, 'p', { size: 20 })), range(3).map(i => line(156 + k * 610 + i * 130, 131, 174 + k * 610 + i * 130, 131, 'sa', 6)),
    text(44 + k * 610, 196, 'NVLink: 365 GB/s', { size: 20, style: 'a' })]),
  range(4).map(i => path(`M${100 + i * 130} 210C${100 + i * 130} ${280 + i * 8} ${710 + i * 130} ${280 + i * 8} ${710 + i * 130} 214`, 'sw', 3)), text(540, 320, '48 GB/s for each adapter', { size: 22, style: 'w', at: 'middle' }),
  text(20, 380, '1. reduce-scatter inside', { size: 25, style: 'a', bold: true }), text(400, 380, '2. all-reduce of a part between', { size: 25, style: 'w', bold: true }), text(850, 380, '3. all-gather inside', { size: 25, style: 'a', bold: true }),
  text(20, 422, 'All adapters work at once, each with a part of the bytes.', { size: 22, style: 'q' })]);

// ---- 07: buckets
write('buckets', 1200, 400, 'All-reduce after backward, and in buckets beside it', [
  text(20, 30, 'after backward', { size: 26, bold: true }),
  lane(48, 'compute', [[0, 2, 'forward', 'p'], [2, 6.4, 'backward', 'a']]), lane(104, 'transfers', [[6.4, 9, 'all-reduce', 'w']]),
  text(20, 230, 'in buckets', { size: 26, bold: true }),
  lane(248, 'compute', [[0, 2, 'forward', 'p'], [2, 2.8, 'head', 'a'], [2.8, 3.8, 'block 3', 'a'], [3.8, 4.8, 'block 2', 'a'], [4.8, 5.8, 'block 1', 'a'], [5.8, 6.4, 'rest', 'a']]),
  lane(304, 'transfers', [[3.8, 4.5, '3', 'g'], [4.8, 5.5, '2', 'g'], [5.8, 6.5, '1', 'g'], [6.5, 7.1, 'last', 'w']]),
  line(830, 240, 830, 370, 'sw', 2, 'stroke-dasharray="6 6"'), text(916, 336, 'only the last is exposed', { size: 20, style: 'w' })]);

// ---- 07: bytes that each rank keeps
write('zero', 1200, 360, 'Bytes for each weight that a rank keeps, with eight ranks', [
  [['nothing divided', 4, 4, 8], ['ZeRO 1: moments divided', 4, 4, 1], ['ZeRO 2: and gradients', 4, 0.5, 1], ['ZeRO 3: and weights', 0.5, 0.5, 1]].map(([name, a, b, c], i) => {
    const s = 37, x = 440, y = 60 + i * 74;
    return [text(420, y + 32, name, { size: 23, at: 'end' }), rect(x, y, a * s, 46, 'a'), rect(x + a * s, y, b * s, 46, 'g'), rect(x + (a + b) * s, y, c * s, 46, 'w'), text(x + (a + b + c) * s + 14, y + 32, `${a + b + c} bytes`, { size: 24, bold: true })];
  }),
  text(440, 40, 'weights', { size: 22, style: 'a', bold: true }), text(560, 40, 'gradients', { size: 22, style: 'g', bold: true }), text(700, 40, 'moments of Adam', { size: 22, style: 'w', bold: true })]);

// ---- 08: schedules, a column is the time of a forward; `3` forward of micro-batch 3, `3-` its backward, `.` idle
function schedule(name, title, rows, column, height) {
  const top = 14;
  write(name, 1200, rows.length * height + top + 6, title, rows.map((row, rank) => {
    const parts = [text(10, top + rank * height + height * 0.62, `rank ${rank}`, { size: 20, style: 'q' })];
    for (let i = 0, at = 0; i < row.length; i += 1) {
      if (row[i] === '.') { parts.push(rect(100 + at * column, top + rank * height, column - 2, height - 8, 'p', 'fill-opacity=".35"')); at += 1; continue; }
      const back = row[i + 1] === '-', second = /[a-z]/.test(row[i]);
      const label = second ? 'abcdefgh'.indexOf(row[i]) : row[i];
      parts.push(box(100 + at * column, top + rank * height, (back ? 2 : 1) * column - 2, height - 8, label, back ? 'w' : 'a', { size: Math.min(22, column * 0.9), more: second ? 'fill-opacity=".6"' : '' }));
      at += back ? 2 : 1;
      if (back) i += 1;
    }
    return parts;
  }));
}
schedule('gpipe', 'GPipe with 4 ranks and 8 micro-batches', ['01234567.........0-1-2-3-4-5-6-7-', '.01234567......0-1-2-3-4-5-6-7-..', '..01234567...0-1-2-3-4-5-6-7-....', '...012345670-1-2-3-4-5-6-7-......'], 33, 84);
schedule('one_f_one_b', '1F1B with 4 ranks and 8 micro-batches', ['0123......0-41-52-63-74-.5-.6-.7-', '.012....0-31-42-53-64-75-.6-.7-..', '..01..0-21-32-43-54-65-76-.7-....', '...00-11-22-33-44-55-66-77-......'], 33, 84);
schedule('interleaved', 'Interleaved 1F1B with 4 ranks, 8 micro-batches and 2 chunks', ['0123abcd456...a-7b-.ec-fd-g0-h1-2-.3-.e-.f-.g-.h-4-5-6-7-', '.0123abcd4..a-5b-6c-7d-e0-f1-g2-h3-.e-.f-.g-.h-4-5-6-7-..', '..0123abc.a-db-4c-5d-60-71-e2-f3-ge-hf-.g-.h-4-5-6-7-....', '...0123aa-bb-cc-dd-40-51-62-73-ee-ff-gg-hh-4-5-6-7-......'], 19, 84);
schedule('one_batch', 'One batch on four ranks', ['0..........0-', '.0.......0-..', '..0....0-....', '...00-.......'].map(r => r.padEnd(r.length, '.')), 78, 78);

// ---- 08: activations in flight
write('in_flight', 1200, 330, 'Activations in flight on each rank, in stages', [
  [['GPipe', [8, 8, 8, 8], 'w'], ['1F1B', [4, 3, 2, 1], 'a'], ['interleaved, 2 chunks', [5.5, 4.5, 3.5, 2.5], 'g']].map(([name, counts, style], k) => [text(20 + k * 400, 34, name, { size: 25, bold: true, style }),
    counts.map((count, r) => [rect(20 + k * 400 + r * 86, 280 - count * 25, 70, count * 25, style), text(55 + k * 400 + r * 86, 272 - count * 25, count, { size: 22, at: 'middle', bold: true }), text(55 + k * 400 + r * 86, 308, `rank ${r}`, { size: 19, style: 'q', at: 'middle' })])])]);

// ---- 09: columns, then rows
write('column_row', 1200, 470, 'Two ranks: the first layer is cut by columns, the second by rows, with one sum at the end', [
  [0, 1].map(k => { const y = 60 + k * 210, style = k ? 'w' : 'a';
    return [text(16, y + 82, `rank ${k}`, { size: 22, style: 'q' }), box(110, y + 20, 90, 120, 'x', 'p', { size: 28 }), arrow(204, y + 80, 246, y + 80, 'sq'),
      box(252, y, 80, 160, `A${k + 1}`, style, { size: 26 }), text(292, y - 12, 'columns', { size: 19, style: 'q', at: 'middle' }), arrow(336, y + 80, 386, y + 80, 'sq'), box(392, y + 40, 120, 80, 'gelu', 'p'), arrow(516, y + 80, 560, y + 80, 'sq'),
      box(566, y + 40, 170, 80, `B${k + 1}`, style, { size: 26 }), text(650, y + 28, 'rows', { size: 19, style: 'q', at: 'middle' }), arrow(740, y + 80, 786, y + 80, 'sq'), box(792, y + 20, 90, 120, 'summand', style, { size: 18 }), arrow(886, y + 80, 960, y + (k ? -4 : 164), 'sg')]; }),
  box(964, 190, 100, 90, '+', 'g', { size: 40 }), text(1014, 176, 'all-reduce', { size: 22, style: 'g', at: 'middle', bold: true }), arrow(1068, 235, 1110, 235, 'sg'), box(1116, 175, 74, 120, 'y', 'p', { size: 28 })]);

// ---- 09: sequence parallelism
write('sequence', 1200, 360, 'The all-reduce in two halves, with the rows divided among ranks between them', [
  [['norm', 'p', 'N / t rows'], ['all-gather', 'g', ''], ['A, gelu, B', 'a', 'N rows, C / t columns'], ['reduce-scatter', 'g', ''], ['+ b, dropout, + x', 'p', 'N / t rows']].map(([name, style, what], i) => [
    box(16 + i * 240, 120, 200, 90, name, style, { size: 22 }), i < 4 ? arrow(218 + i * 240, 165, 252 + i * 240, 165, 'sq') : '', text(116 + i * 240, 250, what, { size: 20, style: 'q', at: 'middle' })]),
  text(16, 60, 'the bytes of an all-reduce, and a t-th of the activations outside of the products', { size: 25 }), text(16, 320, 'rows are independent in norm, bias, dropout and residual: each rank does its own', { size: 22, style: 'q' })]);

// ---- 10: formats
write('formats', 1200, 470, 'Sign, exponent and fraction of six formats', [['fp32', 8, 23, '3.4e38', '2^-23'], ['tf32', 8, 10, '3.4e38', '2^-10'], ['bf16', 8, 7, '3.4e38', '2^-7'], ['fp16', 5, 10, '65504', '2^-10'], ['e4m3', 4, 3, '448', '2^-3'], ['e5m2', 5, 2, '57344', '2^-2']].map(([name, e, f, most, epsilon], i) => {
  const y = 56 + i * 68, w = 21;
  return [text(20, y + 32, name, { size: 26, bold: true, mono: true }), [...range(1 + e + f)].map(b => rect(130 + b * w, y, w - 3, 46, b === 0 ? 'q' : b <= e ? 'w' : 'a')), text(940, y + 32, most, { size: 24, at: 'end' }), text(1180, y + 32, epsilon, { size: 24, at: 'end' })];
}).concat([text(130, 36, 'sign', { size: 20, style: 'q' }), text(190, 36, 'exponent: range', { size: 20, style: 'w', bold: true }), text(470, 36, 'fraction: precision', { size: 20, style: 'a', bold: true }), text(940, 36, 'largest', { size: 20, style: 'q', at: 'end' }), text(1180, 36, 'next after 1', { size: 20, style: 'q', at: 'end' })]));

// ---- 10: a sum of ones
const round = (v, bits) => { if (v === 0) return 0; const unit = 2 ** (Math.floor(Math.log2(v)) - bits), q = v / unit, low = Math.floor(q), rest = q - low; return (rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low) * unit; };
write('swamping', 1200, 430, 'A sum of ones in bf16 stops at 256', (() => {
  const L = 90, R = 900, T = 16, B = 380, n = 640, x = i => L + (R - L) * i / n, y = v => B - (B - T) * v / n;
  let sum = 0;
  const chain = range(n + 1).map(i => { if (i) sum = round(sum + 1, 7); return `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(sum).toFixed(1)}`; });
  return [[0, 256, 512].map(v => [line(L, y(v), R, y(v), 'sr', 1), text(L - 12, y(v) + 7, v, { size: 20, style: 'q', at: 'end' }), text(x(v), B + 28, v, { size: 20, style: 'q', at: 'middle' })]),
    path(`M${x(0)} ${y(0)}L${x(n)} ${y(n)}`, 'sa', 4), path(chain.join(''), 'sw', 5), text(R + 16, y(n) + 12, 'added in fp32', { size: 24, style: 'a', bold: true }), text(R + 16, y(sum) + 8, 'added in bf16', { size: 24, style: 'w', bold: true }),
    text(x(275), y(256) + 36, '256 + 1 = 257: a tie, and 256 is the even one', { size: 22 }), text(R, B + 46, 'ones added', { size: 20, style: 'q', at: 'end' })];
})());

// ---- 10: loss scaling; shares from labs/10_mixed_precision/README.md (a small GPT after 40 steps, mean over 64 tokens)
write('loss_scale', 1200, 440, 'Gradients lie at the low end of the range of fp16; a scale moves them', (() => {
  const L = 40, R = 1160, T = 60, B = 300, X = [-34, 18], x = e => L + (R - L) * (e - X[0]) / (X[1] - X[0]);
  const shares = [[-22, 0.64], [-18, 8.22], [-14, 20.91], [-10, 65.08], [-6, 4.84]]; // middle of four powers of two, percent
  const bars = (shift, style, opacity) => shares.map(([e, share]) => rect(x(e + shift - 2) + 2, B - share * 3.2, x(4) - x(0) - 4, share * 3.2, style, `fill-opacity="${opacity}"`));
  return [rect(x(-14), T, x(16) - x(-14), B - T, 'a', 'fill-opacity=".16"'), rect(x(-24), T, x(-14) - x(-24), B - T, 'w', 'fill-opacity=".16"'),
    text(x(1), T - 14, 'fp16: all 11 bits', { size: 22, style: 'a', at: 'middle' }), text(x(-19), T - 14, 'fewer bits', { size: 22, style: 'w', at: 'middle' }), text(x(-29), T - 14, '0', { size: 22, style: 'q', at: 'middle' }),
    bars(-13, 'w', 1), bars(3, 'a', 1), arrow(x(-21), 374, x(-7), 374, 'st', 4), text(x(-14), 410, 'times 2^16', { size: 24, at: 'middle', bold: true }),
    text(x(-22), 380, 'a mean over 2^19 tokens', { size: 21, style: 'w', at: 'end' }), text(x(-6), 380, 'the same, scaled', { size: 21, style: 'a' }), line(L, B, R, B, 'sq', 2),
    [-30, -24, -14, 0, 15].map(e => text(x(e), B + 32, `2^${e}`, { size: 20, style: 'q', at: 'middle' })), [-30, -24, -14, 0, 15].map(e => line(x(e), B, x(e), B + 8, 'sq', 2))];
})());

// ---- 11: three ways at once
write('three_d', 1200, 470, '64 GPUs: 8-way tensor parallel in a node, 4 pipeline stages, 2 replicas', [
  [0, 1].map(d => [text(20, 40 + d * 222, `replica ${d}`, { size: 24, bold: true, style: 'g' }), range(4).map(s => {
    const x = 20 + s * 296, y = 56 + d * 222;
    return [frame(x, y, 262, 150, 'sr', 'stroke-width="2" rx="8"'), text(x + 12, y + 32, `stage ${s}: layers ${s * 20}-${s * 20 + 19}`, { size: 19, style: 'q' }), range(8).map(g => rect(x + 12 + g * 30.5, y + 52, 26, 56, 'a')), line(x + 12, y + 122, x + 250, y + 122, 'sa', 5), s < 3 ? arrow(x + 264, y + 75, x + 292, y + 75, 'sw', 4) : ''];
  })]),
  line(150, 212, 150, 276, 'sg', 4), line(446, 212, 446, 276, 'sg', 4), line(742, 212, 742, 276, 'sg', 4), line(1038, 212, 1038, 276, 'sg', 4),
  text(20, 462, 'tensor parallel: in a node', { size: 21, style: 'a', bold: true }), text(400, 462, 'pipeline: between nodes', { size: 21, style: 'w', bold: true }), text(760, 462, 'data parallel: over all, once a step', { size: 21, style: 'g', bold: true })]);
