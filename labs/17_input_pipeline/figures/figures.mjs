// Figures of lab 17: files and shards, an order and its parts, a ring of slots, and stages of a pipeline.
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, frame, line, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// A file for each sample, and shards.
const target = (x, y, i) => box(x, y, 84, 44, `target ${i}`, 'p', { size: 20 });
here.draw('files', 720, 470, 'A file for each sample, and shards',
  'With a file for each sample, every sample asks the metadata server once, and it serves 2500 opens a second. With shards it is asked once for thousands of samples; the bytes come from the storage targets in both cases.', [
    text(16, 32, 'a file for each sample', { bold: true }), range(20).map(i => rect(20 + i % 10 * 26, 50 + Math.floor(i / 10) * 30, 20, 24, 'a')),
    arrow(292, 78, 388, 78, 'sw', 6), box(394, 48, 200, 60, 'metadata server', 'w'), text(16, 142, '20 samples: 20 opens, 8 ms', { style: 'w' }),
    text(16, 232, 'shards', { bold: true }), range(2).map(s => [frame(18, 250 + s * 40, 266, 30, 'sa'), range(10).map(i => rect(22 + i * 26, 253 + s * 40, 22, 24, 'a'))]),
    arrow(292, 285, 388, 285, 'sg', 2), box(394, 255, 200, 60, 'metadata server', 'g'), text(16, 360, '20 samples: 2 opens, 0.8 ms', { style: 'g' }),
    range(4).map(i => target(394 + i % 2 * 100, 346 + Math.floor(i / 2) * 56, i)), arrow(160, 380, 388, 400, 'sq'), text(16, 420, 'bytes: from the targets', { style: 'q' })]);

// An order, steps of six samples, and their parts on two and four ranks. The shuffle is the lesson's own, of 14 samples.
const ORDER = [9, 2, 13, 5, 0, 7, 11, 3, 8, 12, 1, 6, 4, 10], B = 6, LOOKS = ['a', 'w', 'g', 'p'];
const part = (i, ranks) => { const first = Math.floor(i / B) * B, n = Math.min(B, ORDER.length - first), k = i - first; return range(ranks).find(r => k < Math.floor(n * (r + 1) / ranks)); };
const orderRow = (y, name, ranks) => [text(16, y + 30, name, { size: 20 }), ORDER.map((s, i) => box(120 + i * 40 + Math.floor(i / B) * 14, y, 36, 44, s, LOOKS[part(i, ranks)], { size: 20 }))];
here.draw('parts', 720, 330, 'One order, in steps, for two ranks and for four',
  'An epoch of 14 samples in a random order, in steps of 6, 6 and 2. On two ranks each takes half of a step, on four ranks about a quarter. The order is the same.', [
    range(3).map(s => text(120 + s * 254, 32, `step ${s}`, { style: 'q', size: 20 })), orderRow(46, '2 ranks', 2), orderRow(116, '4 ranks', 4),
    LOOKS.map((style, r) => [rect(120 + r * 130, 190, 26, 26, style), text(154 + r * 130, 211, `rank ${r}`, { size: 20 })]),
    text(16, 262, 'The last step has 2 samples: none is dropped.'), text(16, 300, 'Epoch and samples taken are all that a checkpoint keeps.', { style: 'q', size: 20 })]);

// Eight slots in the middle of a run.
const STATES = [['free', 'p'], ['copied', 'g'], ['decoded', 'w'], ['read', 'a'], ['read', 'a'], ['read', 'a'], ['free', 'p'], ['free', 'p']];
here.draw('ring', 720, 330, 'A ring of eight slots',
  'Slots 3, 4 and 5 are being read, slot 2 is decoded by all cores, slot 1 is copied to the device, the others are free. Each state moves to the next slot with the next batch.', [
    STATES.map(([what, style], s) => [text(58 + s * 86, 36, s, { at: 'middle', style: 'q', size: 20 }), box(18 + s * 86, 50, 80, 64, what, style, { size: 20 })]),
    arrow(60, 146, 660, 146, 'st'), text(16, 184, 'the next batch moves every state one slot on', { size: 20 }),
    text(16, 232, 'read: the ring has the encoded buffer', { style: 'a', size: 20 }), text(16, 264, 'decoded: cores have both buffers', { style: 'w', size: 20 }), text(16, 296, 'copied: the stream has the decoded buffer', { style: 'g', size: 20 })]);

// The worked example's stages, in ms.
const READ = 0.282, LATENCY = 0.6, ONE = 1.311, ALL = 0.164, COPY = 0.011, STAGES = [['storage', 'a'], ['cores', 'w'], ['link', 'g']];
const serial = range(6).map(b => { const at = b * (READ + LATENCY + ONE + COPY); return [[at, READ], [at + READ + LATENCY, ONE], [at + READ + LATENCY + ONE, COPY]]; });
const piped = range(6).map(b => { const end = (b + 1) * READ + LATENCY; return [[b * READ, READ], [end, ALL], [end + ALL, COPY]]; });
const until = plan => { const [from, long] = plan.at(-1)[2]; return from + long; };
const scale = 600 / until(serial);
const rows = (y, plan) => STAGES.map(([name, style], s) => [text(16, y + 26 + s * 44, name, { size: 20 }), plan.map(stages => rect(104 + stages[s][0] * scale, y + s * 44, Math.max(3, stages[s][1] * scale - 1), 34, style))]);
here.draw('stages', 720, 410, 'Six batches, one after the other and all stages at once',
  `One after the other on one core six batches take ${until(serial).toFixed(1)} ms. With reads in flight and eight cores they take ${until(piped).toFixed(1)} ms, and the storage has no gap.`, [
    text(16, 32, `one after the other, one core: ${until(serial).toFixed(1)} ms`, { bold: true }), rows(46, serial),
    text(16, 224, `all at once, eight cores: ${until(piped).toFixed(1)} ms`, { bold: true }), rows(238, piped),
    line(104, 380, 704, 380, 'sq'), text(704, 404, 'without the open', { style: 'q', size: 20, at: 'end' })]);

// A request across three stripes.
const MiB = 76, at = mib => 60 + mib * MiB, ON = ['a', 'w', 'g', 'p'];
here.draw('stripes', 720, 360, 'A request on a striped file',
  'A file of 8 MiB with stripes of 1 MiB on four targets. A request for 2 MiB from 1.5 MiB on has half of stripe 1, stripe 2, and half of stripe 3: three targets are occupied.', [
    range(8).map(k => box(at(k), 60, MiB - 4, 54, k, ON[k % 4])), text(60, 40, 'a file: stripes of 1 MiB on four targets', { size: 20 }),
    frame(at(1.5), 50, 2 * MiB - 4, 74, 'st', 'stroke-width="4"'), text(at(1.5), 152, 'request: 2 MiB from 1.5 MiB on', { size: 20 }),
    range(4).map(t => [box(60 + t * 158, 196, 140, 44, `target ${t}`, ON[t], { size: 20 }), text(130 + t * 158, 270, [0, 0.5, 1, 0.5][t] === 0 ? 'nothing' : `${[0, 0.5, 1, 0.5][t]} MiB`, { at: 'middle', size: 20, style: t ? 't' : 'q' })]),
    text(16, 316, 'Three targets are occupied: for the overhead of a request'), text(16, 346, 'each, and target 2 for 1 MiB.', {})]);

// Bytes 4095 to 8194, and their blocks.
const byte = b => 40 + b / 12288 * 640;
here.draw('blocks', 720, 320, 'A range and its blocks',
  'The range from byte 4095 to 8194 touches the blocks that begin at 0, 4096 and 8192. All 12288 bytes are read, and 4099 of them are copied.', [
    range(3).map(k => rect(byte(k * 4096), 60, 640 / 3 - 4, 54, 'p')), range(4).map(k => text(byte(k * 4096), 44, k * 4096, { style: 'q', size: 20, at: k === 3 ? 'end' : 'start' })),
    rect(byte(4040), 60, byte(8250) - byte(4040), 54, 'a'), text(360, 96, 'the range', { style: 'o', at: 'middle' }),
    arrow(byte(2000), 150, byte(2000), 120, 'sw'), text(byte(2000), 178, 'read, not copied', { style: 'w', size: 20, at: 'middle' }),
    arrow(byte(10300), 150, byte(10300), 120, 'sw'), text(byte(10300), 178, 'read, not copied', { style: 'w', size: 20, at: 'middle' }),
    text(16, 236, 'Three blocks of 4096 bytes are read for 4099 bytes.'), text(16, 276, 'A large range has a block too many at most, at each end.', { style: 'q', size: 20 })]);
