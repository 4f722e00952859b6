// Figures of lab 18: sparse rows, chunks, phases of a solver, and where each task lies on three rooflines.
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, dashed, line, path, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// Five rows in CSR.
const ROWS = [[0, 3], [], [1, 2, 4], [3], [0, 2, 4]], STYLES = ['a', 'p', 'w', 'g', 'a'];
const STARTS = ROWS.reduce((all, row) => [...all, all.at(-1) + row.length], [0]);
here.draw('csr', 720, 400, 'A matrix with five rows in CSR',
  'The matrix has nine entries in five rows; row 1 is empty. Stored are nine values, nine columns 0 3 1 2 4 3 0 2 4, and six starts 0 2 2 5 6 9. Equal neighbouring starts are an empty row.', [
    text(16, 32, 'the matrix', { bold: true }),
    range(5).map(r => range(5).map(c => rect(20 + c * 34, 50 + r * 34, 30, 30, ROWS[r].includes(c) ? STYLES[r] : 'p', 'rx="3"'))),
    text(250, 32, 'what is stored', { bold: true }),
    text(250, 84, 'values', { size: 20 }), text(250, 144, 'columns', { size: 20 }), text(250, 234, 'starts', { size: 20 }),
    ROWS.flatMap((row, r) => row.map((c, i) => { const x = 346 + (STARTS[r] + i) * 40; return [box(x, 58, 36, 38, 'v', STYLES[r], { size: 20 }), box(x, 118, 36, 38, c, STYLES[r], { size: 20 })]; })),
    STARTS.map((s, r) => box(346 + r * 60, 208, 50, 38, s, r === 1 || r === 2 ? 'w' : 'p', { size: 20 })),
    text(346, 282, 'two equal starts: row 1 is empty', { size: 20, style: 'w' }),
    text(16, 340, 'An entry in fp32 has 8 bytes, used once, for 2 operations.'), text(16, 374, 'With 27 entries per row: 0.237 operations per byte.', { style: 'q' })]);

// Rows of a power law, cut into chunks.
const LENGTHS = [3, 1, 0, 2, 18, 1, 2, 0, 9], CHUNK = 12, STYLE = ['a', 'g', 'p', 'a', 'w', 'g', 'a', 'p', 'g'];
const ENTRIES = LENGTHS.flatMap((n, r) => range(n).map(() => r));
here.draw('chunks', 720, 400, 'Rows of very different lengths, cut into chunks of equal size',
  'Nine rows have 3, 1, 0, 2, 18, 1, 2, 0 and 9 entries, 36 in all. They are cut into three chunks of 12. The row of 18 lies in chunk 0 with 6 entries and in chunk 1 with 12. Its last part is where it ends, and the carry of chunk 0 is added there. The last row has its nine entries in chunk 2.', [
    text(16, 32, '36 entries of nine rows', { bold: true }), ENTRIES.map((r, k) => box(16 + k * 19.2, 50, 17, 40, r, STYLE[r], { size: 20 })),
    range(4).map(c => line(15 + c * CHUNK * 19.2, 42, 15 + c * CHUNK * 19.2, 200, 'st', 2)),
    range(3).map(c => [text(26 + c * CHUNK * 19.2, 124, `block ${c}`, { bold: true }), text(26 + c * CHUNK * 19.2, 154, `first row ${ENTRIES[c * CHUNK]}`, { size: 20, style: 'q' })]),
    text(26, 184, 'carry: row 4', { size: 20, style: 'w' }), text(256, 184, 'row 4 ends here', { size: 20, style: 'w' }),
    arrow(150, 178, 248, 178, 'sw'),
    text(16, 254, 'Neighbouring lanes load neighbouring entries of a chunk.', { size: 20 }), text(16, 288, 'Then the block adds up the rows from shared memory.', { size: 20 }),
    text(16, 342, 'Rows 2 and 7 are empty: y is 0, stored by the block', { style: 'q' }), text(16, 374, 'in whose range of rows they are.', { style: 'q' })]);

// Phases of an iteration.
const PHASES = [['q = A p', 'p.q', 'a', 224], ['x += alpha p, r -= alpha q', 'r.r', 'w', 24], ['p = r + beta p', '', 'g', 12]];
here.draw('cg', 720, 420, 'Three phases of an iteration of conjugate gradients',
  'Phase one makes q = A p and adds p.q, 228 bytes per row. After a grid barrier, phase two updates x and r and adds r.r, 24 bytes. After the next barrier, phase three makes the new p, 12 bytes, and a barrier ends it.', [
    PHASES.map(([what, sum, style], i) => [box(16, 40 + i * 110, 350, 56, what, style),
      sum && [arrow(370, 68 + i * 110, 452, 68 + i * 110, `s${style}`), box(458, 40 + i * 110, 84, 56, sum, style)],
      text(570, 75 + i * 110, [`228`, '24', '12'][i] + ' bytes', { size: 20 }),
      line(16, 120 + i * 110, 704, 120 + i * 110, 'sq', 3, 'stroke-dasharray="10 6"'), text(704, 142 + i * 110, 'grid.sync()', { style: 'q', size: 20, at: 'end', mono: true })]),
    text(570, 28, 'per row', { size: 20, style: 'q' }),
    text(16, 394, 'All blocks add up all partial sums: the same bits everywhere.', { size: 20 })]);

// Three rooflines. Points: operations a byte at L1, L2 and memory; `rate` in operations/s, the least of the three limits.
const ROOFS = [['L1', 33.4e12, 'g'], ['L2', 7.4e12, 'w'], ['memory', 4.235e12, 'a']], PEAK = 66.9e12;
const TASKS = [['spmv', [0.10, 0.20, 0.237]], ['cg', [0.11, 0.21, 0.24]], ['fft 4096', [3.75, 3.75, 3.75]], ['fft 65536', [2.5, 2.5, 5]], ['all pairs', [1024, 1024, 1280]]];
const X = [0.08, 2000], Y = [3e11, 1.2e14], L = 84, R = 700, T = 20, B = 420;
const x = v => L + (R - L) * Math.log(v / X[0]) / Math.log(X[1] / X[0]), y = v => B - (B - T) * Math.log(v / Y[0]) / Math.log(Y[1] / Y[0]);
here.draw('roofline', 720, 540, 'Five kernels on three rooflines of an H200',
  'The roofs of L1, L2 and memory rise at 33.4, 7.4 and 4.235 TB/s to 67 TFLOP/s. spmv has 0.10, 0.20 and 0.237 operations a byte at L1, L2 and memory: memory limits it to 1.0 TFLOP/s, and L2 to 1.5. cg has 0.11, 0.21 and 0.24. A transform of 4096 points has 3.75 everywhere, one of 65536 points in two passes 2.5 at L1 and L2 and 5 at memory. All pairs have more than 1000 and are limited by instructions.', [
    [0.1, 1, 10, 100, 1000].map(v => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, v, { style: 'q', size: 20, at: 'middle' })]),
    [[1e12, 1], [1e13, 10], [1e14, 100]].map(([v, label]) => [line(L, y(v), R, y(v), 'sr', 1), text(L - 8, y(v) + 7, label, { style: 'q', size: 20, at: 'end' })]),
    ROOFS.map(([, rise, style]) => path(`M${x(Math.max(X[0], Y[0] / rise)).toFixed(1)} ${y(Math.max(Y[0], X[0] * rise)).toFixed(1)}L${x(PEAK / rise).toFixed(1)} ${y(PEAK).toFixed(1)}`, `s${style}`, 3)),
    line(x(PEAK / ROOFS[0][1]), y(PEAK), R, y(PEAK), 'st', 3), text(R, y(PEAK) - 10, 'fp32: 67 TFLOP/s', { size: 20, at: 'end' }),
    TASKS.map(([name, at], t) => { const rate = Math.min(PEAK * 0.62, ...at.map((v, i) => v * ROOFS[i][1]));
      return [dashed(x(at[0]), y(rate), x(at[2]), y(rate), 'sq', 2), at.map((v, i) => `<circle class="${ROOFS[i][2]}" cx="${x(v).toFixed(1)}" cy="${y(rate).toFixed(1)}" r="7"/>`), text(x(at[2]) + (t === 4 ? 0 : 14), y(rate) + [24, -6, -14, 14, 30][t], name, { size: 20, bold: true, at: t === 4 ? 'middle' : 'start' })]; }),
    text(R, B + 56, 'operations per byte of this level', { style: 'q', size: 20, at: 'end' }), text(16, B + 56, 'TFLOP/s', { style: 'q', size: 20 }),
    ROOFS.map(([name, rise, style], i) => [`<circle class="${style}" cx="${26 + i * 236}" cy="${B + 94}" r="7"/>`, text(42 + i * 236, B + 101, `${name} ${(rise / 1e12).toFixed(1)} TB/s`, { size: 20 })])]);

// 4096 points in three digits.
const STEPS = [['over j0', 'a'], ['over j1', 'w'], ['over j2', 'g']];
here.draw('fft', 720, 400, 'A transform of 4096 points in three steps of 16',
  'Points are loaded with a stride of 256, transformed over j0 in registers, multiplied by roots, and exchanged through shared memory. Then over j1, roots, and a second exchange. Then over j2, and the results are stored with a stride of 256. Memory is read once and written once.', [
    text(16, 32, 'memory', { style: 'q' }), text(16, 372, 'memory', { style: 'q' }),
    STEPS.map(([name, style], i) => [box(130, 60 + i * 100, 250, 52, `16 points ${name}`, style),
      i < 2 && [text(396, 94 + i * 100, 'roots', { size: 20 }), arrow(255, 114 + i * 100, 255, 156 + i * 100, 'st'), text(276, 144 + i * 100, 'exchange in shared memory', { size: 20, style: 'q' })]]),
    arrow(255, 22, 255, 56, 'st'), text(276, 40, '256 i + t', { mono: true, size: 20 }), arrow(255, 314, 255, 356, 'st'), text(276, 350, '256 i + t', { mono: true, size: 20 }),
    text(500, 94, 'j0 becomes k0', { style: 'a', size: 20 }), text(500, 194, 'j1 becomes k1', { style: 'w', size: 20 }), text(500, 294, 'j2 becomes k2', { style: 'g', size: 20 })]);

// One body a thread, or four.
const pairsOf = (y, own, style) => [box(40, y, 110, 44, 'source', 'p', { size: 20 }), range(own).map(t => [box(300, y + t * 44 - (own - 1) * 22, 130, 36, `body ${t}`, style, { size: 20 }), arrow(154, y + 22, 294, y + 18 + t * 44 - (own - 1) * 22, `s${style}`)])];
here.draw('nbody', 720, 380, 'A source pulls one body of a thread, or four',
  'With one body a thread, each load from shared memory serves one pair: 13 instructions and a load. With four bodies a thread, a load serves four pairs: 52 instructions and a load.', [
    text(16, 32, 'a thread has one body', { bold: true }), pairsOf(60, 1, 'w'), text(450, 90, 'a load for 13 others', { size: 20 }),
    text(16, 152, 'a thread has four bodies', { bold: true }), pairsOf(240, 4, 'a'), text(450, 270, 'a load for 52 others', { size: 20 }),
    text(16, 366, 'All lanes read the same source: one wavefront.', { style: 'q', size: 20 })]);

// Two atoms and the skin.
here.draw('skin', 720, 330, 'Two atoms that move towards each other',
  'When the cells are made, two atoms are cutoff plus skin apart and lie in neighbouring cells. Each moves towards the other by half of the skin: now they are at the cutoff. No atom has moved by more than half of the skin, so the old cells still show the pair.', [
    text(16, 32, 'when the cells are made', { bold: true }), range(3).map(c => rect(60 + c * 200, 50, 196, 70, 'p')),
    `<circle class="a" cx="240" cy="85" r="12"/><circle class="w" cx="430" cy="85" r="12"/>`, line(256, 85, 414, 85, 'st', 2), text(335, 76, 'cutoff + skin', { size: 20, at: 'middle' }),
    text(16, 172, 'later', { bold: true }), range(3).map(c => rect(60 + c * 200, 190, 196, 70, 'p')),
    `<circle class="a" cx="275" cy="225" r="12"/><circle class="w" cx="395" cy="225" r="12"/>`, line(291, 225, 379, 225, 'st', 2), text(335, 216, 'cutoff', { size: 20, at: 'middle' }),
    arrow(232, 246, 268, 246, 'sa'), arrow(438, 246, 402, 246, 'sw'), text(16, 304, 'Each by half of the skin: the pair is in neighbouring cells still.', { size: 20 })]);

// Four ranks and a corner.
const partAt = (x, y, name, style) => [rect(x, y, 130, 110, style), text(x + 65, y + 62, name, { at: 'middle', style: style === 'p' ? 't' : 'o', size: 20 })];
here.draw('halo', 720, 420, 'A corner in two hops',
  'Four ranks in a square, y to the right and z downward. First rank 0 sends a face along y to rank 1, with the point at its lower right corner. Then rank 1 sends a plane along z to rank 3, with the ghosts that came from rank 0. So the corner of rank 0 reaches rank 3 without a transfer of its own.', [
    partAt(60, 60, 'rank 0', 'p'), partAt(330, 60, 'rank 1', 'p'), partAt(60, 250, 'rank 2', 'p'), partAt(330, 250, 'rank 3', 'p'),
    rect(174, 60, 16, 110, 'a'), rect(174, 154, 16, 16, 'w'), rect(312, 60, 16, 110, 'a'), rect(312, 154, 16, 16, 'w'), arrow(196, 110, 304, 110, 'sa'), text(250, 94, '1. along y', { at: 'middle', size: 20, style: 'a' }),
    rect(330, 154, 130, 16, 'g'), rect(330, 232, 130, 16, 'g'), rect(312, 232, 16, 16, 'w'), arrow(395, 176, 395, 226, 'sg'), text(412, 208, '2. along z, with', { size: 20, style: 'g' }), text(580, 208, 'ghosts', { size: 20, style: 'w' }),
    text(60, 40, 'y to the right, z downward', { style: 'q', size: 20 }), text(16, 402, "The corner of rank 0 reaches rank 3 without a transfer of its own.", { size: 20 })]);
