// The warp view: 32 lanes of one recorded request, and what memory moves for them. One scale for all panels, so that the
// width of the second row is the number of bytes that move.
import { frame, line, range, rect, text } from './svg.mjs';
import { WIDTH } from './charts.mjs';

// The first request of each instruction of a kernel, from the emulator's .warp.json; those that look alike count once.
// Addresses are bytes from a multiple of 128 below the lowest one.
export function requests(record, kernel) {
  const k = record.kernels.find(each => each.kernel.includes(kernel)) ?? record.kernels[0];
  return k.requests.filter((r, i) => k.requests.findIndex(other => other.pc === r.pc) === i).map(r => {
    let at = 0;
    const addresses = r.addresses.map((step, i) => { at = i ? at + step : step; return at; });
    const base = Math.floor(Math.min(...addresses) / 128) * 128;
    return { op: r.op, size: r.size, sectors: r.sectors, wavefronts: r.wavefronts, addresses: addresses.map(a => a - base) };
  }).filter((r, i, all) => all.findIndex(other => JSON.stringify(other) === JSON.stringify(r)) === i);
}

const left = 18, cell = 21.4;
// Lanes above, sectors below. `used` is the style of the bytes that lanes asked for.
export function sectors(y, head, request, used = 'a') {
  const touched = [...new Set(request.addresses.flatMap(a => range(Math.ceil(request.size / 32) || 1).map(k => Math.floor((a + k * 32) / 32))))].sort((a, b) => a - b);
  const x = sector => left + touched.indexOf(sector) * cell;
  const moved = touched.length * 32, asked = new Set(request.addresses.flatMap(a => range(request.size).map(k => a + k))).size;
  return [text(left, y + 26, head, { bold: true }), range(32).map(k => rect(left + k * cell, y + 40, cell - 2, 26, 'q', 'rx="2"')),
    request.addresses.map((a, k) => line(left + k * cell + cell / 2 - 1, y + 68, x(Math.floor(a / 32)) + (a % 32) / 32 * (cell - 2) + 1.5, y + 118, 's' + used, 1.3)),
    touched.map(sector => [rect(x(sector), y + 120, cell - 2, 44, 'p'),
      request.addresses.filter(a => Math.floor(a / 32) === sector).map(a => rect(x(sector) + (a % 32) / 32 * (cell - 2), y + 120, request.size / 32 * (cell - 2), 44, used)), frame(x(sector), y + 120, cell - 2, 44, 'sq', 'stroke-width="1.5"')]),
    text(left, y + 192, `${touched.length} sectors: ${moved} bytes move, ${asked} were asked for (${Math.round(1000 * asked / moved) / 10}%)`, { size: 20 })];
}

// 32 banks of shared memory; a column shows the words that the lanes want of one bank, one a wavefront.
export function banks(y, head, request, used = 'a', tall = 160) {
  const words = [...new Set(request.addresses.map(a => a / 4))], by = range(32).map(bank => words.filter(w => w % 32 === bank).length);
  const most = Math.max(...by), high = tall / Math.max(most, 4);
  return [text(left, y + 26, head, { bold: true }), range(32).map(bank => [rect(left + bank * cell, y + 40, cell - 2, tall, 'p', 'fill-opacity=".35"'),
    range(by[bank]).map(k => rect(left + bank * cell, y + 40 + tall - (k + 1) * high + 1, cell - 2, Math.max(1.5, high - 1), used))]),
    [0, 31].map(bank => text(left + bank * cell + (bank ? cell - 2 : 0), y + tall + 64, `bank ${bank}`, { style: 'q', size: 20, at: bank ? 'end' : 'start' })),
    text(WIDTH / 2, y + tall + 64, `${most} wavefront${most > 1 ? 's' : ''}`, { at: 'middle', bold: true, style: used })];
}
