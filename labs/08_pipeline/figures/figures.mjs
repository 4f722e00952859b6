// Figures of lab 08: schedules of a pipeline.
import { album } from '../../../figures/kit/album.mjs';
import { schedule } from '../../../figures/kit/charts.mjs';
import { emulated, exported } from '../../../figures/kit/exports.mjs';
import { timeline } from '../../../figures/kit/trace.mjs';
import { rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

schedule(here, 'one_batch', 'One batch on four ranks', 'The batch passes the four ranks one after the other, forward and back, so one rank works and three wait.',
  ['0..........0-', '.0.......0-..', '..0....0-....', '...00-.......'], { seconds: 6 });
schedule(here, 'gpipe', 'GPipe with 4 ranks and 8 micro-batches', 'All forwards run first, then all backwards. Rank 3 starts three columns late, and rank 0 waits in the middle.',
  ['01234567.........0-1-2-3-4-5-6-7-', '.01234567......0-1-2-3-4-5-6-7-..', '..01234567...0-1-2-3-4-5-6-7-....', '...012345670-1-2-3-4-5-6-7-......'], { seconds: 10 });
schedule(here, 'one_f_one_b', '1F1B with 4 ranks and 8 micro-batches', 'Rank 3 runs a backward after each forward; the ranks before it begin with 3, 2 and 1 forwards more. The same 33 columns, but at most 4 micro-batches in flight.',
  ['0123......0-41-52-63-74-.5-.6-.7-', '.012....0-31-42-53-64-75-.6-.7-..', '..01..0-21-32-43-54-65-76-.7-....', '...00-11-22-33-44-55-66-77-......'], { seconds: 10 });
schedule(here, 'interleaved', 'Interleaved 1F1B with 4 ranks, 8 micro-batches and 2 chunks', 'Each rank has two parts of the model, so the last rank starts after three parts of half the length, and less time is idle.',
  ['0123abcd456...a-7b-.ec-fd-g0-h1-2-.3-.e-.f-.g-.h-4-5-6-7-', '.0123abcd4..a-5b-6c-7d-e0-f1-g2-h3-.e-.f-.g-.h-4-5-6-7-..', '..0123abc.a-db-4c-5d-60-71-e2-f3-ge-hf-.g-.h-4-5-6-7-....', '...0123aa-bb-cc-dd-40-51-62-73-ee-ff-gg-hh-4-5-6-7-......'], { seconds: 10 });

const FLIGHT = [['GPipe', [8, 8, 8, 8], 'w'], ['1F1B', [4, 3, 2, 1], 'a'], ['interleaved', [5.5, 4.5, 3.5, 2.5], 'g']];
here.draw('in_flight', 720, 340, 'Activations in flight on each rank, in stages',
  `p = 4, m = 8. ${FLIGHT.map(([name, counts]) => `${name}: ${counts.join(', ')} on ranks 0 to 3`).join('; ')}.`, FLIGHT.map(([name, counts, style], k) => [text(16 + k * 240, 32, name, { size: 24, bold: true, style }),
    counts.map((count, r) => [rect(16 + k * 240 + r * 54, 290 - count * 26, 46, count * 26, style), text(39 + k * 240 + r * 54, 282 - count * 26, count, { size: 20, at: 'middle', bold: true }), text(39 + k * 240 + r * 54, 320, r, { size: 20, style: 'q', at: 'middle' })])]));

const gpipe = here.record('gpipe_solution'), interleaved = here.record('interleaved_solution');
timeline(here, 'trace_schedules', 'Kernels of four emulated ranks: GPipe and interleaved 1F1B',
  `Recorded on the emulator, four ranks and eight micro-batches. With GPipe the first rank waits between its forwards and its backwards; the step takes ${Math.round(gpipe.us)} us. Interleaved with three chunks a rank it takes ${Math.round(interleaved.us)} us.`,
  [{ head: 'solution of gpipe', record: gpipe }, { head: 'solution of interleaved, 3 chunks a rank', record: interleaved }], { order: [0, 1, 2, 3].map(r => `rank ${r}`) });

exported(here, 'timeline_1f1b', 'The visualizer\'s view of 1F1B on two H200s: kernels, transfers, exposed transfers.', '1000x330', '1.9', '--set', 'mode=overlap', 'benchmarks/training/h200x2/pipeline_1f1b.trace.json');
exported(here, 'timeline_schedule', 'The visualizer\'s view of 1F1B on four emulated ranks, as measured and with transfers that take no time.', '1000x440', '1.25', '--set', 'mode=pipeline', () => emulated('08_pipeline', 'one_f_one_b', 'solutions/08_pipeline'));
