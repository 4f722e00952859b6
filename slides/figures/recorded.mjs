// Figures made from records. Climbs, the roofline of all labs and loss curves are drawn from the files of benchmarks/. The
// visualizer exports timelines and rooflines (this needs build/bin/ridge-viz, and build/bin/ridge records the emulator's).
//
//   node slides/figures/recorded.mjs [NAME...]          all without a name; `records`: all but the visualizer's
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FOLDER, line, path, rect, text, wrap, write } from './svg.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const wanted = process.argv.slice(2);
const json = name => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'ridge-figures-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const jobs = new Map();
const figure = (name, make, from = 'records') => jobs.set(name, { make, from });

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1];

// ---- climbs: the speed of each step over the baseline's, one bar a step
const time = s => (s < 1e-3 ? `${(s * 1e6).toPrecision(3)} us` : `${(s * 1e3).toPrecision(3)} ms`);
function climb(name, record, task, vendor) {
  figure(name, () => {
    const all = json(`benchmarks/h200/${record}.steps.json`);
    const steps = all.steps.filter(step => step.task === task && step.timing);
    const left = 560, right = 1000, top = 56, pitch = Math.min(62, 440 / steps.length);
    const most = Math.max(1, ...steps.map(step => step.timing.ratio.median));
    const x = ratio => left + (right - left) * ratio / most;
    const body = steps.map((step, i) => {
      const y = top + i * pitch, lines = wrap(step.idea, 46).slice(0, 2), high = pitch - 12, ratio = step.timing.ratio.median;
      return [lines.map((part, k) => text(left - 16, y + high / 2 + 6 + (k - (lines.length - 1) / 2) * 21, part, { size: 20, at: 'end' })),
        rect(left, y, Math.max(3, x(ratio) - left), high, i === steps.length - 1 ? 'a' : 'w'),
        text(Math.max(x(ratio), left) + 14, y + high / 2 + 8, ratio.toFixed(2), { size: 22, bold: true }),
        text(Math.max(x(ratio), left) + 76, y + high / 2 + 8, time(median(step.timing.submission_s)), { style: 'q', size: 22 })];
    });
    const bottom = top + steps.length * pitch;
    write(name, 1200, bottom + 8, `Speed of each step of ${task} over ${vendor}`, [
      text(1190, 30, `speed over ${vendor}, ${all.device.name}, ${steps[0].case}`, { style: 'q', size: 20, at: 'end' }),
      line(x(1), top - 8, x(1), bottom, 'sa', 2, 'stroke-dasharray="6 6"'), body]);
  });
}
climb('climb_stencil', '02_tiling', 'stencil', 'cudaMemcpy');
climb('climb_sgemm', '02_tiling', 'sgemm', 'cuBLAS');
climb('climb_reduce', '03_warp_shuffle', 'reduce', 'CUB');
climb('climb_scan', '03_warp_shuffle', 'scan', 'CUB');
climb('climb_wmma', '04_tensor_core', 'wmma_gemm', 'cuBLASLt');
climb('climb_gemm', '04_tensor_core', 'gemm', 'cuBLASLt');
climb('climb_pipeline', '05_streams_graphs', 'pipeline', 'its longest stage alone');
climb('climb_decode', '05_streams_graphs', 'decode', 'single launches');

// ---- the roofline of the course: the reference solutions on the measured roofs
figure('roofline_course', () => {
  const ceilings = Object.fromEntries(json('benchmarks/h200/calibration.json').ceilings.map(c => [c.id, c.value]));
  const X = [0.05, 8000], Y = [5e10, 2e15], L = 110, R = 1180, T = 20, B = 440;
  const x = v => L + (R - L) * Math.log(v / X[0]) / Math.log(X[1] / X[0]);
  const y = v => B - (B - T) * Math.log(v / Y[0]) / Math.log(Y[1] / Y[0]);
  const roof = (rate, style) => path(`M${x(X[0])} ${y(X[0] * ceilings.copy)}L${x(rate / ceilings.copy)} ${y(rate)}L${R} ${y(rate)}`, style, 4);
  const points = [['03_warp_shuffle', 'reduce', 'reduce'], ['02_tiling', 'stencil', 'stencil'], ['02_tiling', 'sgemm', 'sgemm'],
    ['04_tensor_core', 'wmma_gemm', 'wmma'], ['04_tensor_core', 'gemm', 'gemm']].map(([lab, task, name]) => {
    const { timing, timings = [timing] } = json(`benchmarks/h200/${lab}.json`).tasks.find(t => t.id === task);
    const t = timings.at(1) ?? timings[0];
    return { name, intensity: t.operations / t.bytes, rate: t.operations / t.slope_s };
  });
  const ridge32 = ceilings.fp32 / ceilings.copy, ridge16 = ceilings.bf16 / ceilings.copy;
  const grid = [0.1, 1, 10, 100, 1000].map(v => [line(x(v), T, x(v), B, 'sr', 1), text(x(v), B + 28, v, { style: 'q', size: 20, at: 'middle' })]);
  const rows = [[1e11, '0.1'], [1e12, '1'], [1e13, '10'], [1e14, '100'], [1e15, '1000']].map(([v, name]) => [line(L, y(v), R, y(v), 'sr', 1), text(L - 10, y(v) + 7, name, { style: 'q', size: 20, at: 'end' })]);
  write('roofline_course', 1200, 500, 'Roofline of an H200 with the solutions of labs 02 to 04', [grid, rows,
    roof(ceilings.bf16, 'sa'), roof(ceilings.fp32, 'sw'),
    text(x(0.075), y(0.45e12), `copy: ${(ceilings.copy / 1e12).toFixed(2)} TB/s`, { size: 22, more: `transform="rotate(-24 ${x(0.075)} ${y(0.45e12)})"` }),
    text(x(0.9), y(ceilings.bf16) - 6, `tensor cores, bf16: ${Math.round(ceilings.bf16 / 1e12)} TFLOP/s`, { style: 'a', size: 22 }),
    text(x(0.9), y(ceilings.fp32) - 10, `fp32 units: ${Math.round(ceilings.fp32 / 1e12)} TFLOP/s`, { style: 'w', size: 22 }),
    line(x(ridge32), y(ceilings.fp32), x(ridge32), B, 'sw', 2, 'stroke-dasharray="6 6"'), text(x(ridge32) + 8, B - 10, `ridge ${ridge32.toFixed(0)}`, { style: 'w', size: 20 }),
    line(x(ridge16), y(ceilings.bf16), x(ridge16), B, 'sa', 2, 'stroke-dasharray="6 6"'), text(x(ridge16) + 8, B - 10, `ridge ${ridge16.toFixed(0)}`, { style: 'a', size: 20 }),
    points.map(p => [`<circle class="t" cx="${x(p.intensity).toFixed(1)}" cy="${y(p.rate).toFixed(1)}" r="8"/>`,
      text(x(p.intensity) + 14, y(p.rate) + 22, p.name, { size: 22, bold: true })]),
    text(R, B + 54, 'operations for each byte of memory', { style: 'q', size: 20, at: 'end' }), text(L, B + 54, 'TFLOP/s', { style: 'q', size: 20, at: 'end' })]);
});

// ---- the bandwidth of each level of one GPU
figure('hierarchy', () => {
  const ceilings = Object.fromEntries(json('benchmarks/h200/calibration.json').ceilings.map(c => [c.id, c.value]));
  // Registers: three operands of 4 bytes for 128 multiply-adds in each of 132 multiprocessors at 1.98 GHz. Links: as in
  // benchmarks/collectives/README.md (stores to another GPU) and labs/06_ring_allreduce/README.md (an adapter of 400 Gb/s).
  const levels = [['registers', '33 MB', 132 * 128 * 12 * 1.98e9, 'by arithmetic', 'a'], ['shared memory', '30 MB', ceilings.shared, 'measured', 'a'], ['L2 cache', '50 MB', ceilings.l2, 'measured', 'a'],
    ['device memory', '141 GB', ceilings.copy, 'measured', 'a'], ['another GPU', '8 in a node', 389e9, 'measured', 'w'], ['the host', 'PCIe 5', ceilings.h2d, 'measured', 'w'], ['another node', '400 Gb/s', 50e9, 'data sheet', 'w']];
  const left = 430, right = 890, pitch = 64, x = v => left + (right - left) * Math.log10(v / 1e10) / Math.log10(4.1e14 / 1e10);
  const name = v => (v >= 1e13 ? `${Math.round(v / 1e12)} TB/s` : v >= 1e12 ? `${(v / 1e12).toFixed(1)} TB/s` : `${Math.round(v / 1e9)} GB/s`);
  write('hierarchy', 1200, 470, 'Bandwidth of each level of an H200', levels.map(([what, size, rate, how, style], i) => [
    text(250, 34 + i * pitch, what, { size: 25, at: 'end', bold: true }), text(410, 34 + i * pitch, size, { style: 'q', size: 21, at: 'end' }),
    rect(left, 8 + i * pitch, x(rate) - left, 38, style), text(x(rate) + 14, 35 + i * pitch, name(rate), { size: 25, bold: true }), text(1190, 34 + i * pitch, how, { style: 'q', size: 19, at: 'end' })]));
});

// ---- scaling on four GPUs: tokens per second and GPU, and the time of tensor parallel blocks
const runs = () => readFileSync(join(ROOT, 'benchmarks/training/h200x4/training.jsonl'), 'utf8').trim().split('\n').map(row => JSON.parse(row));
const bars = (name, title, rows, most, source) => {
  const left = 420, right = 1000, pitch = 62;
  write(name, 1200, 40 + rows.length * pitch, title, [text(1190, 24, source, { style: 'q', size: 19, at: 'end' }), rows.map(([what, value, label, more, style], i) => {
    const y = 40 + i * pitch, end = left + (right - left) * value / most;
    return [text(left - 16, y + 32, what, { size: 23, at: 'end' }), rect(left, y, end - left, 44, style), text(end + 14, y + 31, label, { size: 24, bold: true }), text(1190, y + 31, more, { style: 'q', size: 22, at: 'end' })];
  })]);
};
figure('weak_scaling', () => {
  const speed = (what, model, ranks) => runs().find(r => r.what.startsWith(what) && r.model === model && r.ranks === ranks && r.overlap !== false && r.messages !== false).tokens_per_s_per_gpu;
  const row = (what, name, model, ranks, style) => { const own = speed(what, model, ranks) / speed(what, model, 1); return [`${name}, ${ranks} GPU${ranks > 1 ? 's' : ''}`, own, own.toFixed(2), `${Math.round(speed(what, model, ranks)).toLocaleString('en')} tokens/s a GPU`, style]; };
  bars('weak_scaling', 'Weak scaling of data parallel training on up to four GPUs', [row('ridge', '124M', 'gpt2-124m', 1, 'p'), row('ridge', '124M', 'gpt2-124m', 2, 'a'), row('ridge', '124M', 'gpt2-124m', 4, 'a'),
    row('PyTorch', '124M, PyTorch', 'gpt2-124m', 1, 'p'), row('PyTorch', '124M, PyTorch', 'gpt2-124m', 4, 'w'), row('ridge', '1.3B', 'gpt-1.3b', 1, 'p'), row('ridge', '1.3B', 'gpt-1.3b', 4, 'a')], 1.55, 'speed of a GPU over that of one alone; four NVIDIA H200s, bf16');
});
figure('strong_scaling', () => {
  const blocks = runs().filter(r => r.what === 'tensor parallel blocks'), one = blocks.find(r => r.ranks === 1).median_s;
  bars('strong_scaling', 'Tensor parallel blocks on up to four GPUs', blocks.map(r => [`${r.ranks} GPU${r.ranks > 1 ? 's' : ''}${r.messages ? '' : ', no all-reduces'}`, r.median_s * 1e3, `${(r.median_s * 1e3).toFixed(1)} ms`,
    `${(one / r.median_s).toFixed(2)} x, ${Math.round(r.tflops_per_gpu)} TFLOP/s a GPU`, r.messages ? (r.ranks === 1 ? 'p' : 'a') : 'w']), 330, '24 blocks of 1.3B, forward and backward, 8192 rows, bf16, NVIDIA H200s');
});

// ---- loss curves of four formats
figure('losses', () => {
  const kinds = [['fp32', 'sq', 'q', 8], ['bf16', 'sa', 'a', 3], ['fp16_scaled', 'sg', 'g', 3], ['fp16_unscaled', 'sw', 'w', 4]];
  const curves = kinds.map(([name]) => readFileSync(join(ROOT, `benchmarks/training/h200x2/losses_${name}.txt`), 'utf8').trim().split('\n').map(Number));
  const L = 80, R = 1180, T = 20, B = 420, count = Math.max(...curves.map(c => c.length)), low = 1.5, high = 6;
  const x = i => L + (R - L) * i / (count - 1), y = v => B - (B - T) * (v - low) / (high - low);
  const draw = (curve, style, width) => path(curve.map((v, i) => [i, v]).filter(([, v]) => v <= high).map(([i, v], k) => `${k ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join(''), style, width);
  const names = { fp32: 'fp32', bf16: 'bf16', fp16_scaled: 'fp16 with a loss scale', fp16_unscaled: 'fp16 alone' };
  write('losses', 1200, 480, 'Loss of GPT-2 124M over 150 updates in four formats', [
    [2, 3, 4, 5, 6].map(v => [line(L, y(v), R, y(v), 'sr', 1), text(L - 12, y(v) + 7, v, { style: 'q', size: 20, at: 'end' })]),
    [0, 50, 100, count - 1].map(i => text(x(i), B + 28, i, { style: 'q', size: 20, at: 'middle' })),
    text(R, B + 54, 'updates', { style: 'q', size: 20, at: 'end' }),
    kinds.map(([, style,, width], k) => draw(curves[k], style, width)),
    kinds.map(([name,, fill], k) => text(R - 10, T + 50 + 32 * k, `${names[name]}: ${curves[k].at(-1).toFixed(3)} at the end`, { style: fill, size: 22, at: 'end' }))]);
});

// ---- the visualizer's pictures: the dark and the light export differ in colours only, so one file holds both
function merge(name, dark, light) {
  const a = dark.split('\n'), b = light.split('\n'), styles = [];
  if (a.length !== b.length) throw new Error(`${name}: dark and light are different pictures`);
  const value = /(fill|stroke|stop-color|fill-opacity|stroke-opacity|opacity)="([^"]*)"/g;
  const merged = a.map((row, i) => {
    const others = [...b[i].matchAll(value)];
    let k = 0;
    return row.replace(value, (all, key, old) => {
      const other = others[k++]?.[2];
      if (other === undefined || other === old) return all;
      const pair = `${old}|${other}`;
      if (!styles.includes(pair)) styles.push(pair);
      return `${key}="var(--v${styles.indexOf(pair)})"`;
    });
  });
  const set = side => styles.map((pair, i) => `--v${i}:${pair.split('|')[side]}`).join(';');
  const at = merged.findIndex(row => row.startsWith('<title>'));
  merged.splice(at + 1, 0, `<style>svg{${set(0)}}@media (prefers-color-scheme:light){svg{${set(1)}}}</style>`);
  // A tenth of a pixel is enough, and a plain rectangle is a short path: this makes files smaller by a third.
  const small = merged.filter(row => !row.startsWith('<?xml')).join('\n')
    .replace(/<[^>]*>/g, tag => tag.replace(/(\d\.\d)\d(?=["\s,])/g, '$1').replace(/\.0(?=["\s,])/g, ''))
    .replace(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill=/g, '<path d="M$1 $2h$3v$4h-$3z" fill=');
  writeFileSync(join(FOLDER, `${name}.svg`), small);
  console.log(`slides/figures/${name}.svg`);
}
function exported(name, size, scale, ...more) {
  figure(name, () => {
    const viewer = join(ROOT, 'build', 'bin', 'ridge-viz');
    if (!existsSync(viewer)) { console.log(`skipped: ${name} needs build/bin/ridge-viz`); return; }
    const pictures = ['dark', 'light'].map(theme => {
      const out = join(scratch, `${theme}.svg`);
      const made = spawnSync(viewer, ['--export', out, '--size', size, '--scale', scale, '--theme', theme, ...more.map(m => (typeof m === 'function' ? m() : m))], { cwd: ROOT, encoding: 'utf8' });
      if (made.status !== 0) throw new Error(`${name}: ${made.stderr}`);
      return readFileSync(out, 'utf8');
    });
    merge(name, ...pictures);
  }, 'visualizer');
}
// The timeline of a task's solution on the emulator, in virtual time: the same on every machine.
const recorded = new Map();
const emulated = (lab, task, ...more) => () => {
  if (!recorded.has(lab)) {
    const folder = join(scratch, lab);
    spawnSync(join(ROOT, 'build', 'bin', 'ridge'), ['check', lab.slice(0, 2), '--backend', 'cpu', '--submission', `solutions/${lab}`, ...more],
      { cwd: ROOT, env: { ...process.env, RIDGE_RESULTS: folder }, stdio: 'ignore' });
    recorded.set(lab, folder);
  }
  const folder = join(recorded.get(lab), lab);
  const found = existsSync(folder) && readdirSync(folder).find(file => file.endsWith(`.${task}.trace.json`));
  if (!found) throw new Error(`${lab}: ridge check left no timeline of ${task}`);
  return join(folder, found);
};
exported('roofline_sgemm', '860x400', '1.3', '--set', 'task=sgemm', 'benchmarks/h200/02_tiling.steps.json', 'benchmarks/h200/calibration.json');
exported('roofline_gemm', '860x400', '1.3', '--set', 'task=gemm', 'benchmarks/h200/04_tensor_core.steps.json', 'benchmarks/h200/calibration.json');
const story = 'visualizer/stories/01_transpose/01_coalescing';
const recording = number => () => `${story}/${readdirSync(join(ROOT, story)).filter(file => file.endsWith('.warp.json')).sort()[number]}`;
exported('warp_sectors', '880x405', '1.3', recording(0));
exported('warp_banks', '880x405', '1.3', '--set', 'line=12', '--set', 'access=load tile', recording(1));
exported('timeline_ring', '1000x440', '1.35', '--set', 'mode=collective', 'benchmarks/collectives/h200x4/ring.trace.json');
exported('timeline_ddp_after', '1000x330', '1.9', '--set', 'mode=overlap', 'benchmarks/training/h200x2/ddp_after.trace.json');
exported('timeline_ddp_overlapped', '1000x330', '1.9', '--set', 'mode=overlap', 'benchmarks/training/h200x2/ddp_overlapped.trace.json');
exported('timeline_ddp_graph', '1000x330', '1.9', '--set', 'mode=overlap', 'benchmarks/training/h200x2/ddp_graph.trace.json.gz');
exported('timeline_1f1b', '1000x330', '1.9', '--set', 'mode=overlap', 'benchmarks/training/h200x2/pipeline_1f1b.trace.json');
exported('timeline_pipeline', '1000x330', '1.9', emulated('05_streams_graphs', 'pipeline'));
exported('timeline_fork_join', '1000x330', '1.9', emulated('05_streams_graphs', 'fork_join'));
exported('timeline_schedule', '1000x440', '1.25', '--set', 'mode=pipeline', emulated('08_pipeline', 'one_f_one_b', '--task', 'one_f_one_b'));
exported('timeline_tensor', '1000x330', '1.9', '--set', 'mode=overlap', emulated('09_tensor_parallel', 'overlap'));

for (const [name, { make, from }] of jobs) if (wanted.length === 0 || wanted.includes(name) || wanted.includes(from)) make();
