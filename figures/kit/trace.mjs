// Timelines of the emulator's records, in virtual time: the same on every machine. A record is made small once
// (figures/record.mjs) and kept beside the figures, so that drawing needs no build.
import { line, range, rect, text } from './svg.mjs';
import { WIDTH } from './charts.mjs';

const STYLES = { host: 'q', h2d: 'w', d2h: 'g', kernel: 'a', graph: 'a', exchange: 'w' };
const ROWS = { host: 'host', h2d: 'copy in', d2h: 'copy out', kernel: 'kernels', graph: 'kernels', exchange: 'transfers' };

// Rows of a Chrome trace: { label, style, spans: [[start, duration], ...] } with times in microseconds. `by` names the row
// of an event, or nothing where the event is not shown.
export function compact(trace, by) {
  const threads = new Map(trace.traceEvents.filter(e => e.ph === 'M' && e.name === 'thread_name').map(e => [`${e.pid}.${e.tid}`, e.args.name]));
  const rows = new Map();
  for (const e of trace.traceEvents) {
    if (e.ph !== 'X') continue;
    const label = by(e, threads.get(`${e.pid}.${e.tid}`) ?? '');
    if (!label) continue;
    if (!rows.has(label)) rows.set(label, { label, style: STYLES[e.cat] ?? 'p', spans: [] });
    rows.get(label).spans.push([e.ts, e.dur]);
  }
  const all = [...rows.values()].sort((a, b) => a.label.localeCompare(b.label));
  const us = Math.max(...all.flatMap(row => row.spans.map(([from, long]) => from + long)));
  for (const row of all) {
    // Rows of very many kernels: gaps that no picture can show are left out.
    const least = row.spans.length > 200 ? us / 1500 : -1;
    row.spans = row.spans.sort((a, b) => a[0] - b[0]).reduce((kept, [from, long]) => {
      const last = kept.at(-1);
      if (last && from - last[0] - last[1] < least) last[1] = Math.max(last[1], from + long - last[0]);
      else kept.push([from, long]);
      return kept;
    }, []).map(span => span.map(v => Math.round(v * 10) / 10));
  }
  return { us: Math.round(us * 10) / 10, rows: all };
}
const shown = e => !/judge/.test(e.name) && ROWS[e.cat];
export const byKind = e => (e.pid === 0 && shown(e) ? ROWS[e.cat] : null);
export const byStream = (e, thread) => (shown(e) ? (e.cat === 'host' ? 'host' : thread) : null);
export const byRank = e => (shown(e) && e.cat !== 'host' ? `${e.pid} ${ROWS[e.cat]}` : null);
export const kernelsByRank = e => (shown(e) && e.cat === 'kernel' ? `rank ${e.pid}` : null);

// Panels one below the other on one axis: { head, record }.
export function timeline(album, name, title, desc, panels, { high = 34, order } = {}) {
  const left = 118, R = 704, most = Math.max(...panels.map(p => p.record.us)), x = us => left + (R - left) * us / most;
  let y = 0;
  const body = panels.map(({ head, record }) => {
    const rows = order ? order.map(label => record.rows.find(row => row.label === label)).filter(Boolean) : record.rows;
    const parts = [text(6, y + 30, head, { bold: true }), text(R, y + 30, `${Math.round(record.us)} us`, { at: 'end', bold: true })];
    y += 44;
    for (const row of rows) {
      parts.push(text(left - 10, y + high / 2 + 5, row.label, { style: 'q', size: 20, at: 'end' }), line(left, y + high - 4, R, y + high - 4, 'sr', 1),
        row.spans.map(([from, long]) => rect(x(from), y, Math.max(1, x(from + long) - x(from) - (x(from + long) - x(from) > 5 ? 1.5 : 0)), high - 5, row.style)));
      y += high;
    }
    y += 18;
    return parts;
  });
  const step = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find(s => most / s <= 6) ?? 10000;
  const axis = range(Math.floor(most / step) + 1).map(i => [line(x(i * step), y - 10, x(i * step), y - 2, 'sq', 2),
    text(x(i * step), y + 20, i * step, { style: 'q', size: 20, at: x(i * step) > R - 20 ? 'end' : 'middle' })]);
  album.draw(name, WIDTH, y + 58, title, desc, [body, axis, text(R, y + 48, 'us of virtual time, SIMT emulator, profile H200', { style: 'q', size: 20, at: 'end' })]);
}
