// Figures of lab 19: halves of a vector, two trees, times of three all-reduces, and the hops of a token.
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, frame, line, path, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// The part that each of four ranks is responsible for, after each step of the reduce-scatter.
const STEPS = [['at the start', () => [0, 4]], ['distance 1', r => (r & 1 ? [2, 4] : [0, 2])], ['distance 2', r => { const a = r & 1 ? 2 : 0; return r & 2 ? [a + 1, a + 2] : [a, a + 1]; }]];
here.draw('halving', 720, 400, 'Recursive halving on four ranks',
  'At the start each rank has all four quarters. After the exchange at distance 1 even ranks have the lower half and odd ranks the upper one, each the sum of two ranks. After distance 2 each rank has one quarter, the sum of all four: rank 0 the first, rank 2 the second, rank 1 the third, rank 3 the fourth.', [
    range(4).map(r => text(246 + r * 124, 34, `rank ${r}`, { at: 'middle', bold: true })),
    STEPS.map(([name, part], s) => { const y = 58 + s * 106; return [text(16, y + 36, name), text(16, y + 64, ['', '2 ranks added', '4 ranks added'][s], { style: 'q', size: 20 }),
      range(4).map(r => { const [from, to] = part(r), x = 198 + r * 124; return [frame(x, y, 96, 66, 'sq', 'rx="4"'), rect(x + from * 24, y, (to - from) * 24, 66, ['p', 'g', 'a'][s], 'rx="4"')]; }),
      s ? (s === 1 ? [[0, 1], [2, 3]] : [[0, 2], [1, 3]]).map(([a, b], i) => { const u = y - 20 + (s === 2 ? i * 10 : 0); return line(246 + a * 124, u, 246 + b * 124, u, s === 1 ? 'sg' : 'sa', 4); }) : []]; }),
    text(16, 386, 'the all-gather takes the same steps backwards', { style: 'q', size: 20 })]);

// Two trees of eight ranks. Subtrees have their root at an odd offset, and ranks are positions, or positions less one.
const build = (first, end, parent, edges, depth = 0, level = []) => {
  if (first >= end) return level;
  const count = end - first, root = first + (count === 1 ? 0 : (count >> 1) | 1);
  level[root] = depth;
  if (parent >= 0) edges.push([parent, root]);
  build(first, root, root, edges, depth + 1, level);
  build(root + 1, end, root, edges, depth + 1, level);
  return level;
};
const tree = (top, shift, style, name) => { const edges = [], level = build(0, 8, -1, edges), x = i => 60 + i * 82, y = i => top + 46 + level[i] * 62, inner = new Set(edges.map(e => e[0]));
  return [text(16, top + 10, name, { bold: true }), edges.map(([a, b]) => line(x(a) + 22, y(a) + 20, x(b) + 22, y(b) + 20, `s${style}`, 3)),
    range(8).map(i => box(x(i), y(i), 44, 40, (i + 8 - shift) % 8, inner.has(i) ? style : 'p'))]; };
here.draw('two_trees', 720, 650, 'Two binary trees over eight ranks',
  'In the first tree ranks 1, 3, 5 and 7 have children, and 0, 2, 4 and 6 are leaves. In the second one ranks 0, 2, 4 and 6 have children, and 1, 3, 5 and 7 are leaves.', [
    tree(22, 0, 'a', 'first half of the vector'), tree(322, 1, 'g', 'second half: positions moved by one rank'),
    text(16, 636, 'filled: has children', { style: 'q', size: 20 })]);

// Times of 96 ranks with alpha 10 us and beta 48 GB/s, both axes logarithmic.
const P = 96, A = 10e-6, B = 48e9, Q = 64, H = 7;
const ring = n => 2 * (P - 1) * (A + n / (P * B));
const halving = n => 2 * 6 * A + 2 * (Q - 1) / Q * n / B + 2 * (A + n / B);
const trees = n => { let best = Infinity; for (let k = 1; ; k += 1) { const t = 4 * (H + k - 1) * (A + n / (2 * k * B)); if (t >= best) return best; best = t; } };
const L = 92, R = 690, T = 24, D = 380, X = [1e4, 1e9], Y = [1e-4, 0.1];
const px = n => L + (R - L) * Math.log(n / X[0]) / Math.log(X[1] / X[0]), py = t => D - (D - T) * Math.log(t / Y[0]) / Math.log(Y[1] / Y[0]);
const curve = (f, style) => path('M' + range(61).map(i => { const n = X[0] * (X[1] / X[0]) ** (i / 60); return `${px(n).toFixed(1)} ${py(f(n)).toFixed(1)}`; }).join('L'), style, 4);
here.draw('costs', 720, 486, 'Time of three all-reduces on 96 ranks',
  'Ring: 1.9 ms at small sizes, twice that at 46 MB. Halving and doubling: 0.14 ms at small sizes, slower than two trees above 28 MB and than the ring above 42 MB. Two trees: 0.28 ms at small sizes, slower than the ring above 66 MB.', [
    [[1e4, '10 KB'], [1e6, '1 MB'], [1e8, '100 MB']].map(([v, s]) => [line(px(v), T, px(v), D, 'sr', 1), text(px(v), D + 28, s, { style: 'q', size: 20, at: v === 1e4 ? 'start' : 'middle' })]),
    [[1e-4, '0.1 ms'], [1e-3, '1 ms'], [1e-2, '10 ms'], [1e-1, '100 ms']].map(([v, s]) => [line(L, py(v), R, py(v), 'sr', 1), text(L - 6, py(v) + 7, s, { style: 'q', size: 20, at: 'end' })]),
    curve(ring, 'sw'), curve(halving, 'sa'), curve(trees, 'sg'),
    [['w', 'ring'], ['a', 'halving and doubling'], ['g', 'two trees']].map(([style, what], i) => [rect([16, 120, 408][i], 440, 26, 26, style), text([50, 154, 442][i], 460, what, { size: 20 })])]);

// A token of rank 1 with experts on ranks 4, 6 and 7.
const nodes = y => range(2).map(n => [frame(16 + n * 366, y, 322, 70, 'sq', 'rx="4"'), range(4).map(i => box(34 + n * 366 + i * 76, y + 12, 58, 46, n * 4 + i, n * 4 + i === 1 ? 'a' : [4, 6, 7].includes(n * 4 + i) ? 'g' : 'p'))]);
const at = r => 63 + (r >> 2) * 366 + (r & 3) * 76;
const bow = (a, b, y, depth, style) => path(`M${at(a)} ${y}C${at(a)} ${y + depth} ${at(b)} ${y + depth} ${at(b)} ${y + 6}`, style, 4, `marker-end="url(#${style.slice(1)})"`);
here.draw('hops', 720, 470, 'A token to three experts in another node, sent flat and sent once',
  'Flat: rank 1 sends the token to ranks 4, 6 and 7, and three copies cross the nodes. In two hops: rank 1 sends it once, to rank 5 at its own place in the other node, which hands it on to 4, 6 and 7 over NVLink.', [
    text(16, 34, 'flat: three copies cross the nodes', { bold: true }), nodes(50), [4, 6, 7].map((b, i) => bow(1, b, 122, 60 + i * 34, 'sw')),
    text(16, 272, 'two hops: one copy crosses', { bold: true }), nodes(288), bow(1, 5, 360, 84, 'sa'), [4, 6, 7].map((b, i) => bow(5, b, 360, 40 + i * 12, 'sg')),
    text(16, 462, 'blue: the sender; green: ranks with an expert', { style: 'q', size: 20 })]);

// Eight flows over the eight uplinks of a leaf, by a hash and by choice.
const flows = (y, name, to, says) => { const load = range(8).map(u => to.filter(t => t === u).length);
  return [text(16, y, name, { bold: true }), text(704, y, says, { at: 'end', style: 'q', size: 20 }),
    range(8).map(i => box(24 + i * 86, y + 128, 66, 42, `flow ${i}`, 'p', { size: 20 })), to.map((u, i) => line(57 + i * 86, y + 128, 57 + u * 86, y + 62, load[u] > 1 ? 'sw' : 'sa', 4)),
    load.map((n, u) => box(24 + u * 86, y + 20, 66, 42, n, n > 1 ? 'w' : n ? 'a' : 'p'))]; };
here.draw('collisions', 720, 430, 'Eight flows over eight uplinks, by a hash and by choice',
  'By a hash, the uplinks 0 to 7 carry 1, 0, 3, 0, 1, 2, 0 and 1 flows: three flows on one link take three times as long. By choice, each carries one.', [
    flows(34, 'by a hash (ECMP)', [2, 5, 0, 2, 7, 4, 2, 5], 'three times as long'), flows(244, 'by choice', [0, 1, 2, 3, 4, 5, 6, 7], 'each link has one')]);

// Ways to cut a GPU into instances: seven compute slices above eight memory slices.
const CUTS = [[['1g', 1, 1, 0], ['1g', 1, 1, 1], ['1g', 1, 1, 2], ['1g', 1, 1, 3], ['1g', 1, 1, 4], ['1g', 1, 1, 5], ['1g', 1, 1, 6]], [['4g', 4, 4, 0], ['3g', 3, 4, 4]], [['3g', 3, 4, 0], ['2g', 2, 2, 4], ['1g', 1, 1, 6]]];
here.draw('slices', 720, 470, 'Three ways to cut a GPU into instances',
  'Seven 1g instances use seven compute and seven of eight memory slices. 4g and 3g use all. 3g, 2g and 1g use six compute and seven memory slices.', [
    CUTS.map((cut, k) => { const y = 20 + k * 150; let used = 0;
      return [text(16, y + 34, 'compute', { size: 20, style: 'q' }), text(16, y + 88, 'memory', { size: 20, style: 'q' }),
        range(7).map(i => frame(124 + i * 82, y, 80, 50, 'sq')), range(8).map(i => frame(124 + i * 71.75, y + 56, 69.75, 50, 'sq')),
        cut.map(([name, c, m, start], i) => { const at = used; used += c; const style = ['a', 'g', 'w'][i % 3];
          return [box(124 + at * 82, y, c * 82 - 2, 50, name, style), rect(124 + start * 71.75, y + 56, m * 71.75 - 2, 50, style)]; })]; })]);
