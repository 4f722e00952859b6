// Figures of lab 13: what is sharded, and what is in memory when.
import { album } from '../../../figures/kit/album.mjs';
import { lane } from '../../../figures/kit/charts.mjs';
import { arrow, box, line, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// Bytes a weight in bf16 on eight ranks: weights 2, gradients 4, optimizer 12.
const P = 8, KINDS = [['weights', 2, 3, 'a'], ['gradients', 4, 2, 'g'], ['optimizer', 12, 1, 'w']];
const bytes = stage => KINDS.map(([, size, from]) => (stage >= from ? size / P : size));
const sum = values => values.reduce((all, x) => all + x, 0);
here.draw('stages', 720, 420, 'Bytes a weight in the four stages of ZeRO',
  `bf16, eight ranks. ${range(4).map(s => `Stage ${s}: ${sum(bytes(s))}`).join('; ')}.`, [
    KINDS.map(([name, , , style], i) => [rect(16 + i * 200, 14, 26, 26, style), text(50 + i * 200, 35, name)]),
    range(4).map(stage => { const y = 70 + stage * 86; let x = 110;
      return [text(16, y + 36, `stage ${stage}`, { size: 22 }), bytes(stage).map((b, i) => { const w = b * 28; x += w; return rect(x - w, y, Math.max(1, w - 2), 54, KINDS[i][3]); }),
        text(x + 12, y + 36, `${sum(bytes(stage))}`, { bold: true, size: 24 })]; }),
    text(16, 412, 'bytes a weight on each rank', { style: 'q', size: 20 })]);

// Units of 20, 24 and 24 elements, four ranks; rank 1 owns the second part of each.
const UNITS = [['unit 0', 200], ['unit 1', 240], ['unit 2', 240]];
let at = 16;
const places = UNITS.map(([name, wide]) => { const x = at; at += wide + 4; return { name, x, wide }; });
let own = 250;
here.draw('parts', 720, 330, 'Own parts of the units', 'Each unit is cut into four parts. Rank 1 owns the second part of each; its own buffer holds them one after another.', [
  places.map(({ name, x, wide }) => [text(x, 32, name, { size: 22 }), range(4).map(r => box(x + r * wide / 4, 46, wide / 4 - 2, 56, r, r === 1 ? 'a' : 'p'))]),
  places.map(({ x, wide }) => { const from = x + wide / 4 + wide / 8, to = own + wide / 8, piece = rect(own, 216, wide / 4 - 2, 56, 'a'); own += wide / 4; return [arrow(from, 104, to, 212, 'sa'), piece]; }),
  text(16, 250, 'own buffer of rank 1'), text(16, 316, 'numbers are ranks', { style: 'q', size: 20 })]);

// What the three buffers of weights hold; a block that was gathered in this column is new.
const L = 5, columns = [...range(L).map(i => ['F', i + 1]), ...range(L).map(i => ['B', L - i])];
const held = (k, b) => { const [way, u] = columns[k], inside = range(L).map(i => i + 1).filter(v => v % 3 === b && (way === 'F' ? (v >= u || v > L - 3) && v < u + 3 : v <= u && v > u - 3)); return inside[0]; };
here.draw('buffers', 720, 330, 'Three buffers for the weights of five blocks',
  `During each forward and backward: ${columns.map(([way, u], k) => `${way}${u}: ${range(3).map(b => held(k, b) ?? 'none').join(' ')}`).join('; ')}.`, [
    columns.map(([way, u], k) => text(140 + k * 57 + 25, 40, `${way}${u}`, { at: 'middle', style: 'q', size: 22 })),
    range(3).map(b => [text(16, 92 + b * 66, `buffer ${b}`), columns.map(([way, u], k) => {
      const v = held(k, b);
      return v === undefined ? rect(140 + k * 57, 60 + b * 66, 50, 52, 'p', 'fill-opacity=".4"') : box(140 + k * 57, 60 + b * 66, 50, 52, v, v === u ? 'a' : 'p'); })]),
    rect(16, 276, 26, 26, 'a'), text(52, 297, 'at work', { size: 20 }), rect(170, 276, 26, 26, 'p'), text(206, 297, 'here, or on its way', { size: 20 })]);

// zero2 with four blocks in virtual time: backward of a block 495 us; transfers of T = 128 and 83 us. Times in us from the head's end.
const T = 128, T0 = 83, BACK = 495, scale = 0.215, left = 150;
const back = range(4).map(i => [i * BACK, (i + 1) * BACK]);
const part = (y, from, to, what, style) => box(left + from * scale, y, (to - from) * scale - 2, 46, what, style, { size: 20 });
const end = 4 * BACK;
here.draw('overlap', 720, 300, 'Kernels and transfers of zero2',
  'Backward of blocks 4 to 1 takes 495 us each. Behind each a reduce-scatter and an all-gather of 128 us run beside the next block. Those of block 1 and of unit 0, 423 us, come after the kernels.', [
    text(16, 32, 'backward, then embedding', { size: 20, style: 'q' }),
    text(16, 80, 'kernels'), back.map(([a, b], i) => part(50, a, b, 4 - i, 'a')), text(16, 150, 'transfers'),
    back.map(([, b]) => [part(120, b, b + T, 'R', b >= end ? 'w' : 'g'), part(120, b + T, b + 2 * T, 'G', b >= end ? 'w' : 'g')]),
    part(120, end + 2 * T, end + 2 * T + T0, '', 'w'), part(120, end + 2 * T + T0, end + 2 * T + 2 * T0, '', 'w'),
    line(left + end * scale, 40, left + end * scale, 186, 'st', 2),
    rect(16, 206, 26, 26, 'g'), text(52, 227, 'hidden', { size: 20 }), rect(170, 206, 26, 26, 'w'), text(206, 227, 'exposed: block 1, then unit 0', { size: 20 }),
    text(16, 276, 'R: reduce-scatter   G: all-gather, 128 us each', { size: 20, style: 'q' })]);

here.draw('knapsack', 720, 330, 'The best for its bytes is not the best choice',
  'Room for kept blocks: 12 MiB. By time for each byte, the block of 7 MiB and 80 us is kept, and 5 MiB stay empty. Two blocks of 6 MiB save 120 us.', [
    lane(70, '', [[0, 7, '7 MiB, 80 us', 'w'], [7, 12, 'empty', 'p']], { scale: 45, left: 16, high: 60 }),
    text(16, 52, 'sorted by time for each byte'), text(575, 108, 'saves 80', { size: 22 }),
    lane(200, '', [[0, 6, '6 MiB, 60 us', 'a'], [6, 12, '6 MiB, 60 us', 'a']], { scale: 45, left: 16, high: 60 }),
    text(16, 182, 'the best'), text(575, 238, 'saves 120', { size: 22, bold: true }),
    text(16, 312, 'room for kept blocks: 12 MiB', { style: 'q', size: 20 })]);

// n = 11: two files of 6 and 5 elements, three parts of 4, the last with one of padding.
const cell = 50, x0 = 100;
here.draw('reshard', 720, 330, 'Two ranks saved, three ranks load', 'n = 11. File 0 has elements 0 to 5, file 1 elements 6 to 10. Rank 1 needs 4 to 7: two of each file. Rank 2 needs 8 to 10 and clears one element of padding.', [
  text(16, 72, 'files'), range(11).map(i => box(x0 + i * cell, 42, cell - 3, 48, i, i < 6 ? 'a' : 'g')),
  text(16, 222, 'ranks'), range(12).map(i => box(x0 + i * cell, 192, cell - 3, 48, i < 11 ? i : '0', i === 11 ? 'p' : i < 6 ? 'a' : 'g')),
  range(4).map(r => line(x0 + r * 4 * cell - 1.5, 176, x0 + r * 4 * cell - 1.5, 256, 'st', 3)),
  range(11).map(i => arrow(x0 + i * cell + 24, 92, x0 + i * cell + 24, 188, i < 6 ? 'sa' : 'sg', 2)),
  range(3).map(r => text(x0 + (r * 4 + 2) * cell, 284, `rank ${r}`, { at: 'middle', style: 'q' }))]);
