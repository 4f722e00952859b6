// Records on the emulator what a lab's figures show, and keeps the small part of it that they need, beside them. Virtual
// time and counts are the same on every machine. It needs build/bin/ridge (RIDGE_BUILD_DIR names another build folder).
//
//   node figures/record.mjs NN_name [NAME...]          all recordings of labs/NN_name/figures/recordings.json
//
// A recording has a name, a task, the submission (`stub` or `solution`), and a kind. `warp` is the first request of each
// instruction of a kernel; the others are timelines with a row for each kind of work, stream, or rank.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json, ROOT } from './kit/album.mjs';
import { emulated } from './kit/exports.mjs';
import { byKind, byRank, byStream, compact, kernelsByRank } from './kit/trace.mjs';
import { requests } from './kit/warp.mjs';

const ROWS = { kinds: byKind, streams: byStream, ranks: byRank, 'kernels of ranks': kernelsByRank };
const [lab, ...names] = process.argv.slice(2);
const folder = join('labs', lab, 'figures');
for (const { name, task, submission, kind, kernel = '' } of json(join(folder, 'recordings.json'))) {
  if (names.length && !names.includes(name)) continue;
  const file = emulated(lab, task, join(submission === 'stub' ? 'labs' : 'solutions', lab), kind === 'warp' ? 'warp' : 'trace');
  const record = JSON.parse(readFileSync(file, 'utf8'));
  const kept = kind === 'warp' ? requests(record, kernel) : compact(record, ROWS[kind]);
  writeFileSync(join(ROOT, folder, `${name}.json`), `${JSON.stringify(kept)}\n`);
  console.log(`${folder}/${name}.json`);
}
