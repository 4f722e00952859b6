// The figures of one folder. A lab's labs/NN_name/figures/figures.mjs makes an album of its own folder and adds figures to
// it; figures/make.mjs finds the albums. So a lab's figures lie in the lab's folder alone.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { page } from './svg.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const json = name => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
// A page of 360 pixels shows a figure's whole width, so its smallest text is 10 pixels high there.
const SMALLEST = 10 / 360;

export const jobs = []; // { name, folder, from, make }; `from` is drawn, or visualizer for what ridge-viz exports

// RIDGE_FIGURES names another root to write to; the test that compares figures uses it.
export function save(folder, name, svg) {
  const out = join(process.env.RIDGE_FIGURES ?? ROOT, folder);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, `${name}.svg`), svg);
  console.log(`${folder}/${name}.svg`);
}

export function album(url) {
  const folder = relative(ROOT, dirname(fileURLToPath(url)));
  // `body` is shapes, or a function that makes them, for figures of records.
  const draw = (name, width, height, title, desc, body, style = '') => jobs.push({ name, folder, from: 'drawn', make: () => {
    const svg = page(width, height, title, desc, typeof body === 'function' ? body() : body, style);
    const smallest = Math.min(...[...svg.matchAll(/font-size="([\d.]+)"/g)].map(m => Number(m[1])));
    if (folder.startsWith('labs/') && smallest < SMALLEST * width) throw new Error(`${name}: text of ${smallest} in a width of ${width} is too small`);
    save(folder, name, svg);
  } });
  const record = name => json(join(folder, `${name}.json`));
  return { folder, draw, record };
}
