// Figures of lab 03: lanes that give each other numbers, and tiles that look back.
import { album } from '../../../figures/kit/album.mjs';
import { calibrated, climb, climbed, slope } from '../../../figures/kit/charts.mjs';
import { arrow, box, frame, grid, line, path, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

here.draw('butterfly', 720, 470, 'Three steps of a butterfly give eight lanes the sum of all',
  'In the first step lane k adds the number of lane k xor 4, then of k xor 2, then of k xor 1. Each step doubles the terms that a lane has seen: 1, 2, 4, 8. A warp takes five steps, since 32 is 2 to the power of 5.', (() => {
    const x = c => 134 + c * 78, y = r => 30 + r * 118, parts = [];
    for (let step = 0; step < 3; step += 1) for (let c = 0; c < 8; c += 1) {
      parts.push(line(x(c), y(step) + 20, x(c), y(step + 1) - 22, 'sr', 3), arrow(x(c), y(step) + 20, x(c ^ (4 >> step)), y(step + 1) - 24, 'sa', 2.5));
    }
    parts.push(grid(8, 4, (c, r) => box(x(c) - 34, y(r) - 20, 68, 40, r ? `${2 ** r}` : `x${c}`, r === 3 ? 'a' : 'p', { size: 22 })));
    parts.push([4, 2, 1].map((d, i) => text(6, y(i) + 66, `xor ${d}`, { size: 22, bold: true, style: 'a', mono: true })));
    parts.push(text(100, 440, 'numbers: terms that a lane has added; at the end all', { size: 20, style: 'q' }));
    return parts;
  })());

here.draw('divergence', 720, 350, 'The threads of two warps that work in the first step of a tree',
  'With t % 2 == 0 every second thread works, so both warps stay busy at half their width. If the lower half of the threads works, one warp is fully busy and the other has nothing to execute.', [
    [['t % 2 == 0', t => t % 2 === 0, 'both warps busy, half of each idle', 'w'], ['t < 32', t => t < 32, 'one warp works, one is done', 'a']].map(([name, works, what, style], i) => {
      const y = 16 + i * 170;
      return [text(16, y + 22, name, { mono: true, bold: true }), text(704, y + 22, what, { style, at: 'end' }),
        range(2).map(w => [text(16, y + 67 + w * 48, `warp ${w}`, { style: 'q', size: 20 }), range(32).map(k => rect(110 + k * 18.5, y + 44 + w * 48, 16, 32, works(w * 32 + k) ? style : 'p')), frame(106, y + 40 + w * 48, 598, 40, 'sq', 'stroke-width="2"')])];
    })]);

here.draw('look_back', 720, 420, 'A tile looks back over the sums of earlier tiles until it meets a prefix',
  'Tiles 40 to 42 have published their prefix, tiles 43 to 46 only their own sum. Tile 47 adds the four sums and the prefix of tile 42. A warp looks at 32 tiles in one trip to the L2 cache.', [
    text(16, 34, 'a tile publishes its own sum at once,', { size: 24 }), text(16, 68, 'and its prefix when it knows it', { size: 24 }),
    range(8).map(i => { const style = i < 3 ? 'a' : i < 7 ? 'w' : 'g'; return [text(54 + i * 88, 124, i + 40, { style: 'q', size: 20, at: 'middle' }), box(14 + i * 88, 136, 80, 60, i < 3 ? 'prefix' : i < 7 ? 'sum' : 'looks', style, { size: 20 })]; }),
    range(5).map(k => { const to = 54 + (6 - k) * 88, high = 250 + k * 16; return path(`M670 200C670 ${high} ${to} ${high} ${to} 204`, 'sg', 2.5, 'marker-end="url(#g)"'); }),
    text(16, 330, 'one tile after the other:', {}), text(704, 330, 'a trip to L2 for each tile', { style: 'w', at: 'end' }),
    text(16, 370, '32 lanes look at once:', {}), text(704, 370, 'one trip for 32 tiles', { style: 'g', at: 'end' })]);

// A warp's scan, on 8 lanes: at distance d lane k adds what lane k - d had.
here.draw('warp_scan', 720, 440, 'Three steps of a scan over eight lanes with __shfl_up_sync',
  'The lanes hold 3 1 4 1 5 9 2 6. In steps of distance 1, 2 and 4 each lane adds the number of the lane that far below it, if there is one. At the end lane k holds the sum of lanes 0 to k: 3 4 8 9 14 23 25 31.', (() => {
    const x = c => 134 + c * 78, y = r => 30 + r * 114, rows = [[3, 1, 4, 1, 5, 9, 2, 6]];
    for (const d of [1, 2, 4]) rows.push(rows.at(-1).map((v, k) => v + (k >= d ? rows.at(-1)[k - d] : 0)));
    return [[1, 2, 4].map((d, r) => [text(6, y(r) + 64, `up ${d}`, { bold: true, style: 'a', mono: true }), range(8).map(c => [line(x(c), y(r) + 20, x(c), y(r + 1) - 22, 'sr', 3), c >= d ? arrow(x(c - d), y(r) + 20, x(c), y(r + 1) - 24, 'sa', 2.5) : ''])]),
      rows.map((row, r) => row.map((v, c) => box(x(c) - 34, y(r) - 20, 68, 40, v, r === 3 ? 'a' : r && c < [0, 1, 2, 4][r] ? 'g' : 'p', { size: 22 }))),
      text(100, 426, 'green: no lane that far below, so nothing is added', { size: 20, style: 'q' })];
  })());

// Compaction: a ballot is a scan of bits.
here.draw('ballot', 720, 330, 'A ballot gives each lane the place of its element',
  'Of eight lanes, those with 5, 2, 7 and 1 keep their element. The ballot is one bit a lane; the number of bits below a lane is the place where its element goes.', (() => {
    const values = [5, -3, 2, -1, -8, 7, 1, -4], x = c => 126 + c * 72, place = c => values.slice(0, c).filter(v => v > 0).length;
    return [text(8, 48, 'element'), text(8, 118, 'ballot'), text(8, 188, 'bits below', {}), text(8, 286, 'out'),
      values.map((v, c) => [box(x(c), 22, 64, 40, v, v > 0 ? 'a' : 'p'), box(x(c), 92, 64, 40, v > 0 ? 1 : 0, v > 0 ? 'a' : 'p'), v > 0 ? box(x(c), 162, 64, 40, place(c), 'g') : text(x(c) + 32, 190, '-', { at: 'middle', style: 'q' }),
        v > 0 ? [arrow(x(c) + 32, 206, x(place(c)) + 32, 256, 'sg'), box(x(place(c)), 260, 64, 40, v, 'a')] : ''])];
  })());

climb(here, 'climb_reduce', '03_warp_shuffle', 'reduce', 'CUB');
climb(here, 'climb_scan', '03_warp_shuffle', 'scan', 'CUB');

const TB = v => `${(v / 1e12).toFixed(2)} TB/s`;
{
  const roofs = calibrated('h200'), reduce = climbed('03_warp_shuffle', 'reduce'), scan = climbed('03_warp_shuffle', 'scan'), last = list => list.length - 1;
  const steps = ({ bytes }) => bytes.map(b => (b / 1e12).toFixed(2)).join(', ');
  slope(here, 'roofline_sums', 'Roofline of an H200 with the climbs of reduce and scan',
    `An addition for each element: reduce does ${reduce.at.toFixed(2)} operations a byte and scan ${scan.at.toFixed(3)}, both far left of the ridge. The steps of reduce move ${steps(reduce)} TB/s, those of scan ${steps(scan)}.`, {
      roof: [roofs.read, `reads: ${TB(roofs.read)}`], peak: [roofs.fp32, `fp32 units: ${(roofs.fp32 / 1e12).toFixed(1)}`], X: [0.05, 30], Y: [5e9, 2e14], axis: 'operations a byte of memory', named: false,
      groups: [{ ...scan, labels: [[last(scan.rates), `scan: ${TB(scan.bytes.at(-1))}`, 40], [1, `scan, a chain: ${TB(scan.bytes[1])}`, -12]] },
        { ...reduce, labels: [[last(reduce.rates), `reduce: ${TB(reduce.bytes.at(-1))}`, 12], [1, `a tree: ${TB(reduce.bytes[1])}`, 14], [0, `first step: ${TB(reduce.bytes[0])}`, 16]] }] });
}
