// Figures of lab 12: a softmax that comes in parts, and what it saves.
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, dashed, frame, grid, line, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// What 16 heads of T tokens need: four arrays of T x 128 in bf16, and the scores and weights of T x T beside them.
const LENGTHS = [2048, 8192, 32768];
const gib = bytes => bytes / 2 ** 30, apart = t => gib(16 * 2 * t * t * 2), fused = t => gib(16 * 4 * t * 128 * 2);
const show = x => (x < 1 ? `${Math.round(x * 1024)} MiB` : `${Math.round(x * 10) / 10} GiB`);
here.draw('memory', 720, 430, 'Memory of the scores, and of everything else',
  `16 heads of 128 columns in bf16. ${LENGTHS.map(t => `T = ${t}: q, k, v and o ${show(fused(t))}, scores and weights ${show(apart(t))}`).join('; ')}.`, [
    text(16, 32, '16 heads, d = 128, bf16', { style: 'q' }),
    LENGTHS.map((t, i) => { const y = 64 + i * 122, width = bytes => Math.max(3, Math.log2(1 + bytes * 32) * 44);
      return [text(16, y + 16, `T = ${t}`, { bold: true }),
        rect(16, y + 28, width(fused(t)), 26, 'a'), text(28 + width(fused(t)), y + 49, `q, k, v, o: ${show(fused(t))}`, { style: 'a' }),
        rect(16, y + 62, width(apart(t)), 26, 'w'), text(28 + width(apart(t)), y + 83, `S and P: ${show(apart(t))}`, { style: 'w' })]; }),
    text(16, 424, 'bars on a logarithmic scale', { style: 'q', size: 20 })]);

// One row, tile by tile: scores 1, 3 | 2, 5 | 4, 0. The numbers are computed here.
const TILES = [[1, 3], [2, 5], [4, 0]];
const states = [];
TILES.reduce((s, tile) => {
  const top = Math.max(s.top, ...tile), shrink = Math.exp(s.top - top), added = tile.reduce((sum, x) => sum + Math.exp(x - top), 0);
  states.push({ tile, top, shrink, sum: s.sum * shrink + added });
  return states.at(-1);
}, { top: -Infinity, sum: 0 });
const fixed = x => (Math.round(x * 1000) / 1000).toFixed(3);
here.draw('online', 720, 420, 'The sums of a row, tile by tile',
  `Scores 1 3, then 2 5, then 4 0. ${states.map(s => `Maximum ${s.top}, old sum times ${fixed(s.shrink)}, sum ${fixed(s.sum)}`).join('. ')}.`, [
    ['tile', 'maximum', 'old sums times', 'sum'].map((what, i) => text([90, 270, 450, 640][i], 36, what, { style: 'q', at: 'middle' })),
    states.map((s, i) => { const y = 60 + i * 100; return [
      s.tile.map((x, j) => box(40 + j * 52, y, 48, 56, x, x === s.top ? 'a' : 'p')), text(270, y + 37, s.top, { at: 'middle', size: 26, bold: true }),
      text(450, y + 37, i === 0 ? 'nothing yet' : fixed(s.shrink), { at: 'middle', style: s.shrink < 1 && i > 0 ? 'w' : 'q' }), text(640, y + 37, fixed(s.sum), { at: 'middle', size: 26, style: 'a', bold: true }),
      i < 2 ? arrow(640, y + 54, 640, y + 94, 'sa') : '']; }),
    text(16, 390, `lse = 5 + ln(${fixed(states[2].sum)}) = ${fixed(5 + Math.log(states[2].sum))}, in any order of the tiles`, {})]);

// Tiles of 128 queries and 64 keys, causal, 384 of each; beside them 256 queries that are the last of 384 keys.
const tiles = (x0, y0, queries, keys, cell) => {
  const offset = keys - queries, rows = queries / 128, columns = keys / 64;
  return [grid(columns, rows, (c, r) => {
    const last = r * 128 + 127 + offset, first = r * 128 + offset, none = c * 64 > last, whole = c * 64 + 63 <= first;
    return rect(x0 + c * cell, y0 + r * 2 * cell, cell - 3, 2 * cell - 3, none ? 'p' : whole ? 'a' : 'w');
  }), line(x0 + offset / 64 * cell, y0, x0 + columns * cell, y0 + rows * 2 * cell, 'st', 3)];
};
here.draw('causal', 720, 470, 'Tiles of a causal mask',
  'With 384 queries and 384 keys, 12 of 18 tiles of 128 x 64 hold a visible key, and 6 of these lie on the diagonal. With 256 queries the diagonal still ends in the bottom right corner: 10 of 12 tiles.', [
    text(16, 32, '384 queries, 384 keys', { bold: true }), tiles(16, 50, 384, 384, 50),
    text(380, 32, '256 queries, 384 keys', { bold: true }), tiles(380, 50, 256, 384, 50),
    rect(16, 376, 24, 24, 'a'), text(50, 396, 'all seen: no mask'), rect(16, 416, 24, 24, 'w'), text(50, 436, 'on the diagonal: masked'),
    rect(380, 376, 24, 24, 'p'), text(414, 396, 'no key seen: not loaded,'), text(414, 428, 'not multiplied'),
    text(380, 290, 'the last query sees all keys', { style: 'q' })]);

// Registers of mma.sync: the result's two fragments side by side are a left factor.
here.draw('fragments', 720, 470, 'A result of mma.sync is a left factor of the next',
  'Two results of 16 x 8 side by side. Lane 0 holds columns 0 and 1 of rows 0 and 8 in both. A left factor of 16 x 16 has the same places: two floats become one register of two bf16.', [
    text(16, 32, 'two results, fp32', { bold: true, style: 'w' }),
    range(2).map(n => [frame(16 + n * 172, 50, 164, 328, 'sw'), grid(8, 16, (c, r) => { const lane = r % 8 * 4 + (c >> 1); return lane === 0 ? rect(18 + n * 172 + c * 20, 52 + r * 20, 18, 18, 'w') : ''; })]),
    text(98, 410, 's[2 j]', { at: 'middle', mono: true }), text(270, 410, 's[2 j + 1]', { at: 'middle', mono: true }),
    arrow(352, 214, 392, 214, 'st'),
    text(400, 32, 'a left factor, bf16', { bold: true, style: 'a' }),
    frame(400, 50, 304, 328, 'sa'),
    range(4).map(i => box(402 + (i >> 1) * 152, 52 + i % 2 * 160, 40, 24, i, 'a', { size: 20 })),
    text(400, 410, 'p[0] ... p[3] of lane 0', { mono: true, size: 20 }),
    text(16, 456, 'no lane needs another lane\'s numbers', { style: 'q' })]);

// Backward: which tiles a block owns, and the products of each kernel.
here.draw('backward', 720, 470, 'Two kernels, each number written by one block',
  'One kernel has a tile of queries in each block: S, dP, dS k make dq. The other has a tile of keys in each block: S, dP, P transposed do, dS transposed q make dk and dv. Seven products in all.', [
    [['dq: a row of tiles', 'a', ['S = q k^T', 'dP = do v^T', 'dq = dS k']], ['dk, dv: a column of tiles', 'w', ['S^T = k q^T', 'dP^T = v do^T', 'dv = P^T do', 'dk = dS^T q']]].map(([name, style, products], k) => {
      const x = 16 + k * 364;
      return [text(x, 32, name, { bold: true, style }), grid(6, 4, (c, r) => rect(x + c * 48, 50 + r * 48, 45, 45, (k === 0 ? r === 1 : c === 2) ? style : 'p')),
        text(x + 144, 276, 'keys', { style: 'q', at: 'middle' }),
        products.map((p, i) => text(x, 318 + i * 34, p, { mono: true }))]; }),
    text(16, 462, 'seven products; five would share sums between blocks', { style: 'q' })]);

// Two consumers in turn.
const TURNS = [['0', 'g', 0], ['1', 'w', 1]];
here.draw('turns', 720, 330, 'Two consumers take turns',
  'While consumer 0 multiplies, consumer 1 has its softmax, and the other way round. The tensor cores are always busy with one of them.', [
    TURNS.map(([name, style, late]) => { const y = 60 + late * 90; return [text(16, y + 36, `consumer ${name}`, { style }),
      range(6).map(i => { const multiplies = (i + late) % 2 === 0; return i === 0 && late ? '' : box(170 + i * 90, y, 86, 56, multiplies ? 'products' : 'softmax', multiplies ? style : 'p', { size: 20 }); })]; }),
    text(16, 286, 'tensor cores', { style: 'q' }), range(6).map(i => rect(170 + i * 90, 250, 86, 50, i % 2 === 0 ? 'g' : 'w')),
    range(5).map(i => dashed(258 + i * 90, 44, 258 + i * 90, 310, 'sq', 1))]);
