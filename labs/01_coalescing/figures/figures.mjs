// Figures of lab 01: which bytes move for the lanes of a warp.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { album, json, ROOT } from '../../../figures/kit/album.mjs';
import { exported } from '../../../figures/kit/exports.mjs';
import { calibrated, slope } from '../../../figures/kit/charts.mjs';
import { banks, requests, sectors } from '../../../figures/kit/warp.mjs';
import { arrow, box, frame, grid, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);
const request = address => ({ size: 4, addresses: range(32).map(address) });

here.draw('lanes_to_sectors', 720, 640, 'Which sectors of 32 bytes the lanes of a warp touch',
  'Lanes that read neighbouring floats touch 4 sectors, and all 128 bytes are used. With every second float they touch 8 sectors, half used. With a stride of 32 floats each lane touches a sector of its own: 1024 bytes move for 128.', [
    sectors(0, 'a[k]: neighbours', request(k => 4 * k)), sectors(212, 'a[2 * k]: every second one', request(k => 8 * k)), sectors(424, 'a[32 * k]: a stride of 32 floats', request(k => 128 * k), 'w')]);

// Fields have the numbers that they have in the contract, f of out[f * n + i]: their names are too wide for a figure.
const FIELDS = ['x', 'y', 'z', 'mass', 'vx', 'vy', 'vz', 'charge'];
here.draw('particles', 720, 420, 'Eight fields of a particle fill one sector',
  'Four of 32 particles in memory, each of 8 floats, one sector. A load of in[i].x uses 4 bytes of each of 32 sectors. The same bytes read in the order in which they lie go to shared memory, and a thread picks its fields there.', [
    text(16, 30, 'a load of in[i].x: 4 bytes of each sector', { bold: true, style: 'w' }),
    range(4).map(p => [text(16 + p * 174 + 80, 70, `lane ${p}`, { at: 'middle', style: 'q', size: 20 }), arrow(16 + p * 174 + 11, 78, 16 + p * 174 + 11, 102, 'sw', 2.5),
      FIELDS.map((f, i) => rect(16 + p * 174 + i * 21, 106, 19, 40, i ? 'p' : 'w')), FIELDS.map((f, i) => text(16 + p * 174 + i * 21 + 9.5, 133, i, { size: 20, at: 'middle', style: i ? 't' : 'o' })), frame(14 + p * 174, 104, 170, 44, 'sq', 'stroke-width="2"')]),
    text(16, 174, `field f: ${FIELDS.map((f, i) => `${i} ${f}`).join(', ')}`, { style: 'q', size: 20 }),
    text(16, 206, 'in memory order: all bytes of each sector', { bold: true, style: 'a' }),
    range(4).map(p => [FIELDS.map((f, i) => rect(16 + p * 174 + i * 21, 216, 19, 34, 'a')), frame(14 + p * 174, 214, 170, 38, 'sq', 'stroke-width="2"'), arrow(100 + p * 174, 256, 100 + p * 174, 288, 'sa')]),
    box(14, 292, 692, 46, 'shared memory: each thread picks its particle', 'g'), text(16, 390, '8 loads x 32 sectors = 256, where 32 sectors hold all', { style: 'q' })]);

const tile = (x, y, mark, style) => [grid(8, 8, (c, r) => rect(x + c * 22, y + r * 22, 20, 20, mark(c, r) ? style : 'p'))];
here.draw('tile', 720, 400, 'A tile in shared memory turns rows into columns',
  'A warp loads a row of the input into a row of the tile. After the barrier it reads a column of the tile and stores it as a row of the output, so both accesses to global memory touch neighbouring addresses.', [
    text(104, 36, 'in', { at: 'middle', bold: true }), text(360, 36, 'tile in shared memory', { at: 'middle', bold: true, style: 'g' }), text(616, 36, 'out', { at: 'middle', bold: true }),
    tile(16, 56, (c, r) => r === 2, 'a'), tile(272, 56, (c, r) => r === 2 || c === 4, 'g'), tile(528, 56, (c, r) => r === 4, 'w'),
    frame(271, 56 + 43, 178, 24, 'sa', 'stroke-width="4"'), frame(272 + 87, 55, 24, 178, 'sw', 'stroke-width="4"'),
    arrow(200, 110, 264, 110, 'sa', 4), arrow(456, 154, 520, 154, 'sw', 4),
    text(16, 276, '1. load a row:', { style: 'a', bold: true }), text(16, 304, 'neighbours', { style: 'a' }), text(272, 276, '2. barrier', { style: 'g', bold: true }),
    text(528, 276, '3. store a row:', { style: 'w', bold: true }), text(528, 304, 'neighbours', { style: 'w' }),
    text(16, 366, 'The column is read in shared memory, where its banks count.', { style: 'q' })]);

// A row of the story's records is one attempt at the transpose: direct, through a tile, through a padded tile.
const story = 'visualizer/stories/01_transpose/01_coalescing';
const recordings = readdirSync(join(ROOT, story)).filter(file => file.endsWith('.warp.json')).sort();
const attempt = (number, op) => requests(json(join(story, recordings[number])), 'transpose').find(r => r.op === op);
here.draw('warp_tile', 720, 490, 'The column of a tile, without and with padding',
  'Recorded on the emulator. In a tile of 32 x 32 floats all words of a column lie in one bank: 32 wavefronts. With rows of 33 floats each word lies in a bank of its own: 1 wavefront.', () => [
    banks(0, 'tile[32][32]: a column lies in one bank', attempt(1, 'shared_ld'), 'w'), banks(244, 'tile[32][33]: a bank for each lane', attempt(2, 'shared_ld'))]);

// Rows of a table that do or do not begin at a sector.
const table = (y, floats, count, head) => {
  const scale = 688 / 320, sector = 32 * scale, row = floats * 4;
  return [text(16, y + 26, head, { bold: true }), range(10).map(s => frame(16 + s * sector, y + 42, sector - 2, 60, 'sq', 'stroke-width="2"')),
    range(count).map(r => [rect(16 + r * row * scale + 1, y + 52, row * scale - 3, 40, r === 1 ? 'w' : 'p'), text(16 + (r + 0.5) * row * scale, y + 80, `row ${r}`, { at: 'middle', size: 20, style: r === 1 ? 'o' : 't' })])];
};
here.draw('rows_and_sectors', 720, 330, 'Rows of 10 floats and of 16 floats on sectors of 32 bytes',
  'A row of 10 floats has 40 bytes. Row 1 begins 8 bytes into a sector and touches two sectors, so 64 bytes move for 40. A row of 16 floats has 64 bytes, begins at a sector, and fills two.', [
    table(0, 10, 8, 'rows of 10 floats: row 1 moves 64 bytes for 40'), table(130, 16, 5, 'rows of 16 floats: row 1 moves 64 bytes for 64'), text(16, 300, 'outlines: sectors of 32 bytes', { style: 'q', size: 20 })]);

exported(here, 'warp_sectors', 'The visualizer\'s warp view of a store of the direct transpose: 32 lanes, 32 sectors.', '880x405', '1.3', () => `${story}/${recordings[0]}`);
exported(here, 'warp_banks', 'The visualizer\'s warp view of a load of a tile\'s column: 32 lanes want 32 words of one bank.', '880x405', '1.3', '--set', 'line=12', '--set', 'access=load tile', () => `${story}/${recordings[1]}`);

// `gather` of rows of 128 floats, as recorded when the solution was tuned. The bytes are those that the lab's record counts.
{
  const roofs = calibrated('h200'), TB = v => `${(v / 1e12).toFixed(2)} TB/s`;
  const part = readFileSync(join(ROOT, 'benchmarks/h200/tuning/01_coalescing.txt'), 'utf8').split('gather width 128,')[1].split('\n\n')[0];
  const us = name => Number(part.match(new RegExp(`^ *${name} .* ([0-9.]+) us$`, 'm'))[1]);
  const { bytes, operations } = json('benchmarks/h200/01_coalescing.json').tasks.find(t => t.id === 'gather').timings.find(t => t.case.includes(' x 128 '));
  const times = ['one thread a row', '4 bytes a lane: rows, 1 row x 1', 'rows, 4 rows x 1'].map(us), rates = times.map(t => operations / t * 1e6), moved = times.map(t => TB(bytes / t * 1e6));
  const label = (i, who) => `${who}: ${(rates[i] / 1e12).toFixed(2)} (${moved[i]})`;
  slope(here, 'roofline_gather', 'Roofline of an H200 with three versions of gather',
    `A copied element, counted as one operation, makes ${(operations / bytes).toFixed(3)} operations a byte, far left of the ridge. A thread a row moves ${moved[0]}, a warp a row ${moved[1]} with 4 bytes a lane, and a warp with four rows at once ${moved[2]} with 16.`, {
      roof: [roofs.copy, `copy: ${TB(roofs.copy)}`], peak: [roofs.fp32, `fp32 units: ${(roofs.fp32 / 1e12).toFixed(1)}`], X: [0.02, 200], Y: [5e9, 2e14], axis: 'operations a byte of memory', up: '10^12 operations a second',
      groups: [{ at: operations / bytes, rates, labels: [[0, label(0, 'a thread a row')], [1, label(1, 'a warp a row'), 34], [2, label(2, 'four rows at once'), 16]] }] });
}
