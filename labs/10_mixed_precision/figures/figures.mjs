// Figures of lab 10: what 16 bits hold.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { album, json, ROOT } from '../../../figures/kit/album.mjs';
import { calibrated, median, slope } from '../../../figures/kit/charts.mjs';
import { arrow, line, path, range, rect, text } from '../../../figures/kit/svg.mjs';

const here = album(import.meta.url);

const FORMATS = [['fp32', 8, 23, '3.4e38', '2^-23'], ['tf32', 8, 10, '3.4e38', '2^-10'], ['bf16', 8, 7, '3.4e38', '2^-7'], ['fp16', 5, 10, '65504', '2^-10'], ['e4m3', 4, 3, '448', '2^-3'], ['e5m2', 5, 2, '57344', '2^-2']];
here.draw('formats', 720, 560, 'Sign, exponent and fraction of six formats',
  FORMATS.map(([name, e, f, most, epsilon]) => `${name}: 1, ${e} and ${f} bits, largest ${most}, next after 1 at a distance of ${epsilon}`).join('; ') + '.', [
    text(16, 32, 'sign', { size: 20, style: 'q' }), text(90, 32, 'exponent: range', { size: 20, style: 'w', bold: true }), text(320, 32, 'fraction: precision', { size: 20, style: 'a', bold: true }),
    FORMATS.map(([name, e, f, most, epsilon], i) => { const y = 50 + i * 84; return [text(16, y + 24, name, { bold: true, mono: true }), text(110, y + 24, `largest ${most}`, { style: 'q', size: 20 }), text(704, y + 24, `next after 1: ${epsilon}`, { at: 'end', style: 'q', size: 20 }),
      range(1 + e + f).map(b => rect(16 + b * 21.5, y + 34, 19, 36, b === 0 ? 'q' : b <= e ? 'w' : 'a'))]; })]);

const round = (v, bits) => { if (v === 0) return 0; const unit = 2 ** (Math.floor(Math.log2(v)) - bits), q = v / unit, low = Math.floor(q), rest = q - low; return (rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low) * unit; };
here.draw('swamping', 720, 500, 'A sum of ones in bf16 stops at 256',
  'Added in fp32, the sum of n ones is n. Added in bf16 it grows to 256 and then stays there, since 257 is halfway between 256 and 258 and the tie goes to 256.', (() => {
    const L = 66, R = 704, T = 16, B = 400, n = 640, x = i => L + (R - L) * i / n, y = v => B - (B - T) * v / n;
    let sum = 0;
    const chain = range(n + 1).map(i => { if (i) sum = round(sum + 1, 7); return `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(sum).toFixed(1)}`; });
    return [[0, 256, 512].map(v => [line(L, y(v), R, y(v), 'sr', 1), text(L - 10, y(v) + 7, v, { size: 20, style: 'q', at: 'end' }), text(x(v), B + 28, v, { size: 20, style: 'q', at: 'middle' })]),
      path(`M${x(0)} ${y(0)}L${x(n)} ${y(n)}`, 'sa', 4), path(chain.join(''), 'sw', 5), text(x(380), y(560), 'added in fp32', { style: 'a', bold: true, at: 'end' }), text(x(n), y(256) - 14, 'added in bf16', { style: 'w', bold: true, at: 'end' }),
      text(x(n), y(256) + 34, '256 + 1 = 257 is a tie: 256', { size: 20, at: 'end' }), text(R, B + 62, 'ones added', { size: 20, style: 'q', at: 'end' })];
  })());

// Shares from the lesson: a small GPT after 40 steps, mean over 64 tokens.
here.draw('loss_scale', 720, 480, 'Gradients lie at the low end of the range of fp16; a scale moves them',
  'The gradients of a mean over 2^19 tokens lie below 2^-20, where fp16 has few bits or rounds to 0. Multiplied by 2^16 they lie where fp16 has all its bits.', (() => {
    const L = 14, R = 706, T = 56, B = 310, X = [-38, 18], x = e => L + (R - L) * (e - X[0]) / (X[1] - X[0]);
    const shares = [[-22, 0.64], [-18, 8.22], [-14, 20.91], [-10, 65.08], [-6, 4.84]]; // middle of four powers of two, percent
    const bar = (shift, style) => shares.map(([e, share]) => rect(x(e + shift - 2) + 1, B - share * 3.4, x(4) - x(0) - 2, share * 3.4, style));
    return [rect(x(-14), T, x(16) - x(-14), B - T, 'a', 'fill-opacity=".16"'), rect(x(-24), T, x(-14) - x(-24), B - T, 'w', 'fill-opacity=".16"'),
      text(x(1), T - 16, 'fp16: all 11 bits', { style: 'a', at: 'middle' }), text(x(-19), T - 16, 'fewer', { style: 'w', at: 'middle' }), text(x(-31), T - 16, 'becomes 0', { style: 'q', at: 'middle' }),
      bar(-13, 'w'), bar(3, 'a'), arrow(x(-23), 390, x(-7), 390, 'st', 4), text(x(-15), 376, 'times 2^16', { at: 'middle', bold: true }), line(L, B, R, B, 'sq', 2),
      text(14, 440, 'a mean over 2^19 tokens', { style: 'w' }), text(706, 440, 'the same, scaled', { style: 'a', at: 'end' }),
      [-34, -24, -14, 0, 15].map(e => [text(x(e), B + 32, `2^${e}`, { size: 20, style: 'q', at: 'middle' }), line(x(e), B, x(e), B + 8, 'sq', 2)])];
  })());

// A bf16 between two neighbours: to nearest, and by chance.
here.draw('stochastic', 720, 390, 'Rounding to nearest and stochastic rounding of a small update',
  'A weight of 1 gets four updates of a quarter of the distance to the next number. Rounded to nearest each update is lost. Rounded up with a probability of a quarter, one of four goes up, and the mean is right.', [
    [['to nearest: each update is lost', [0, 0, 0, 0], 'w'], ['by chance: one of four goes up', [0, 0, 1, 0], 'a']].map(([head, ups, style], i) => {
      const y = i * 190, seen = range(5).map(k => ups.slice(0, k).reduce((a, b) => a + b, 0));
      return [text(16, y + 32, head, { bold: true, style }), line(120, y + 60, 700, y + 60, 'sr', 2), line(120, y + 130, 700, y + 130, 'sr', 2), text(108, y + 67, 'next', { at: 'end', style: 'q', size: 20 }), text(108, y + 137, 'weight', { at: 'end', style: 'q', size: 20 }),
        path(`M150 ${y + 130}L670 ${y + 60}`, 'sg', 2, 'stroke-dasharray="6 6"'), seen.map((v, k) => `<circle class="${style}" cx="${150 + k * 130}" cy="${y + 130 - v * 70}" r="10"/>`), range(4).map(k => line(160 + k * 130, y + 130 - seen[k] * 70, 270 + k * 130, y + 130 - seen[k + 1] * 70, `s${style}`, 3))];
    }), text(704, 372, 'dashed: the exact sum; a point is a step', { style: 'q', size: 20, at: 'end' })]);

here.draw('losses', 720, 520, 'Loss of GPT-2 124M over 155 updates in four formats',
  'fp32, bf16 and fp16 with a loss scale follow one curve to 1.749. fp16 alone lags behind and ends at 1.772.', () => {
    const kinds = [['fp32', 'sq', 'q', 8, 'fp32'], ['bf16', 'sa', 'a', 3, 'bf16'], ['fp16_scaled', 'sg', 'g', 3, 'fp16 with a loss scale'], ['fp16_unscaled', 'sw', 'w', 4, 'fp16 alone']];
    const curves = kinds.map(([name]) => readFileSync(join(ROOT, `benchmarks/training/h200x2/losses_${name}.txt`), 'utf8').trim().split('\n').map(Number));
    const L = 50, R = 700, T = 20, B = 440, count = Math.max(...curves.map(c => c.length)), x = i => L + (R - L) * i / (count - 1), y = v => B - (B - T) * (v - 1.5) / 4.5;
    return [[2, 3, 4, 5, 6].map(v => [line(L, y(v), R, y(v), 'sr', 1), text(L - 12, y(v) + 7, v, { style: 'q', size: 20, at: 'end' })]), [0, 50, 100, count - 1].map(i => text(x(i), B + 28, i, { style: 'q', size: 20, at: i > 120 ? 'end' : 'middle' })), text(R, B + 62, 'updates', { style: 'q', size: 20, at: 'end' }),
      curves.map((curve, k) => path(curve.map((v, i) => [i, v]).filter(([, v]) => v <= 6).map(([i, v], j) => `${j ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join(''), kinds[k][1], kinds[k][3])),
      kinds.map(([,, fill,, name], k) => text(R - 6, y(4.9) + 32 * k, `${name}: ${curves[k].at(-1).toFixed(3)}`, { style: fill, at: 'end' }))];
  });

// The lab's record is of an H100, so its roofs are.
{
  const roofs = calibrated('h100'), TB = v => `${(v / 1e12).toFixed(2)} TB/s`;
  const tasks = json('benchmarks/h100/10_mixed_precision.json').tasks.filter(t => t.timing).map(({ id, timing: { operations, bytes, submission_s } }) => ({ id, at: operations / bytes, rate: operations / median(submission_s), moved: TB(bytes / median(submission_s)) }));
  const group = (names, down = 30) => { const mine = tasks.filter(t => names.includes(t.id)).sort((a, b) => b.at - a.at); return { at: mine[0].at, rates: mine.map(t => t.rate), labels: mine.map((t, i) => [i, `${t.id}: ${t.moved}`, down + 30 * i]) }; };
  slope(here, 'roofline_updates', 'Roofline of an H100 with the kernels of this lab',
    `Each kernel does less than one operation a byte, far left of the ridge: ${tasks.map(t => `${t.id} ${t.at.toFixed(2)} operations a byte, ${t.moved}`).join('; ')}.`, {
      roof: [roofs.read, `reads: ${TB(roofs.read)}`], peak: [roofs.fp32, `fp32 units: ${(roofs.fp32 / 1e12).toFixed(1)}`], X: [0.05, 30], Y: [5e9, 2e14], axis: 'operations a byte of memory', named: false, climb: false,
      groups: [group(['stochastic'], 66), group(['sum', 'adamw', 'loss_scaler'])] });
}
