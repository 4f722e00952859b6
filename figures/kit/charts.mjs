// Charts that several labs have: climbs, bars, rooflines, rows of a plan in time, schedules. All are 720 wide.
import { arrow, box, dashed, line, path, range, rect, text, wrap } from './svg.mjs';
import { json } from './album.mjs';

export const WIDTH = 720;
export const median = values => { const v = [...values].sort((a, b) => a - b); return (v[(v.length - 1) >> 1] + v[v.length >> 1]) / 2; };
const time = s => (s < 1e-3 ? `${(s * 1e6).toPrecision(3)} us` : `${(s * 1e3).toPrecision(3)} ms`);

// The speed of each step of a climb over the baseline's, a bar a step, with its idea above the bar.
export function climb(album, name, record, task, vendor) {
  const all = json(`benchmarks/h200/${record}.steps.json`);
  const steps = all.steps.filter(step => step.task === task && step.timing);
  const L = 16, R = 500, most = Math.max(1, ...steps.map(step => step.timing.ratio.median)), x = ratio => L + (R - L) * ratio / most;
  let y = 48;
  const bodies = steps.map((step, i) => {
    const ratio = step.timing.ratio.median, idea = wrap(step.idea, 54), at = y + idea.length * 25 + 8, end = Math.max(3, x(ratio) - L) + L;
    y = at + 46;
    return [idea.map((part, k) => text(L, at - 10 - (idea.length - 1 - k) * 25, part, { size: 20 })), rect(L, at, end - L, 32, i === steps.length - 1 ? 'a' : 'w'),
      line(x(1), at - 4, x(1), at + 36, 'st', 3), text(Math.max(end, Math.abs(end + 36 - x(1)) < 42 ? x(1) : 0) + 10, at + 24, ratio.toFixed(2), { size: 22, bold: true }), text(704, at + 24, time(median(step.timing.submission_s)), { style: 'q', at: 'end' })];
  });
  album.draw(name, WIDTH, y, `Speed of each step of ${task} over ${vendor}`,
    `${steps.map(step => `${step.idea}: ${step.timing.ratio.median.toFixed(2)}`).join('; ')}. Measured on an ${all.device.name}, ${steps[0].case}.`, [
      text(L, 30, `${task}: speed over ${vendor} (upright line), H200`, { size: 20, style: 'q' }), bodies]);
}

export function bars(album, name, title, desc, rows, most, head) {
  const L = 16, R = 470, pitch = 84, top = 44;
  album.draw(name, WIDTH, top + rows.length * pitch + 6, title, desc, [text(L, 30, head, { style: 'q', size: 20 }), rows.map(([what, value, label, more, style], i) => {
    const y = top + i * pitch, end = L + (R - L) * value / most;
    return [text(L, y + 26, what, { size: 22 }), rect(L, y + 36, end - L, 34, style), text(end + 12, y + 61, label, { bold: true }), text(704, y + 26, more, { at: 'end', style: 'q', size: 20 })];
  })]);
}

// A roofline with measured roofs and the steps of a climb: points from below to the roof they have.
export function roofline(album, name, record, task, unit) {
  const roofs = Object.fromEntries(json('benchmarks/h200/calibration.json').ceilings.map(c => [c.id, c.value]));
  const steps = json(`benchmarks/h200/${record}.steps.json`).steps.filter(step => step.task === task && step.timing);
  const points = steps.map(step => ({ intensity: step.timing.operations / step.timing.bytes, rate: step.timing.operations / median(step.timing.submission_s) }));
  const L = 76, R = 700, T = 20, B = 420, X = [0.5, 8000], Y = [3e11, 2e15];
  const x = v => L + (R - L) * Math.log(v / X[0]) / Math.log(X[1] / X[0]), y = v => B - (B - T) * Math.log(v / Y[0]) / Math.log(Y[1] / Y[0]);
  const peak = roofs[unit], ridge = peak / roofs.copy, at = points[0].intensity, style = unit === 'fp32' ? 'w' : 'a';
  const rates = points.map(p => p.rate / 1e12);
  album.draw(name, WIDTH, 490, `Roofline of an H200 with the climb of ${task}`,
    `The memory's roof rises at ${(roofs.copy / 1e12).toFixed(1)} TB/s to the ridge at ${ridge.toFixed(0)} operations a byte, where the roof of ${Math.round(peak / 1e12)} TFLOP/s begins. ${task} could do ${at.toFixed(at < 20 ? 1 : 0)} operations a byte; its steps reach ${rates.map(r => r.toFixed(1)).join(', ')} TFLOP/s.`, [
      [1, 10, 100, 1000].map(v => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, v, { style: 'q', size: 20, at: 'middle' })]),
      [[1e12, 1], [1e13, 10], [1e14, 100], [1e15, 1000]].map(([v, label]) => [line(L, y(v), R, y(v), 'sr', 1), text(L - 8, y(v) + 7, label, { style: 'q', size: 20, at: 'end' })]),
      path(`M${x(X[0]).toFixed(1)} ${y(X[0] * roofs.copy).toFixed(1)}L${x(ridge).toFixed(1)} ${y(peak).toFixed(1)}L${R} ${y(peak).toFixed(1)}`, `s${style}`, 4),
      dashed(x(ridge), y(peak), x(ridge), B, `s${style}`),
      text(L + 10, y(peak) + 8, `memory: ${(roofs.copy / 1e12).toFixed(1)} TB/s`, { size: 20 }),
      text(R, y(peak) - 12, `${unit === 'fp32' ? 'fp32 units' : 'tensor cores'}: ${Math.round(peak / 1e12)} TFLOP/s`, { style, size: 20, at: 'end' }),
      text(x(ridge) + (at > ridge && x(at) - x(ridge) < 150 ? -8 : 8), B - 60, `ridge ${ridge.toFixed(0)}`, { style, size: 20, at: at > ridge && x(at) - x(ridge) < 150 ? 'end' : 'start' }),
      dashed(x(at), y(Math.min(peak, at * roofs.copy)), x(at), B, 'sq'),
      points.map((p, i) => `<circle class="${i === points.length - 1 ? 'a' : 't'}" cx="${x(p.intensity).toFixed(1)}" cy="${y(p.rate).toFixed(1)}" r="7"/>`),
      text(x(at) + (x(at) > 480 ? -16 : 16), y(points.at(-1).rate) + (x(at) > 480 ? 26 : 26), `solution: ${rates.at(-1).toFixed(rates.at(-1) < 100 ? 1 : 0)}`, { size: 20, bold: true, style: 'a', at: x(at) > 480 ? 'end' : 'start' }),
      text(x(at) + (x(at) > 480 ? -16 : 16), y(points[0].rate) + 7, `first step: ${rates[0].toFixed(1)}`, { size: 20, at: x(at) > 480 ? 'end' : 'start' }),
      text(R, B + 56, 'operations a byte of memory', { style: 'q', size: 20, at: 'end' }), text(16, B + 56, 'TFLOP/s', { style: 'q', size: 20 })]);
}

// A roofline of work that memory, or a link, limits. `roof` and `peak` are [B/s or operations/s, text]. A group is work
// with `at` operations a byte: `rates` are its operations a second, the last one marked if it is a climb; `labels` are
// [rate's index, text, lower by]. The ridge has a number where the roof is the course's, that of a copy.
export function slope(album, name, title, desc, { roof, peak, X, Y, axis, up = 'TFLOP/s', groups, climb = true, named = true }) {
  const L = 90, R = 700, T = 20, B = 420, x = v => L + (R - L) * Math.log(v / X[0]) / Math.log(X[1] / X[0]), y = v => B - (B - T) * Math.log(v / Y[0]) / Math.log(Y[1] / Y[0]);
  const [rise, riseName] = roof, [flat, flatName] = peak, ridge = flat / rise;
  // A label hides the lines under it.
  const label = (px, py, what, options = {}) => { const wide = what.length * (options.bold ? 12.4 : 11.4); return rect(options.at === 'end' ? px - wide : px, py - 19, wide, 25, 'page') + text(px, py, what, { size: 20, ...options }); };
  const powers = ([low, high]) => range(40).map(e => 10 ** (e - 20)).filter(v => v >= low * 0.999 && v <= high);
  const from = Math.max(X[0], Y[0] / rise);
  album.draw(name, WIDTH, 490, title, `${desc} The slanted roof is ${riseName}; where the roofs meet${named ? `, at ${ridge.toFixed(0)} operations a byte` : ''}, ${flatName} begins.`, [
    powers(X).map(v => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, v < 1 ? +v.toFixed(6) : Math.round(v), { style: 'q', size: 20, at: 'middle' })]),
    powers(Y.map(v => v / 1e12)).map(v => [line(L, y(v * 1e12), R, y(v * 1e12), 'sr', 1), text(L - 8, y(v * 1e12) + 7, v < 1 ? +v.toFixed(6) : Math.round(v), { style: 'q', size: 20, at: 'end' })]),
    path(`M${x(from).toFixed(1)} ${y(from * rise).toFixed(1)}L${x(ridge).toFixed(1)} ${y(flat).toFixed(1)}L${R} ${y(flat).toFixed(1)}`, 'sw', 4), dashed(x(ridge), y(flat), x(ridge), B, 'sw'),
    label(L + 10, y(flat) + 8, riseName), label(R, y(flat) - 12, flatName, { at: 'end', style: 'w' }),
    groups.map(({ at }) => dashed(x(at), y(Math.min(flat, at * rise)), x(at), B, 'sq')), label(x(ridge) - 8, B - 12, named ? `ridge ${ridge.toFixed(0)}` : 'ridge', { at: 'end', style: 'w' }),
    groups.map(({ at, rates, labels }) => [
      rates.map((rate, i) => `<circle class="${climb && i < rates.length - 1 ? 't' : 'a'}" cx="${x(at).toFixed(1)}" cy="${y(rate).toFixed(1)}" r="7"/>`),
      labels.map(([i, what, down = 7]) => label(x(at) + 16, y(rates[i]) + down, what, { bold: climb && i === rates.length - 1, style: climb && i < rates.length - 1 ? 't' : 'a' }))]),
    text(R, B + 56, axis, { style: 'q', size: 20, at: 'end' }), text(16, B + 56, up, { style: 'q', size: 20 })]);
}
export const calibrated = machine => Object.fromEntries(json(`benchmarks/${machine}/calibration.json`).ceilings.map(c => [c.id, c.value]));
// The rates of a recorded climb, and its operations a byte of memory.
export const climbed = (record, task) => {
  const steps = json(`benchmarks/h200/${record}.steps.json`).steps.filter(step => step.task === task && step.timing).map(step => step.timing);
  return { at: steps[0].operations / steps[0].bytes, rates: steps.map(t => t.operations / median(t.submission_s)), bytes: steps.map(t => t.bytes / median(t.submission_s)) };
};

// A row of a plan in time: [from, to, what, style] a part.
export const lane = (y, name, parts, { scale = 60, left = 130, high = 42, size = 20 } = {}) => [name && text(left - 12, y + high / 2 + 7, name, { size, at: 'end', style: 'q' }),
  parts.map(([from, to, what, style]) => box(left + from * scale, y, (to - from) * scale - 3, high, what, style, { size }))];

// A schedule of a pipeline; a column is the time of a forward: `3` forward of micro-batch 3, `3-` its backward, `.` idle,
// letters the micro-batches of a second chunk. Returns boxes with the columns that they take.
export const parse = row => {
  const steps = [];
  for (let i = 0, at = 0; i < row.length; i += 1) {
    if (row[i] === '.') { steps.push({ at, long: 1, idle: true }); at += 1; continue; }
    const back = row[i + 1] === '-', second = /[a-z]/.test(row[i]), long = back ? 2 : 1;
    steps.push({ at, long, back, second, label: second ? 'abcdefgh'.indexOf(row[i]) : Number(row[i]) });
    at += long;
    if (back) i += 1;
  }
  return steps;
};

// A schedule, which appears in `seconds` if that is given; its still frame is the whole schedule.
export function schedule(album, name, title, desc, rows, { seconds = 0 } = {}) {
  const columns = Math.max(...rows.map(row => parse(row).reduce((sum, step) => sum + step.long, 0)));
  const left = 30, column = (WIDTH - left - 6) / columns, high = 64, top = 36, bottom = top + rows.length * high;
  const wide = column >= 19; // room for numbers
  const body = rows.map((row, rank) => [text(6, top + rank * high + 36, rank, { style: 'q', size: 20 }), parse(row).map(step => {
    const x = left + step.at * column, y = top + rank * high;
    if (step.idle) return rect(x, y, column - 1.5, high - 8, 'p', 'fill-opacity=".4"');
    const fill = rect(x, y, step.long * column - 1.5, high - 8, step.back ? 'w' : step.second ? 'g' : 'a', 'rx="3"');
    return fill + (wide ? text(x + (step.long * column - 1.5) / 2, y + 36, step.label, { style: 'o', size: 20, at: 'middle' }) : '');
  })]);
  const idle = rows.reduce((sum, row) => sum + parse(row).filter(step => step.idle).length, 0) / (rows.length * columns);
  const second = rows.some(row => /[a-z]/.test(row));
  const total = seconds + 3, end = 100 * seconds / total, far = `transform:translateX(${Math.round(columns * column)}px)`;
  // A cover moves to the right, and a line with it; then the whole schedule stays for three seconds.
  const style = seconds ? `@media (prefers-reduced-motion:no-preference){.sweep{animation:sweep ${total}s linear infinite}
@keyframes sweep{0%{transform:none;opacity:1}${end.toFixed(1)}%{${far};opacity:1}${(end + 0.1).toFixed(1)}%,100%{${far};opacity:0}}}` : '';
  album.draw(name, WIDTH, bottom + 70, title, `${desc} ${Math.round(idle * 100)}% of all columns are idle.`, [
    text(left, 24, 'time: a column is a forward', { style: 'q', size: 20 }), text(704, 24, `idle: ${Math.round(idle * 100)}%`, { size: 20, at: 'end', bold: true }), body,
    seconds ? `<g class="sweep" opacity="0">${rect(left, top - 2, WIDTH, bottom - top, 'page', 'fill-opacity=".86"')}${line(left, top - 6, left, bottom, 'st', 3)}</g>` : '',
    rect(left, bottom + 20, 30, 26, 'a', 'rx="3"'), text(left + 38, bottom + 40, 'forward', { size: 20 }),
    second ? [rect(170, bottom + 20, 30, 26, 'g', 'rx="3"'), text(208, bottom + 40, 'second chunk', { size: 20 })] : '',
    rect(second ? 372 : 200, bottom + 20, 46, 26, 'w', 'rx="3"'), text(second ? 426 : 254, bottom + 40, 'backward', { size: 20 }),
    rect(second ? 556 : 400, bottom + 20, 24, 26, 'p', 'fill-opacity=".4"'), text(second ? 588 : 432, bottom + 40, 'idle', { size: 20 })], style);
}
export { arrow };
