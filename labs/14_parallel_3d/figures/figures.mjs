// Figures of lab 14: the grid of ranks, who counts what, where to cut it, levels of links, rails, and a simulated step.
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, frame, line, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// A cube of 2 x 2 x 2: tensor to the right, data downwards, pipeline to the back.
const at = r => { const t = r % 2, d = (r >> 1) % 2, p = r >> 2; return [90 + t * 190 + p * 250, 24 + d * 180 + p * 60]; };
const edges = { tensor: [[0, 1], [2, 3], [4, 5], [6, 7]], data: [[0, 2], [1, 3], [4, 6], [5, 7]], pipeline: [[0, 4], [1, 5], [2, 6], [3, 7]] };
const STYLE = { tensor: 'sa', data: 'sg', pipeline: 'sw' };
here.draw('grid', 720, 420, 'Eight ranks of a 2 x 2 x 2 grid',
  'Rank = (pipeline x 2 + data) x 2 + tensor. Tensor groups are 0 1, 2 3, 4 5 and 6 7; data groups 0 2, 1 3, 4 6 and 5 7; pipelines 0 4, 1 5, 2 6 and 3 7.', [
    ['pipeline', 'data', 'tensor'].map(kind => edges[kind].map(([a, b]) => { const [x1, y1] = at(a), [x2, y2] = at(b); return line(x1 + 26, y1 + 26, x2 + 26, y2 + 26, STYLE[kind], kind === 'tensor' ? 8 : 4); })),
    range(8).map(r => { const [x, y] = at(r); return box(x, y, 52, 52, r, 'p', { size: 24 }); }),
    [['tensor', 'a', 'in each layer'], ['data', 'g', 'once a step'], ['pipeline', 'w', 'for each micro-batch']].map(([name, style, what], i) => [
      rect(16 + i * 236, 354, 26, 26, style), text(50 + i * 236, 374, name, { bold: true }), text(16 + i * 236, 406, what, { style: 'q', size: 20 })])]);

// Two stages, two ranks of a tensor group in each: which tensors count in the norm.
const ROWS = [['cut matrices', [1, 1, 1, 1]], ['whole biases, norms', [1, 0, 1, 0]], ['token embedding', [1, 0, 0, 0]]];
here.draw('once', 720, 330, 'Each parameter counts once in the norm',
  'Two stages of two tensor-parallel ranks. All four count their parts of cut matrices. Of layer norms and biases behind a sum, which both ranks of a group have, the first rank counts its copy. The embedding is counted by the first rank of the first stage alone.', [
    range(4).map(r => text(306 + r * 102 + 46, 62, `rank ${r < 2 ? r : r + 2}`, { at: 'middle', size: 20 })),
    text(306 + 98, 30, 'first stage', { at: 'middle', style: 'q', size: 20 }), text(306 + 306, 30, 'last stage', { at: 'middle', style: 'q', size: 20 }),
    ROWS.map(([name, counts], i) => [text(16, 112 + i * 66, name), counts.map((yes, r) => box(306 + r * 102, 80 + i * 66, 92, 50, yes ? 'counts' : 'has it', yes ? 'a' : 'p', { size: 20 }))]),
    text(16, 312, 'replicas: the first one counts', { style: 'q', size: 20 })]);

// Three ways to cut the cube between two nodes of four.
const CUTS = [['through tensor groups', 'tensor', 5120, 'w'], ['between replicas', 'data', 768, 'g'], ['between stages', 'pipeline', 192, 'a']];
here.draw('cut', 720, 380, 'Three ways to cut the grid between two nodes',
  'Bytes that cross: 5120 MB through the tensor groups, 768 MB between the replicas, 192 MB between the stages.', CUTS.map(([name, kind, mega, style], k) => {
    const y = 30 + k * 118, wide = 380 * mega / 5120, nodes = [edges[kind].map(e => e[0]), edges[kind].map(e => e[1])];
    return [text(16, y + 22, name, { bold: true }), nodes.map((ranks, n) => [frame(316 + n * 202, y - 12, 186, 48, 'sq', 'rx="4"'), ranks.map((r, i) => text(340 + n * 202 + i * 46, y + 20, r, { at: 'middle' }))]),
      rect(16, y + 46, Math.max(4, wide), 30, style), text(28 + Math.max(4, wide), y + 69, `${mega} MB`, { bold: true })];
  }));

// Containers of three kinds of networks.
const tree = (x, name, top, middle) => [text(x, 34, name, { bold: true, size: 22 }),
  box(x, 60, 208, 40, top, 'w', { size: 20 }), range(2).map(i => [line(x + 104, 100, x + 52 + i * 104, 128, 'sw', 3), box(x + i * 106, 128, 102, 40, middle[i], 'g', { size: 20 })]),
  range(4).map(i => [line(x + 52 + (i >> 1) * 104, 168, x + 25 + i * 53, 196, 'sg', 3), rect(x + i * 53, 196, 49, 54, 'a', 'rx="4"')])];
here.draw('levels', 720, 370, 'Levels of three networks',
  'A fat tree: nodes below leaves, leaves below spines. A dragonfly: nodes in groups, and links between all groups. Rails: GPU i of each node is on switch i, and spines join the switches.', [
    tree(16, 'fat tree', 'spines', ['leaf', 'leaf']), tree(256, 'dragonfly', 'all groups', ['group', 'group']),
    text(496, 34, 'rails', { bold: true }), box(496, 60, 208, 40, 'spines', 'w', { size: 20 }),
    range(2).map(i => [line(600, 100, 548 + i * 104, 128, 'sw', 3), box(496 + i * 106, 128, 102, 40, `rail ${i}`, 'g', { size: 20 })]),
    range(2).map(n => [box(496 + n * 106, 196, 102, 54, '0    1', 'a', { size: 20 }), range(2).map(i => line(548 + i * 104, 168, 521 + n * 106 + i * 52, 196, 'sg', 3))]),
    [['a', 'level 0: within a node'], ['g', 'level 1'], ['w', 'level 2: the slowest']].map(([style, what], i) => [rect([16, 280, 410][i], 290, 26, 26, style), text([50, 314, 444][i], 310, what, { size: 20 })]),
    text(16, 352, 'on rails, the two ends of a transfer at level 1 have the same number', { style: 'q', size: 20 })]);

// A ring of eight ranks over two nodes of four, run forwards and with the second node reversed.
const ring = (y, name, second, says) => { const x = (n, i) => 150 + n * 290 + i * 66, order = [range(4), second];
  return [text(16, y + 30, name, { size: 20 }), order.map((ranks, n) => ranks.map((r, i) => box(x(n, i), y, 54, 46, r, n ? 'g' : 'a')))
    , [[3, 4], [7, 0]].map(([a, b]) => { const i = order[a >> 2].indexOf(a), k = order[b >> 2].indexOf(b), from = x(a >> 2, i) + 27, to = x(b >> 2, k) + 27, down = a === 3 ? 52 : 66;
      return [line(from, y + 48, from, y + 48 + down, i === k ? 'sa' : 'sw', 4), line(from, y + 48 + down, to, y + 48 + down, i === k ? 'sa' : 'sw', 4), arrow(to, y + 48 + down, to, y + 50, i === k ? 'sa' : 'sw', 4)]; }),
    text(150, y + 144, says, { style: 'q', size: 20 })]; };
here.draw('rails', 720, 400, 'A ring over two nodes, on rails',
  'Ranks 0 to 3 in one node, 4 to 7 in the other. Forwards, 3 to 4 goes from rail 3 to rail 0, and 7 to 0 likewise. With the second node reversed, 3 to 4 stays on rail 3, and 7 to 0 on rail 0.', [
    range(8).map(k => text(177 + (k >> 2) * 290 + k % 4 * 66, 30, `rail ${k % 4}`, { at: 'middle', style: 'q', size: 20 })),
    ring(46, 'forwards', [4, 5, 6, 7], '3 to 4 and 7 to 0 cross the spines'), ring(226, 'reversed', [7, 6, 5, 4], '3 to 4 and 7 to 0 stay on their rails')]);

// The simulated step: passes of four stages and the reductions of gradients below them.
const record = here.record('step');
const end = Math.max(...record.spans.map(s => s[4])), left = 98, scale = (704 - left) / end;
here.draw('step', 720, 430, 'A simulated step of four stages and eight micro-batches',
  `Passes of four stages over ${Math.round(end)} ms: forward, backward with recomputation, and the reductions of gradients beside backward.`, [
    range(4).map(s => text(16, 60 + s * 84, `stage ${s}`, { size: 20, style: 'q' })),
    record.spans.map(([stage, row, name, from, to]) => rect(left + from * scale, 34 + stage * 84 + (row ? 46 : 0), Math.max(0.6, (to - from) * scale - 0.8), row ? 16 : 42, row ? 'g' : name.startsWith('F') ? 'a' : name.startsWith('B') ? 'w' : 't')),
    line(left, 366, 704, 366, 'sr', 2), range(Math.floor(end / 500) + 1).map(i => [line(left + i * 500 * scale, 362, left + i * 500 * scale, 370, 'sr', 2), text(left + i * 500 * scale, 392, `${i * 500} ms`, { at: i ? 'middle' : 'start', style: 'q', size: 20 })]),
    [['a', 'forward'], ['w', 'backward'], ['g', 'gradients of replicas, summed']].map(([style, what], i) => [rect([16, 160, 320][i], 402, 22, 22, style), text([44, 188, 348][i], 420, what, { size: 20 })])]);
