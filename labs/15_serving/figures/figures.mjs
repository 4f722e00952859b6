// Figures of lab 15: one query and its cache, pages, and who owns them.
import { album } from '../../../figures/kit/album.mjs';
import { arrow, box, dashed, frame, line, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

// One sequence, 8 KV heads: 8 blocks on 264 places, or 33 parts of each.
const PLACES = 264, COLUMNS = 33;
const places = (x, y, filled) => range(PLACES).map(i => rect(x + i % COLUMNS * 20, y + Math.floor(i / COLUMNS) * 16, 17, 13, i < filled ? 'a' : 'p'));
here.draw('split', 720, 450, 'Blocks of one sequence with eight KV heads',
  'An H200 holds 264 blocks of this kernel. One block for each KV head fills 8 of the places. With the tokens cut into 33 parts, all 264 are filled.', [
    text(16, 32, 'a block for each KV head: 8 of 264 places', { bold: true }), places(20, 50, 8),
    text(16, 232, 'tokens cut into 33 parts: 264 of 264', { bold: true }), places(20, 250, 264),
    text(16, 424, 'each part leaves o and log of its sum; the last block merges them', { style: 'q', size: 20 })]);

// Four query heads and one tile of keys.
here.draw('group', 720, 400, 'A tile of keys, read once for all heads of its group',
  'Four query heads share a KV head. A tile of 16 keys is read once. The product has 16 rows, of which four are heads and twelve are zeros; it takes 16 columns, the keys.', [
    text(16, 32, 'q: heads of a group', { bold: true, style: 'a' }), range(16).map(r => rect(16, 50 + r * 16, 150, 13, r < 4 ? 'a' : 'p')),
    text(176, 76, '4 heads', { size: 20, style: 'a' }), text(176, 210, '12 rows', { size: 20, style: 'q' }), text(176, 236, 'of zeros', { size: 20, style: 'q' }),
    text(290, 32, 'k: read once', { bold: true, style: 'g' }), range(16).map(c => rect(290 + c * 13, 50, 10, 150, 'g')), text(290, 232, '16 tokens x d', { size: 20, style: 'q' }),
    arrow(506, 130, 546, 130, 'st'),
    text(552, 32, 'scores', { bold: true, style: 'w' }), range(16).map(r => range(16).map(c => rect(552 + c * 9, 50 + r * 9, 7, 7, r < 4 ? 'w' : 'p'))),
    text(16, 346, 'A block for each query head would read the tile four times.'), text(16, 382, 'The rows of zeros cost tensor cores, which idle anyway.', { style: 'q' })]);

// Two sequences of 40 and 21 tokens behind their tables.
const TABLES = [['sequence 0: 40 tokens', [5, 1, 6], 40, 'a'], ['sequence 1: 21 tokens', [3, 0], 21, 'w']];
const owner = page => TABLES.find(([, pages]) => pages.includes(page));
here.draw('pages', 720, 430, 'Two sequences in a pool of eight pages',
  'Sequence 0 has 40 tokens in pages 5, 1 and 6; the last holds 8 of 16. Sequence 1 has 21 tokens in pages 3 and 0; the last holds 5. Pages 2, 4 and 7 are free.', [
    TABLES.map(([name, pages, , style], s) => [text(16, 36 + s * 76, name, { style }), text(330, 36 + s * 76, 'table', { style: 'q', size: 20 }),
      range(4).map(c => box(400 + c * 70, 8 + s * 76, 62, 44, pages[c] ?? '-1', c < pages.length ? style : 'p'))]),
    text(16, 196, 'pool', { bold: true }),
    range(8).map(p => { const x = 16 + p * 88, found = owner(p), used = found ? Math.min(16, found[2] - 16 * found[1].indexOf(p)) : 0;
      return [text(x + 40, 228, p, { at: 'middle', style: 'q', size: 20 }), range(16).map(i => rect(x + i % 4 * 20, 240 + Math.floor(i / 4) * 26, 17, 22, i < used ? found[3] : 'p'))]; }),
    text(16, 388, 'A square is a token. Only the last page of a sequence', { size: 20 }), text(16, 416, 'has empty places, 15 at most.', { size: 20 })]);

// A fork, and the first token after it.
const row = (y, name, pages, style) => [text(16, y + 30, name, { style }), pages.map(([p, mark], i) => box(200 + i * 80, y, 70, 44, p, mark))];
here.draw('fork', 720, 400, 'A fork, and copy on write',
  'After a fork, parent and child have the pages 4, 7 and 2, each with two owners. The child writes its next token: page 2, which is not full, is copied to page 9 first. Pages 4 and 7 stay shared.', [
    text(16, 32, 'after the fork', { bold: true }), row(50, 'parent', [[4, 'a'], [7, 'a'], [2, 'a']], 'a'), row(104, 'child', [[4, 'a'], [7, 'a'], [2, 'a']], 'w'),
    text(470, 80, 'two owners each', { style: 'q' }), text(470, 112, 'page 2 is half full', { style: 'q' }),
    text(16, 208, 'the child has a token more', { bold: true }), row(226, 'parent', [[4, 'a'], [7, 'a'], [2, 'g']], 'a'), row(280, 'child', [[4, 'a'], [7, 'a'], [9, 'w']], 'w'),
    text(470, 256, 'page 2: one owner', { style: 'q' }), text(470, 310, 'page 9: a copy', { style: 'q' }),
    text(16, 376, 'Full pages are never written again, so they stay shared.')]);

// The life of a page.
here.draw('life', 720, 380, 'The life of a page',
  'A free page is taken and has owners. When the last owner goes it rests until the kernels of the step have ended, then it is free again. While it rests or is free, a prompt that begins with its tokens can share it again.', [
    box(30, 60, 170, 70, 'free', 'p'), box(280, 60, 170, 70, 'owned', 'a'), box(530, 60, 170, 70, 'resting', 'w'),
    arrow(202, 82, 276, 82, 'st'), text(239, 50, 'taken', { at: 'middle', size: 20 }), arrow(452, 82, 526, 82, 'st'), text(489, 50, 'released', { at: 'middle', size: 20 }),
    line(615, 132, 615, 190, 'st', 3), line(615, 190, 115, 190, 'st', 3), arrow(115, 190, 115, 134, 'st'), text(365, 220, 'the step has ended', { at: 'middle', size: 20 }),
    arrow(526, 112, 452, 112, 'sg'), arrow(202, 112, 276, 112, 'sg'), text(239, 158, 'shared', { at: 'middle', size: 20, style: 'g' }), text(489, 158, 'again', { at: 'middle', size: 20, style: 'g' }),
    text(16, 290, 'A page keeps its tokens until it is taken. So the pool still finds it', { size: 20 }), text(16, 320, 'when it is free: the prompt of a preempted sequence, or a common', { size: 20 }), text(16, 350, 'beginning of many prompts, need not be computed again.', { size: 20 })]);

// A dozen requests, recorded with experiments/timeline.cu and the solution's batcher.
const LOOKS = { waits: 'p', prefill: 'w', decode: 'a', evicted: 'g' };
const spans = here.record('timeline').traceEvents.filter(e => e.ph === 'X'), until = Math.max(...spans.map(e => e.ts + e.dur));
const across = us => 70 + us / until * 634, evictions = spans.filter(e => e.name === 'evicted').length;
here.draw('timeline', 720, 520, 'Continuous batching of twelve requests',
  `A row a request, from its arrival to its last token, ${Math.round(until / 1000)} ms in all. Prefill of new requests runs beside the answers of others. The last request is evicted ${evictions} times and computed again.`, [
    Object.entries(LOOKS).map(([what, style], i) => [rect(16 + i * 150, 14, 26, 26, style), text(50 + i * 150, 35, what)]),
    range(12).map(r => text(16, 84 + r * 34, r, { style: 'q', size: 20 })),
    spans.map(e => rect(across(e.ts), 64 + e.tid * 34, Math.max(1.5, e.dur / until * 634), 26, LOOKS[e.name])),
    text(16, 506, `${Math.round(until / 1000)} ms of virtual time; a number is a request`, { style: 'q', size: 20 })]);

// Batches of a few steps, and the graphs that serve them.
const BATCHES = [3, 5, 9, 33, 17, 6], bucket = n => 2 ** Math.ceil(Math.log2(n));
here.draw('buckets', 720, 340, 'Batches and their buckets',
  `${BATCHES.map(n => `${n} sequences take the graph of ${bucket(n)} rows`).join('; ')}.`, [
    text(16, 30, 'step', { style: 'q', size: 20 }), text(16, 316, 'graph of', { style: 'q', size: 20 }),
    BATCHES.map((n, t) => { const x = 116 + t * 100, high = rows => rows * 3.4;
      return [text(x + 30, 30, t, { at: 'middle', style: 'q', size: 20 }), rect(x, 280 - high(bucket(n)), 60, high(bucket(n)), 'p'), rect(x, 280 - high(n), 60, high(n), 'a'),
        text(x + 30, 316, bucket(n), { at: 'middle', bold: true, style: BATCHES.slice(0, t).some(m => bucket(m) === bucket(n)) ? 'g' : 't' })]; }),
    rect(130, 56, 24, 24, 'a'), text(162, 76, 'active', { size: 20 }), rect(250, 56, 24, 24, 'p'), text(282, 76, 'for nothing', { size: 20 })]);

// p, q, what is accepted and what the residual adds.
const P = [0.5, 0.5], Q = [0.9, 0.1];
here.draw('residual', 720, 360, 'Accepted, and drawn from the residual',
  'Two tokens. The target has 0.5 and 0.5, the draft 0.9 and 0.1. Drafted and accepted are 0.5 and 0.1. The residual, drawn after a rejection, adds 0 and 0.4. The sum is the target.', [
    ['draft q', 'accepted', 'and the residual'].map((what, i) => text(16, 66 + i * 96, what, { size: 20 })),
    P.map((p, t) => { const x = 200 + t * 270, wide = v => v * 250;
      return [text(x, 30, `token ${t}`, { bold: true }), rect(x, 44, wide(Q[t]), 34, 'w'), text(x + wide(Q[t]) + 8, 68, Q[t], { size: 20 }),
        rect(x, 140, wide(Math.min(p, Q[t])), 34, 'a'), text(x + wide(Math.min(p, Q[t])) + 8, 164, Math.min(p, Q[t]), { size: 20 }),
        rect(x, 236, wide(Math.min(p, Q[t])), 34, 'a'), rect(x + wide(Math.min(p, Q[t])), 236, wide(Math.max(0, p - Q[t])), 34, 'g'), text(x + wide(p) + 8, 260, p, { size: 20, bold: true })]; }),
    text(16, 330, 'The last row is p. A second draw from p would give 0.7 and 0.3.', { style: 'q', size: 20 })]);
