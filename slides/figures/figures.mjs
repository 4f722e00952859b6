// Figures of the opening and the closing deck. Those of the labs lie in labs/NN_name/figures/.
import { album, json } from '../../figures/kit/album.mjs';
import { arrow, box, frame, grid, line, path, range, rect, text } from '../../figures/kit/svg.mjs';

const { draw } = album(import.meta.url);
const L2 = `${json('benchmarks/h200/calibration.json').l2_bytes / 2 ** 20} MB`;

// ---- 00: one node, and one GPU of it
draw('machine', 1200, 480, 'A node with eight GPUs, and the inside of one GPU',
  'Eight GPUs behind a switch, two CPUs and the adapters; one H200 with 132 multiprocessors, its L2 cache and its memory.', [
  frame(10, 40, 640, 420, 'sr', 'stroke-width="2" rx="8"'), text(26, 74, 'one node', { size: 24, bold: true }),
  range(8).map(i => box(30 + (i % 4) * 152, i < 4 ? 96 : 300, 140, 64, `GPU ${i}`, i === 1 ? 'a' : 'p')),
  box(30, 206, 596, 48, 'NVSwitch: each GPU 450 GB/s each way', 'w'),
  range(8).map(i => line(100 + (i % 4) * 152, i < 4 ? 160 : 254, 100 + (i % 4) * 152, i < 4 ? 206 : 300, 'sw', 4)),
  box(30, 392, 290, 50, 'two CPUs, PCIe 5'), box(336, 392, 290, 50, 'adapters of 400 Gb/s'),
  line(322, 128, 700, 80, 'sa', 2, 'stroke-dasharray="6 6"'), line(322, 158, 700, 440, 'sa', 2, 'stroke-dasharray="6 6"'),
  frame(700, 40, 490, 420, 'sa', 'stroke-width="3" rx="8"'), text(718, 74, 'one H200', { size: 24, bold: true }),
  grid(22, 6, (c, r) => rect(720 + c * 20.6, 96 + r * 22, 17, 18, 'p')), text(720, 252, '132 multiprocessors (SM), each:', { size: 21 }),
  text(720, 282, '128 fp32 units, 4 tensor cores, 256 KiB of', { style: 'q', size: 19 }), text(720, 308, 'registers, 227 KiB of shared memory', { style: 'q', size: 19 }),
  box(720, 328, 450, 44, `L2 cache: ${L2}`, 'a'), box(720, 386, 450, 56, 'HBM3e: 141 GB at 4.8 TB/s', 'w')]);

// ---- 00: the ten labs, by what they keep busy
const LABS = [['a warp', [['01', 'coalescing'], ['03', 'warp shuffle']]], ['a GPU', [['02', 'tiling'], ['04', 'tensor cores'], ['10', 'mixed precision']]],
  ['the queue', [['05', 'streams, graphs']]], ['the links', [['06', 'ring all-reduce'], ['09', 'tensor parallel']]], ['the cluster', [['07', 'data parallel'], ['08', 'pipeline']]]];
draw('course_map', 1200, 400, 'The ten labs, by what they keep busy',
  'Labs 01 and 03: a warp; 02, 04 and 10: a GPU; 05: the queue; 06 and 09: the links; 07 and 08: the cluster.', LABS.map(([what, labs], i) => [
  text(15 + i * 238 + 112, 36, what, { size: 26, at: 'middle', bold: true, style: i < 3 ? 'a' : 'w' }), line(15 + i * 238, 54, 15 + i * 238 + 224, 54, i < 3 ? 'sa' : 'sw', 4),
  labs.map(([number, name], k) => [rect(15 + i * 238, 76 + k * 106, 224, 92, 'p', 'rx="6"'), text(15 + i * 238 + 14, 112 + k * 106, number, { size: 26, bold: true, style: i < 3 ? 'a' : 'w' }),
    text(15 + i * 238 + 14, 148 + k * 106, name, { size: 22 })])]));

// ---- the roofline of the course: the reference solutions on the measured roofs
{
  const ceilings = Object.fromEntries(json('benchmarks/h200/calibration.json').ceilings.map(c => [c.id, c.value]));
  const X = [0.05, 8000], Y = [5e10, 2e15], L = 110, R = 1180, T = 20, B = 440;
  const x = v => L + (R - L) * Math.log(v / X[0]) / Math.log(X[1] / X[0]);
  const y = v => B - (B - T) * Math.log(v / Y[0]) / Math.log(Y[1] / Y[0]);
  const roof = (rate, style) => path(`M${x(X[0])} ${y(X[0] * ceilings.copy)}L${x(rate / ceilings.copy)} ${y(rate)}L${R} ${y(rate)}`, style, 4);
  const points = [['03_warp_shuffle', 'reduce', 'reduce'], ['02_tiling', 'stencil', 'stencil'], ['02_tiling', 'sgemm', 'sgemm'],
    ['04_tensor_core', 'wmma_gemm', 'wmma'], ['04_tensor_core', 'gemm', 'gemm']].map(([lab, task, name]) => {
    const { timing, timings = [timing] } = json(`benchmarks/h200/${lab}.json`).tasks.find(t => t.id === task);
    const t = timings.at(1) ?? timings[0];
    return { name, intensity: t.operations / t.bytes, rate: t.operations / t.slope_s };
  });
  const ridge32 = ceilings.fp32 / ceilings.copy, ridge16 = ceilings.bf16 / ceilings.copy;
  const grid = [0.1, 1, 10, 100, 1000].map(v => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, v, { style: 'q', size: 20, at: 'middle' })]);
  const rows = [[1e11, '0.1'], [1e12, '1'], [1e13, '10'], [1e14, '100'], [1e15, '1000']].map(([v, name]) => [line(L, y(v), R, y(v), 'sr', 1), text(L - 10, y(v) + 7, name, { style: 'q', size: 20, at: 'end' })]);
  draw('roofline_course', 1200, 500, 'Roofline of an H200 with the solutions of labs 02 to 04',
    'Roofs of the measured copy bandwidth, of the fp32 units and of the tensor cores; reduce and stencil lie at the memory roof, sgemm, wmma and gemm below the roofs of arithmetic.', [grid, rows,
    roof(ceilings.bf16, 'sa'), roof(ceilings.fp32, 'sw'),
    text(x(0.075), y(0.45e12), `copy: ${(ceilings.copy / 1e12).toFixed(2)} TB/s`, { size: 22, more: `transform="rotate(-24 ${x(0.075)} ${y(0.45e12)})"` }),
    text(x(0.9), y(ceilings.bf16) - 6, `tensor cores, bf16: ${Math.round(ceilings.bf16 / 1e12)} TFLOP/s`, { style: 'a', size: 22 }),
    text(x(0.9), y(ceilings.fp32) - 10, `fp32 units: ${Math.round(ceilings.fp32 / 1e12)} TFLOP/s`, { style: 'w', size: 22 }),
    line(x(ridge32), y(ceilings.fp32), x(ridge32), B, 'sw', 2, 'stroke-dasharray="6 6"'), text(x(ridge32) + 8, B - 10, `ridge ${ridge32.toFixed(0)}`, { style: 'w', size: 20 }),
    line(x(ridge16), y(ceilings.bf16), x(ridge16), B, 'sa', 2, 'stroke-dasharray="6 6"'), text(x(ridge16) + 8, B - 10, `ridge ${ridge16.toFixed(0)}`, { style: 'a', size: 20 }),
    points.map(p => [`<circle class="t" cx="${x(p.intensity).toFixed(1)}" cy="${y(p.rate).toFixed(1)}" r="8"/>`,
      text(x(p.intensity) + 14, y(p.rate) + 22, p.name, { size: 22, bold: true })]),
    text(R, B + 54, 'operations for each byte of memory', { style: 'q', size: 20, at: 'end' }), text(L, B + 54, 'TFLOP/s', { style: 'q', size: 20, at: 'end' })]);
}

// ---- the bandwidth of each level of one GPU
{
  const ceilings = Object.fromEntries(json('benchmarks/h200/calibration.json').ceilings.map(c => [c.id, c.value]));
  // Registers: three operands of 4 bytes for 128 multiply-adds in each of 132 multiprocessors at 1.98 GHz. Links: as in
  // benchmarks/collectives/README.md (stores to another GPU) and labs/06_ring_allreduce/README.md (an adapter of 400 Gb/s).
  const levels = [['registers', '33 MB', 132 * 128 * 12 * 1.98e9, 'by arithmetic', 'a'], ['shared memory', '30 MB', ceilings.shared, 'measured', 'a'], ['L2 cache', L2, ceilings.l2, 'measured', 'a'],
    ['device memory', '141 GB', ceilings.copy, 'measured', 'a'], ['another GPU', '8 in a node', 389e9, 'measured', 'w'], ['the host', 'PCIe 5', ceilings.h2d, 'measured', 'w'], ['another node', '400 Gb/s', 50e9, 'data sheet', 'w']];
  const left = 430, right = 890, pitch = 64, x = v => left + (right - left) * Math.log10(v / 1e10) / Math.log10(4.1e14 / 1e10);
  const name = v => (v >= 1e13 ? `${Math.round(v / 1e12)} TB/s` : v >= 1e12 ? `${(v / 1e12).toFixed(1)} TB/s` : `${Math.round(v / 1e9)} GB/s`);
  draw('hierarchy', 1200, 470, 'Bandwidth of each level of an H200',
    `From the nearest to the farthest: ${levels.map(([what,, rate]) => `${what} ${name(rate)}`).join(', ')}.`, levels.map(([what, size, rate, how, style], i) => [
    text(250, 34 + i * pitch, what, { size: 25, at: 'end', bold: true }), text(410, 34 + i * pitch, size, { style: 'q', size: 21, at: 'end' }),
    rect(left, 8 + i * pitch, x(rate) - left, 38, style), text(x(rate) + 14, 35 + i * pitch, name(rate), { size: 25, bold: true }), text(1190, 34 + i * pitch, how, { style: 'q', size: 19, at: 'end' })]));
}

// ---- 11: three ways at once
draw('three_d', 1200, 470, '64 GPUs: 8-way tensor parallel in a node, 4 pipeline stages, 2 replicas',
  'Two replicas of four nodes with eight GPUs each. Tensor parallelism stays in a node, the pipeline runs between nodes, data parallelism over the replicas.', [
  [0, 1].map(d => [text(20, 40 + d * 222, `replica ${d}`, { size: 24, bold: true, style: 'g' }), range(4).map(s => {
    const x = 20 + s * 296, y = 56 + d * 222;
    return [frame(x, y, 262, 150, 'sr', 'stroke-width="2" rx="8"'), text(x + 12, y + 32, `stage ${s}: layers ${s * 20}-${s * 20 + 19}`, { size: 19, style: 'q' }), range(8).map(g => rect(x + 12 + g * 30.5, y + 52, 26, 56, 'a')), line(x + 12, y + 122, x + 250, y + 122, 'sa', 5), s < 3 ? arrow(x + 264, y + 75, x + 292, y + 75, 'sw', 4) : ''];
  })]),
  line(150, 212, 150, 276, 'sg', 4), line(446, 212, 446, 276, 'sg', 4), line(742, 212, 742, 276, 'sg', 4), line(1038, 212, 1038, 276, 'sg', 4),
  text(20, 462, 'tensor parallel: in a node', { size: 21, style: 'a', bold: true }), text(400, 462, 'pipeline: between nodes', { size: 21, style: 'w', bold: true }), text(760, 462, 'data parallel: over all, once a step', { size: 21, style: 'g', bold: true })]);
