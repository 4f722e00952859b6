// Pictures that the visualizer exports (build/bin/ridge-viz), of files or of the emulator's timelines that build/bin/ridge
// records at that moment. RIDGE_BUILD_DIR names another build folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escape } from './svg.mjs';
import { jobs, ROOT, save } from './album.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'ridge-figures-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
export const program = name => join(process.env.RIDGE_BUILD_DIR ?? join(ROOT, 'build'), 'bin', name);

// The dark and the light export differ in colours only, so one file holds both.
function merge(name, desc, dark, light) {
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
  merged.splice(at + 1, 0, `<desc>${escape(desc)}</desc>`, `<style>svg{${set(0)}}@media (prefers-color-scheme:light){svg{${set(1)}}}</style>`);
  // A tenth of a pixel is enough, and a plain rectangle is a short path: this makes files smaller by a third.
  return merged.filter(row => !row.startsWith('<?xml')).join('\n')
    .replace(/<[^>]*>/g, tag => tag.replace(/(\d\.\d)\d(?=["\s,])/g, '$1').replace(/\.0(?=["\s,])/g, ''))
    .replace(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill=/g, '<path d="M$1 $2h$3v$4h-$3z" fill=');
}

export function exported(album, name, desc, size, scale, ...more) {
  jobs.push({ name, folder: album.folder, from: 'visualizer', make: () => {
    if (!existsSync(program('ridge-viz'))) { console.log(`skipped: ${name} needs build/bin/ridge-viz`); return; }
    const pictures = ['dark', 'light'].map(theme => {
      const out = join(scratch, `${theme}.svg`);
      const made = spawnSync(program('ridge-viz'), ['--export', out, '--size', size, '--scale', scale, '--theme', theme, ...more.map(m => (typeof m === 'function' ? m() : m))], { cwd: ROOT, encoding: 'utf8' });
      if (made.status !== 0) throw new Error(`${name}: ${made.stderr}`);
      return readFileSync(out, 'utf8');
    });
    save(album.folder, name, merge(name, desc, ...pictures));
  } });
}

// A file that a check of a task leaves: its timeline, or the requests of its warps. `submission` is a folder.
const recorded = new Map();
export function emulated(lab, task, submission, kind = 'trace') {
  const key = `${submission} ${task}`.replace(/[^a-z0-9_]/g, '-');
  if (!recorded.has(key)) {
    recorded.set(key, join(scratch, key));
    spawnSync(program('ridge'), ['check', lab.slice(0, 2), '--backend', 'cpu', '--task', task, '--submission', submission],
      { cwd: ROOT, env: { ...process.env, RIDGE_RESULTS: recorded.get(key) }, stdio: 'ignore' });
  }
  const folder = join(recorded.get(key), lab);
  const found = existsSync(folder) && readdirSync(folder).find(file => file.endsWith(`.${task}.${kind}.json`));
  if (!found) throw new Error(`${lab}: ridge check of ${submission} left no ${kind} of ${task}`);
  return join(folder, found);
}
