// Figures of lab 06: a ring, step by step.
import { album } from '../../../figures/kit/album.mjs';
import { exported } from '../../../figures/kit/exports.mjs';
import { timeline } from '../../../figures/kit/trace.mjs';
import { arrow, box, dashed, frame, line, path, range, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);
const P = 4, mod = v => ((v % P) + P) % P;

// ---- the ring, moving: six steps, and in each every rank hands one chunk to its right neighbour. The still frame is
// the middle, after the reduce-scatter.
// terms[s][r][c]: how many ranks' numbers are in chunk c of rank r after s steps.
function ring() {
  const terms = [range(P).map(() => range(P).map(() => 1))];
  for (let s = 0; s < 2 * (P - 1); s += 1) {
    const next = terms[s].map(row => [...row]);
    for (const r of range(P)) {
      const reduce = s < P - 1, c = reduce ? mod(r - s - 1) : mod(r - (s - P + 1));
      next[r][c] = reduce ? terms[s][mod(r - 1)][c] + 1 : P;
    }
    terms.push(next);
  }
  return terms;
}
const TERMS = ring(), STEPS = 2 * (P - 1), BEAT = 100 / (STEPS + 2), SECONDS = (STEPS + 2) * 2;
// rank r sends chunk r - s in the first half and r + 1 - s in the second
const sends = (r, s) => (s < P - 1 ? mod(r - s) : mod(r + 1 - (s - P + 1)));
const X = r => 130 + r * 150, Y = c => 96 + c * 74;
const cells = (state, name, hidden = '') => `<g class="${name}"${hidden}>${range(P).map(r => range(P).map(c => { const v = TERMS[state][r][c]; return box(X(r), Y(c), 92, 56, v, v === P ? 'a' : v > 1 ? 'g' : 'p', { size: 26 }); }).join('')).join('')}</g>`;
const moves = s => `<g class="m m${s}" opacity="0">${range(P).map(r => {
  const c = sends(r, s), from = X(r) + 92, v = TERMS[s][r][c];
  // The last rank's right neighbour is the first one: its chunk leaves at the right and comes in at the left.
  return `<g class="fly">${box(from - 52, Y(c) + 8, 44, 40, v, 'w', { size: 24 })}</g>${r === P - 1 ? `<g class="fly">${box(X(0) - 110, Y(c) + 8, 44, 40, v, 'w', { size: 24 })}</g>` : ''}`;
}).join('')}</g>`;
const show = (name, from, to) => `.${name}{animation:${name} ${SECONDS}s step-end infinite}@keyframes ${name}{0%{opacity:${from === 0 ? 1 : 0}}${from ? `${from.toFixed(2)}%{opacity:1}` : ''}${to < 100 ? `${to.toFixed(2)}%{opacity:0}` : ''}}`;
const style = `@media (prefers-reduced-motion:no-preference){.still{display:none}${range(STEPS + 1).map(s => show(`s${s}`, s ? (s + 0.8) * BEAT : 0, s === STEPS ? 100 : (s + 1.8) * BEAT)).join('')}
${range(STEPS).map(s => `.m${s}{animation:m${s} ${SECONDS}s step-end infinite}@keyframes m${s}{0%{opacity:0}${((s + 1) * BEAT).toFixed(2)}%{opacity:1}${((s + 1.8) * BEAT).toFixed(2)}%{opacity:0}}.m${s} .fly{animation:f${s} ${SECONDS}s linear infinite}@keyframes f${s}{0%,${((s + 1.1) * BEAT).toFixed(2)}%{transform:none}${((s + 1.7) * BEAT).toFixed(2)}%,100%{transform:translateX(110px)}}.h${s}{animation:h${s} ${SECONDS}s step-end infinite}@keyframes h${s}{0%{opacity:0}${((s + 1) * BEAT).toFixed(2)}%{opacity:1}${((s + 2) * BEAT).toFixed(2)}%{opacity:0}}`).join('\n')}
.h${STEPS}{animation:h${STEPS} ${SECONDS}s step-end infinite}@keyframes h${STEPS}{0%{opacity:0}${((STEPS + 1) * BEAT).toFixed(2)}%{opacity:1}}.hs{animation:hs ${SECONDS}s step-end infinite}@keyframes hs{0%{opacity:1}${BEAT.toFixed(2)}%{opacity:0}}}`;
const head = (name, what, hidden = true) => `<g class="${name}"${hidden ? ' opacity="0"' : ''}>${text(16, 36, what, { size: 24, bold: true })}</g>`;
here.draw('ring', 720, 480, 'A ring all-reduce on four ranks, step by step',
  'Columns are ranks, rows are chunks; a number says how many ranks have been added in this chunk. In three steps of reduce-scatter each rank sends one chunk to its right neighbour, which adds it. Then every rank has one complete chunk. In three steps of all-gather the complete chunks travel on. At the end all chunks of all ranks hold four terms.', [
    head('still', 'after 3 steps a chunk is complete on each rank', false), head('hs', 'start: each rank has its own numbers'),
    range(STEPS).map(s => head(`h${s}`, s < P - 1 ? `reduce-scatter, step ${s + 1} of 3: send right, add` : `all-gather, step ${s - P + 2} of 3: send right, keep`)), head(`h${STEPS}`, 'end: every chunk has all 4 terms'),
    range(P).map(r => [text(X(r) + 46, 80, `rank ${r}`, { style: 'q', at: 'middle' }), r < P - 1 ? arrow(X(r) + 96, 420, X(r + 1) - 6, 420, 'sq', 3) : '']),
    text(4, 80, 'chunk', { style: 'q' }), range(P).map(c => text(3, Y(c) + 36, c, { style: 'q' })), path(`M${X(3) + 96} 420L704 420L704 456L112 456L112 420L${X(0) - 6} 420`, 'sq', 3, 'marker-end="url(#q)"'), range(P).map(r => text(X(r) + 46, 428, 'link', { style: 'q', size: 20, at: 'middle' })),
    `<g class="still">${cells(P - 1, 'x')}</g>`, range(STEPS + 1).map(s => cells(s, `s${s}`, ' opacity="0"')), range(STEPS).map(moves)], style);

// ---- the same as four states
const state = (x, y, s, title) => [text(x + 150, y, title, { at: 'middle', bold: true }), range(P).map(r => [text(x, y + 48 + r * 50, `rank ${r}`, { size: 20, style: 'q' }), range(P).map(c => {
  const v = TERMS[s][r][c];
  return box(x + 80 + c * 58, y + 18 + r * 50, 54, 44, v, v === P ? 'a' : v > 1 ? 'g' : 'p');
})])];
here.draw('ring_steps', 720, 570, 'Reduce-scatter around a ring of four ranks: the number of terms in each chunk',
  'At the start each chunk has one term. After each step one chunk of each rank has a term more: 2, then 3, then 4. After three steps every rank has one complete chunk.', [
    state(16, 36, 0, 'start'), state(384, 36, 1, 'step 1'), state(16, 300, 2, 'step 2'), state(384, 300, 3, 'step 3'), text(16, 552, 'Numbers: terms in the chunk (columns: chunks 0 to 3)', { style: 'q', size: 20 })]);

// ---- three ways, by size; alpha 5 us, beta 365 GB/s, 8 ranks
here.draw('collective_costs', 720, 500, 'Time of an all-reduce on 8 ranks by the alpha-beta model',
  'Below 3.4 MB a tree is faster, since it has fewer steps; above it a ring, since each rank sends less. Sending all to one rank and back is always slower than the tree.', (() => {
    const p = 8, alpha = 5e-6, beta = 365e9, L = 92, R = 700, T = 56, B = 410, W = [1e4, 4e9], H = [2e-5, 2e-1], logs = Math.ceil(Math.log2(p));
    const x = v => L + (R - L) * Math.log(v / W[0]) / Math.log(W[1] / W[0]), y = v => B - (B - T) * Math.log(v / H[0]) / Math.log(H[1] / H[0]);
    const ways = [['all to one', v => 2 * (p - 1) * (alpha + v / beta), 'sw', 'w'], ['a tree', v => 2 * logs * (alpha + v / beta), 'sg', 'g'], ['a ring', v => 2 * (p - 1) * (alpha + v / (p * beta)), 'sa', 'a']];
    const sizes = range(81).map(i => W[0] * (W[1] / W[0]) ** (i / 80)), cross = alpha * beta * (p - 1 - logs) / (logs - (p - 1) / p);
    return [[['100 us', 1e-4], ['1 ms', 1e-3], ['10 ms', 1e-2], ['100 ms', 1e-1]].map(([name, v]) => [line(L, y(v), R, y(v), 'sr', 1), text(L - 8, y(v) + 7, name, { size: 20, style: 'q', at: 'end' })]),
      [['64 KB', 64e3], ['1 MB', 1e6], ['16 MB', 16e6], ['256 MB', 256e6], ['4 GB', 4e9]].map(([name, v], i) => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, name, { size: 20, style: 'q', at: i === 4 ? 'end' : 'middle' })]),
      ways.map(([, f, style]) => path(sizes.map((v, i) => `${i ? 'L' : 'M'}${x(v).toFixed(1)} ${y(f(v)).toFixed(1)}`).join(''), style, 4)),
      ways.map(([name, , , fill], i) => text(110 + i * 170, 34, name, { style: fill, bold: true })),
      dashed(x(cross), y(H[0]), x(cross), y(2 * logs * (alpha + cross / beta)), 'sq'), text(x(cross) + 10, B - 14, `ring beats tree from ${(cross / 1e6).toFixed(1)} MB`, { size: 20 }),
      text(R, B + 66, 'bytes of each rank', { size: 20, style: 'q', at: 'end' })];
  })());

here.draw('two_levels', 720, 460, 'Reduce inside the node first, then between nodes',
  'Two nodes of four GPUs. First a reduce-scatter inside each node over NVLink, then each GPU all-reduces its part with the same place of the other node through its own adapter, then an all-gather inside.', [
    [0, 1].map(k => [frame(10 + k * 360, 44, 340, 130, 'sr', 'stroke-width="2" rx="8"'), text(20 + k * 360, 32, `node ${k}`, { style: 'q' }),
      range(4).map(i => box(22 + k * 360 + i * 82, 66, 70, 54, k * 4 + i, 'p', { size: 24 })), range(3).map(i => line(92 + k * 360 + i * 82, 93, 104 + k * 360 + i * 82, 93, 'sa', 6)),
      text(22 + k * 360, 156, 'NVLink: 365 GB/s', { size: 20, style: 'a' })]),
    range(4).map(i => path(`M${57 + i * 82} 174C${57 + i * 82} ${240 + i * 8} ${417 + i * 82} ${240 + i * 8} ${417 + i * 82} 180`, 'sw', 3)), text(360, 282, '48 GB/s for each adapter', { style: 'w', at: 'middle' }),
    text(16, 332, '1. reduce-scatter inside', { style: 'a', bold: true }), text(16, 366, '2. all-reduce of a part between nodes', { style: 'w', bold: true }), text(16, 400, '3. all-gather inside', { style: 'a', bold: true }),
    text(16, 442, 'All adapters work at once, each with a part of the bytes.', { size: 20, style: 'q' })]);

const solution = here.record('ring_solution');
timeline(here, 'trace_ring', 'Timeline of ring on four emulated ranks',
  `Recorded on the emulator, four ranks with 2 MiB each. Each rank has three exchanges, each followed by an addition, and then three exchanges that hand the sums on. While a rank adds, its link is idle. The whole takes ${Math.round(solution.us)} us.`,
  [{ head: 'solution, four ranks', record: { us: solution.us, rows: solution.rows.map(row => ({ ...row, label: row.label.replace('transfers', 'send').replace('kernels', 'add') })) } }], { order: range(P).flatMap(r => [`${r} send`, `${r} add`]) });

exported(here, 'timeline_ring', 'The visualizer\'s view of a ring of four H200s: each send with its chunk and bandwidth, and the times of the alpha-beta model.', '1000x440', '1.35', '--set', 'mode=collective', 'benchmarks/collectives/h200x4/ring.trace.json');
