// Figures of lab 05: three workers, and who waits for whom.
import { album } from '../../../figures/kit/album.mjs';
import { calibrated, climb, climbed, lane, slope } from '../../../figures/kit/charts.mjs';
import { emulated, exported } from '../../../figures/kit/exports.mjs';
import { timeline } from '../../../figures/kit/trace.mjs';
import { arrow, box, line, range, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url), stub = task => here.record(`${task}_stub`), solution = task => here.record(`${task}_solution`);
const chunks = (y, name, first, style) => lane(y, name, range(6).map(i => [first + i * 0.5, first + (i + 1) * 0.5, i, style]), { scale: 64 });

here.draw('three_workers', 720, 430, 'Copy in, compute and copy out, one after the other and in chunks',
  'In one stream three stages of T take 3 T. With six chunks in three streams all three workers are busy at once, and the whole takes T + 2 T / 6, and a fixed cost for each copy.', [
    text(16, 30, 'one stream', { size: 24, bold: true }),
    lane(46, 'copy in', [[0, 3, '', 'w']], { scale: 64 }), lane(94, 'compute', [[3, 6, '', 'a']], { scale: 64 }), lane(142, 'copy out', [[6, 9, '', 'g']], { scale: 64 }),
    text(16, 234, 'six chunks in three streams', { size: 24, bold: true }), chunks(250, 'copy in', 0, 'w'), chunks(298, 'compute', 0.5, 'a'), chunks(346, 'copy out', 1, 'g'),
    line(130 + 4 * 64, 244, 130 + 4 * 64, 396, 'st', 3), text(402, 318, 'T + 2 T / k, and a', {}), text(402, 346, 'fixed cost a copy', {})]);

here.draw('fork_join', 720, 360, 'One kernel, four branches of two, one kernel',
  'prepare runs first, then four branches of two kernels refine, then join. An arrow from one stream to another is an event.', [
    box(10, 146, 120, 60, 'prepare', 'a'), box(610, 146, 100, 60, 'join', 'a'),
    range(4).map(i => [box(200, 14 + i * 88, 150, 58, `refine(${i})`, 'g'), box(400, 14 + i * 88, 150, 58, `refine(${i})`, 'g'), arrow(130, 176, 196, 43 + i * 88, i ? 'sw' : 'sa'), arrow(350, 43 + i * 88, 396, 43 + i * 88, 'sq'), arrow(550, 43 + i * 88, 606, 176, i ? 'sw' : 'sa')])]);

here.draw('launches', 720, 400, 'Small kernels wait for the host; in a graph they wait only for one another',
  '17 launches cost the host 2.9 us each, longer than a kernel runs, so the GPU waits between kernels. One launch of a graph costs 4 us, and its nodes follow each other within 0.5 us.', [
    text(16, 30, 'launches: the host needs 2.9 us for each', { size: 24, bold: true }),
    lane(48, 'host', range(8).map(i => [i * 1.2, i * 1.2 + 1.17, i, 'w'])), lane(100, 'GPU', range(7).map(i => [1.2 + i * 1.2, 1.2 + i * 1.2 + 0.5, i, 'a'])),
    text(16, 220, 'a graph: 4 us for the host, then 0.5 us a node', { size: 24, bold: true }),
    lane(238, 'host', [[0, 1.6, 'launch', 'w']]), lane(290, 'GPU', range(15).map(i => [1.6 + i * 0.53, 1.6 + i * 0.53 + 0.5, i, 'a']), { size: 20 }),
    text(130, 376, 'a number is a kernel; time runs to the right', { style: 'q', size: 20 })]);

timeline(here, 'trace_pipeline', 'Timeline of pipeline: the stub and the solution',
  `Recorded on the emulator. The stub copies in, computes and copies out in turn: ${Math.round(stub('pipeline').us)} us. The solution cuts the data into 15 chunks in three streams, so that both directions of the link are busy at once: ${Math.round(solution('pipeline').us)} us.`,
  [{ head: 'stub: one stream', record: stub('pipeline') }, { head: 'solution: 15 chunks in three streams', record: solution('pipeline') }], { order: ['host', 'copy in', 'kernels', 'copy out'] });
timeline(here, 'trace_fork_join', 'Timeline of fork_join: the stub and the solution',
  `Recorded on the emulator. In one stream eight kernels run in a row: ${Math.round(stub('fork_join').us)} us. In four streams the branches run side by side, each a little later because the host launches them in turn: ${Math.round(solution('fork_join').us)} us.`,
  [{ head: 'stub: one stream', record: stub('fork_join') }, { head: 'solution: four streams', record: solution('fork_join') }]);
timeline(here, 'trace_decode', 'Timeline of decode: the stub and the solution',
  `Recorded on the emulator, six steps of 17 kernels. The stub's kernels wait for the host, which launches without a pause: ${Math.round(stub('decode').us)} us. The solution launches a graph for each step: ${Math.round(solution('decode').us)} us.`,
  [{ head: 'stub: single launches', record: stub('decode') }, { head: 'solution: a graph a step', record: solution('decode') }]);

climb(here, 'climb_pipeline', '05_streams_graphs', 'pipeline', 'its longest stage alone');
climb(here, 'climb_decode', '05_streams_graphs', 'decode', 'single launches');
exported(here, 'timeline_pipeline', 'The visualizer\'s timeline of the solution of pipeline on the emulator.', '1000x330', '1.9', () => emulated('05_streams_graphs', 'pipeline', 'solutions/05_streams_graphs'));
exported(here, 'timeline_fork_join', 'The visualizer\'s timeline of the solution of fork_join on the emulator.', '1000x330', '1.9', () => emulated('05_streams_graphs', 'fork_join', 'solutions/05_streams_graphs'));

// The link's roofline: of the 16 bytes that the record counts for an element, 8 cross the link.
{
  const roofs = calibrated('h200'), { at, rates } = climbed('05_streams_graphs', 'pipeline'), link = roofs.h2d + roofs.d2h, speed = rates.map(r => (r / 1e12).toFixed(1));
  slope(here, 'roofline_link', 'Roofline of the link of an H200 with the climb of pipeline',
    `The kernel does ${(2 * at).toFixed(0)} operations for each byte that crosses the link, right of the ridge. The steps reach ${speed.join(', ')} TFLOP/s.`, {
      roof: [link, `link, both ways: ${(link / 1e9).toFixed(0)} GB/s`], peak: [roofs.fp32, `fp32 units: ${(roofs.fp32 / 1e12).toFixed(1)}`], X: [0.5, 60000], Y: [5e10, 2e14], axis: 'operations a byte of the link',
      groups: [{ at: 2 * at, rates, labels: [[rates.length - 1, `solution: ${speed.at(-1)}`, 16], [0, `one stream: ${speed[0]}`, 34]] }] });
}
