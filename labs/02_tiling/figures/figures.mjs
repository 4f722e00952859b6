// Figures of lab 02: tiles, halos, and what is used again.
import { album } from '../../../figures/kit/album.mjs';
import { climb, lane, roofline } from '../../../figures/kit/charts.mjs';
import { arrow, dashed, frame, grid, line, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

const TILES = [[8, 2.25], [16, 1.56], [32, 1.27], [64, 1.13]];
here.draw('halo', 720, 520, 'A tile of 8 x 8 cells, the halo of two cells around it, and one 5 x 5 neighbourhood',
  `One result reads 5 x 5 cells, so a tile needs two more cells on each side. Loads for a result: ${TILES.map(([t, r]) => `${r} with ${t} x ${t}`).join(', ')}.`, [
    grid(12, 12, (c, r) => rect(16 + c * 24, 14 + r * 24, 22, 22, c > 1 && c < 10 && r > 1 && r < 10 ? 'a' : 'w', 'fill-opacity=".75"')),
    frame(16 + 7 * 24 - 1, 14 + 24 - 1, 5 * 24, 5 * 24, 'st', 'stroke-width="4"'), rect(16 + 9 * 24, 14 + 3 * 24, 22, 22, 't'),
    text(330, 60, 'tile: 8 x 8 results', { size: 24, bold: true, style: 'a' }), text(330, 110, 'halo: 2 cells on each side', { size: 24, bold: true, style: 'w' }),
    text(330, 160, 'one result reads 5 x 5 cells', { size: 24 }), text(330, 230, 'loads for a result, by tile:', { style: 'q' }),
    TILES.map(([tile, ratio], i) => [text(130, 350 + i * 44, `${tile} x ${tile}`, { at: 'end' }), rect(146, 326 + i * 44, 190, 32, 'a'), rect(336, 326 + i * 44, (ratio - 1) * 190, 32, 'w'),
      text(640, 350 + i * 44, ratio.toFixed(2), { size: 24, at: 'end', bold: true })])]);

const WALKS = [['1 cell', '5 x 5', 25], ['4 of a column', '8 x 5', 10], ['8 of a column', '12 x 5', 7.5], ['4 x 8, float4', '12 x 3 float4', 4.5]];
here.draw('column_walk', 720, 560, 'A thread computes eight cells of a column: 12 rows of 5 cells serve all of them',
  `Reads of shared memory for a result: ${WALKS.map(([what,, reads]) => `${reads} for ${what}`).join(', ')}.`, [
    grid(9, 12, (c, r) => rect(16 + c * 25, 10 + r * 25, 23, 23, c > 1 && c < 7 ? 'w' : 'p', 'fill-opacity=".8"')),
    range(8).map(r => rect(16 + 4 * 25, 10 + (r + 2) * 25, 23, 23, 'a')), arrow(262, 16, 262, 300, 'st', 4),
    text(300, 60, '8 results of one column', { size: 24, bold: true, style: 'a' }), text(300, 108, '12 rows of 5 cells are read', { size: 24, bold: true, style: 'w' }),
    text(300, 156, 'a row serves up to 5 results', { size: 24 }), text(300, 204, 'while it passes', { size: 24 }),
    text(16, 352, 'a thread computes', { style: 'q', size: 20 }), text(230, 352, 'and reads', { style: 'q', size: 20 }), text(704, 352, 'reads for a result', { style: 'q', size: 20, at: 'end' }),
    WALKS.map(([a, b, c], i) => [text(16, 396 + i * 46, a), text(230, 396 + i * 46, b, { style: 'q' }), rect(400, 372 + i * 46, c * 9, 32, 'w'), text(704, 397 + i * 46, c, { size: 24, bold: true, at: 'end' })])]);

// Task 3: thread (x, y) of 16 x 16 has two groups of 4 rows and two of 4 columns, each 64 apart. Its warp is that of
// thread rows 4 and 5.
const CELL = 270 / 128, GROUPS = [[0, 0], [0, 1], [1, 0], [1, 1]], X = 3, Y = 5;
here.draw('sgemm_threads', 720, 640, 'A block of 16 x 16 threads has a tile of C, a thread 8 x 8 of it in four groups of 4 x 4',
  `The block computes 128 x 128 of C from a strip of A and a strip of B. Thread (${X}, ${Y}) has rows ${4 * Y} to ${4 * Y + 3} and ${64 + 4 * Y} to ${67 + 4 * Y}, and columns ${4 * X} to ${4 * X + 3} and ${64 + 4 * X} to ${67 + 4 * X}. Its warp has 16 rows and all columns.`, [
    rect(190, 160, 170, 170, 'p'), rect(190, 16, 170, 120, 'p'), rect(50, 160, 116, 170, 'p'),
    rect(246, 216, 58, 58, 'a'), rect(246, 16, 58, 120, 'w', 'fill-opacity=".35"'), rect(50, 216, 116, 58, 'w', 'fill-opacity=".35"'), rect(246, 70, 58, 14, 'w'), rect(106, 216, 14, 58, 'w'),
    text(18, 252, 'A', { size: 28, bold: true }), text(372, 44, 'B', { size: 28, bold: true }), text(372, 322, 'C', { size: 28, bold: true }),
    arrow(56, 296, 160, 296, 'sw'), arrow(232, 24, 232, 130, 'sw'), text(104, 322, 'k', { style: 'w', at: 'middle' }), text(214, 84, 'k', { style: 'w', at: 'middle' }),
    dashed(304, 216, 440, 130), dashed(304, 274, 440, 400),
    rect(440, 130, 260, 270, 'a', 'fill-opacity=".4"'), [0, 1].map(g => rect(440, 130 + (64 * g + 4 * (Y - Y % 2)) * CELL, 260, 8 * CELL, 'a')), frame(440, 130, 260, 270, 'sa', 'stroke-width="2"'),
    text(440, 112, 'block: 128 x 128', { bold: true, style: 'a' }), text(440, 430, 'a warp: 16 rows', { bold: true, style: 'a' }),
    GROUPS.map(([r, c]) => [2.5, 0].map((edge, i) => rect(440 + (64 * c + 4 * X) * 260 / 128 - edge, 130 + (64 * r + 4 * Y) * CELL - edge, 4 * 260 / 128 + 2 * edge, 4 * CELL + 2 * edge, i ? 'g' : 'page'))),
    GROUPS.map(([r, c]) => grid(4, 4, (j, i) => rect(60 + (c * 5 + j) * 22, 420 + (r * 5 + i) * 22, 19, 19, 'g'))),
    dashed(440 + 4 * X * 260 / 128, 130 + (4 * Y + 4) * CELL, 60, 414, 'sg'), dashed(440 + (68 + 4 * X) * 260 / 128, 130 + (4 * Y + 4) * CELL, 276, 414, 'sg'),
    text(300, 486, 'a thread: 8 x 8, as', { bold: true, style: 'g' }), text(300, 516, 'four groups of 4 x 4', { bold: true, style: 'g' }), text(300, 550, 'that are 64 apart', { style: 'g' }), text(300, 584, '64 multiply-adds for 16 numbers', { style: 'q', size: 20 })]);

here.draw('sgemm_tiles', 720, 640, 'A block has a tile of C in shared memory, a warp a part of it, a thread 8 x 8 in registers',
  'The block computes 128 x 128 of C from a strip of A and a strip of B, a warp 32 x 64 of it, a thread 8 x 8 in its registers.', [
    rect(190, 160, 170, 170, 'p'), rect(190, 16, 170, 120, 'p'), rect(50, 160, 116, 170, 'p'),
    rect(246, 216, 58, 58, 'a'), rect(246, 16, 58, 120, 'w', 'fill-opacity=".35"'), rect(50, 216, 116, 58, 'w', 'fill-opacity=".35"'), rect(246, 70, 58, 14, 'w'), rect(106, 216, 14, 58, 'w'),
    text(18, 252, 'A', { size: 28, bold: true }), text(372, 44, 'B', { size: 28, bold: true }), text(372, 322, 'C', { size: 28, bold: true }),
    arrow(56, 296, 160, 296, 'sw'), arrow(232, 24, 232, 130, 'sw'), text(104, 322, 'k', { style: 'w', at: 'middle' }), text(214, 84, 'k', { style: 'w', at: 'middle' }),
    dashed(304, 216, 440, 130), dashed(304, 274, 440, 400),
    rect(440, 130, 260, 270, 'a', 'fill-opacity=".4"'), grid(2, 4, (c, r) => frame(440 + c * 130, 130 + r * 67.5, 130, 67.5, 'sa', 'stroke-width="2"')), rect(440, 197.5, 130, 67.5, 'a'),
    text(440, 112, 'block: 128 x 128', { bold: true, style: 'a' }), text(450, 430, 'a warp: 32 x 64', { bold: true, style: 'a' }),
    rect(440, 197.5, 17, 17, 'g'), dashed(440, 214.5, 60, 420, 'sg'), dashed(457, 214.5, 236, 420, 'sg'),
    grid(8, 8, (c, r) => rect(60 + c * 22, 420 + r * 22, 19, 19, 'g')), text(260, 500, 'a thread: 8 x 8', { bold: true, style: 'g' }), text(260, 534, '64 multiply-adds', { style: 'q' }), text(260, 568, 'for 16 numbers read', { style: 'q' }), text(260, 610, 'A and B: a strip a step, along k', { style: 'w', size: 20 })]);

// A load and a multiplication take a unit of time each.
const strips = (first, step, style) => range(4).map(i => [first + i * step, first + i * step + 1, i, style]), UNIT = 70;
here.draw('two_buffers', 720, 420, 'With one buffer loading and multiplying take turns, with two they overlap',
  'One buffer: four strips take 8 units of time, since each load waits for the multiplication before it. Two buffers: 5 units, since the next strip arrives during the multiplication.', [
    text(16, 30, 'one buffer, two barriers a step', { size: 24, bold: true }), lane(48, 'load', strips(0, 2, 'w'), { scale: UNIT }), lane(100, 'multiply', strips(1, 2, 'a'), { scale: UNIT }),
    text(16, 220, 'two buffers, one barrier a step', { size: 24, bold: true }), lane(238, 'load', strips(0, 1, 'w'), { scale: UNIT }), lane(290, 'multiply', strips(1, 1, 'a'), { scale: UNIT }),
    line(130 + 5 * UNIT, 230, 130 + 5 * UNIT, 352, 'sg', 3), text(130 + 5 * UNIT + 12, 300, '5 units in place', { size: 22, bold: true, style: 'g' }), text(130 + 5 * UNIT + 12, 328, 'of 8', { size: 22, bold: true, style: 'g' }),
    text(130, 392, 'a number is a strip of A and B along k', { style: 'q', size: 20 })]);

climb(here, 'climb_stencil', '02_tiling', 'stencil', 'cudaMemcpy');
climb(here, 'climb_sgemm', '02_tiling', 'sgemm', 'cuBLAS');
roofline(here, 'roofline_sgemm', '02_tiling', 'sgemm', 'fp32');
