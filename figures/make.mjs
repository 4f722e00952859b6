// Makes the figures of the lessons and the decks.
//
//   node figures/make.mjs [NAME...]          all without a name; `drawn`: all but those that ridge-viz exports
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jobs, ROOT } from './kit/album.mjs';

const folders = ['slides', ...readdirSync(join(ROOT, 'labs')).sort().map(lab => `labs/${lab}`)];
for (const folder of folders) {
  const album = join(ROOT, folder, 'figures', 'figures.mjs');
  if (existsSync(album)) await import(pathToFileURL(album));
}
const wanted = process.argv.slice(2);
const unknown = wanted.filter(name => name !== 'drawn' && !jobs.some(job => job.name === name));
if (unknown.length) { console.error(`there is no figure ${unknown.join(', ')}: name one that a figures.mjs makes, or 'drawn'`); process.exit(2); }
for (const job of jobs) if (wanted.length === 0 || wanted.includes(job.name) || wanted.includes(job.from)) job.make();
