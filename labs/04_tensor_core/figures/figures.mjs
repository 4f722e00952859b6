// Figures of lab 04: fast units, and what feeds them.
import { album } from '../../../figures/kit/album.mjs';
import { calibrated, climb, roofline } from '../../../figures/kit/charts.mjs';
import { sectors } from '../../../figures/kit/warp.mjs';
import { arrow, box, grid, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

const roofs = calibrated('h200'), [FP32, BF16] = [roofs.fp32, roofs.bf16].map(peak => Math.round(peak / roofs.copy));
here.draw('two_speeds', 720, 380, 'fp32 units and tensor cores of one multiprocessor',
  `In one cycle the fp32 units of a multiprocessor do 128 multiply-adds, its tensor cores 2048 in bf16. At their measured speeds fp32 needs ${FP32} operations for each byte of memory, bf16 ${BF16}.`, [
    text(16, 32, 'multiply-adds in one cycle of one multiprocessor', { style: 'q' }),
    text(16, 88, 'fp32 units', { bold: true, style: 'w' }), rect(16, 102, 43, 40, 'w'), text(72, 131, '128', { size: 24, bold: true }),
    text(16, 190, 'tensor cores, bf16', { bold: true, style: 'a' }), rect(16, 204, 688, 40, 'a'), text(692, 233, '2048', { size: 24, style: 'o', at: 'end', bold: true }),
    text(16, 300, 'operations for each byte of memory, as measured', { style: 'q' }),
    text(16, 346, `fp32: ${FP32}`, { size: 26, bold: true, style: 'w' }), text(260, 346, `bf16: ${BF16}`, { size: 26, bold: true, style: 'a' })]);

// Bytes that must arrive for 989 TFLOP/s, by the tile that is computed together.
const REUSE = [['16 x 16, a warp', 8, 124], ['64 x 64, a block', 32, 31], ['128 x 128, a block', 64, 15], ['128 x 256, a block', 85, 12], ['256 x 256, two blocks', 128, 7.7]];
here.draw('reuse', 720, 470, 'Larger tiles need fewer bytes',
  `For each step of k a tile of T x T reads 2 T numbers and does T times T multiply-adds. Bytes needed at 989 TFLOP/s: ${REUSE.map(([what,, need]) => `${need} TB/s for ${what}`).join('; ')}. HBM delivers 4.8 TB/s.`, [
    text(16, 30, 'TB/s that must arrive at 989 TFLOP/s', { style: 'q' }),
    REUSE.map(([what, ops, need], i) => [text(16, 76 + i * 74, what), text(704, 76 + i * 74, `${ops} operations a byte`, { at: 'end', style: 'q', size: 20 }), rect(16, 86 + i * 74, need * 4.9, 30, i === 3 ? 'a' : 'w'), text(16 + need * 4.9 + 12, 109 + i * 74, need, { size: 22, bold: true })]),
    REUSE.map((each, i) => rect(16 + 4.8 * 4.9, 82 + i * 74, 3, 38, 't')), text(16, 458, 'HBM delivers 4.8 (line); L2 must serve the rest', { size: 20 })]);

here.draw('swizzle', 720, 690, 'Pieces of 16 bytes in eight rows: in order and swizzled',
  'In order, piece 2 of all eight rows lies in the same four banks: 8 wavefronts. With piece c of row r at place c xor r it lies in eight different groups of banks: 1 wavefront.', [
    [0, 1].map(k => { const y = k * 345; return [text(16, y + 30, k ? 'piece c of row r lies at c xor r' : 'piece c lies at place c', { size: 24, bold: true, style: k ? 'a' : 'w' }),
      range(8).map(c => text(86 + c * 54 + 26, y + 64, c * 4, { size: 20, style: 'q', at: 'middle' })),
      grid(8, 8, (c, r) => { const piece = k ? c ^ r : c; return box(86 + c * 54, y + 74 + r * 30, 52, 28, piece, piece === 2 ? (k ? 'a' : 'w') : 'p', { size: 20 }); }),
      range(8).map(r => text(70, y + 95 + r * 30, r, { size: 20, style: 'q', at: 'end' })), text(16, y + 64, 'bank', { size: 20, style: 'q' }),
      text(540, y + 150, 'piece 2:', {}), text(540, y + 184, k ? 'eight groups' : 'one group', {}), text(540, y + 218, k ? '1 wavefront' : '8 wavefronts', { bold: true, style: k ? 'a' : 'w' })]; })]);

here.draw('warp_roles', 720, 560, 'One warp loads into a ring of four stages, two warpgroups multiply',
  'A producer waits until a stage is empty, announces its bytes and asks TMA for both tiles. Two warpgroups wait until a stage is full, multiply 64 rows each, and arrive at its empty barrier.', [
    box(16, 16, 400, 60, 'one thread: TMA loads', 'w'), text(436, 42, 'waits for "empty",', { style: 'w' }), text(436, 72, 'asks for 48 KiB', { style: 'w' }),
    range(4).map(i => [box(16 + i * 174, 190, 160, 70, `stage ${i}`, i < 3 ? 'a' : 'p', { size: 24 })]), arrow(216, 78, 612, 184, 'sw'),
    text(16, 172, 'three stages are full, one is on its way', { style: 'q' }),
    arrow(96, 262, 160, 376, 'sg'), arrow(96, 262, 520, 376, 'sg'), text(16, 310, 'wait', { style: 'g' }), text(16, 338, 'for "full"', { style: 'g' }),
    box(16, 382, 330, 60, 'warpgroup 0: rows 0-63', 'g'), box(374, 382, 330, 60, 'warpgroup 1: rows 64-127', 'g'),
    text(704, 330, 'then arrive at "empty"', { style: 'g', at: 'end' }),
    text(16, 496, 'a step of 64 of k lasts 1024 cycles, about as long', { style: 'q' }), text(16, 528, 'as a load from memory takes to arrive', { style: 'q' })]);

const widest = name => here.record(name).filter(r => r.op === 'global_ld').sort((a, b) => b.sectors - a.sectors)[0];
here.draw('warp_loads', 720, 430, 'A load of b by a warp of the stub and of the solution',
  'Recorded on the emulator. In the stub each lane reads 2 bytes of another row of b: 32 sectors, 64 bytes used. In the solution each lane copies 16 neighbouring bytes: 16 sectors, all used.', () => [
    sectors(0, 'stub: 2 bytes of 32 rows', widest('warp_stub'), 'w'), sectors(216, 'solution: 16 bytes a lane', widest('warp_solution'))]);

climb(here, 'climb_wmma', '04_tensor_core', 'wmma_gemm', 'cuBLASLt');
climb(here, 'climb_gemm', '04_tensor_core', 'gemm', 'cuBLASLt');
roofline(here, 'roofline_gemm', '04_tensor_core', 'gemm', 'bf16');
