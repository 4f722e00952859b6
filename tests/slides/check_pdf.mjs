// Builds the target `slides`, and looks at each PDF: it has one page for each slide, and all pages have one size.
//
//   node check_pdf.mjs SOURCE_DIR BUILD_DIR [CMAKE]
//
// Exit codes: 0 right, 1 wrong, 77 no Chromium here.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [source, build, cmake = 'cmake'] = process.argv.slice(2);
const browser = spawnSync('sh', [join(source, 'slides', 'browser.sh')], { encoding: 'utf8' }).stdout.trim();
if (!browser) { console.log('skipped: no Chromium or Chrome here to print the slides with'); process.exit(77); }
const made = spawnSync(cmake, ['--build', build, '--target', 'slides'], { encoding: 'utf8' });
if (made.status !== 0) { console.log(`FAILED: the target slides does not build:\n${made.stdout}${made.stderr}`); process.exit(1); }

let failures = 0, pages = 0;
for (const name of readdirSync(join(source, 'slides')).sort()) {
  if (!existsSync(join(source, 'slides', name, 'deck.md'))) continue;
  const html = readFileSync(join(build, 'slides', name, 'index.html'), 'utf8');
  const wanted = (html.match(/<section\b/g) ?? []).length;
  const file = join(build, 'slides', `${name}.pdf`);
  const pdf = existsSync(file) ? readFileSync(file, 'latin1') : '';
  const found = (pdf.match(/\/Type\s*\/Page\b/g) ?? []).length;
  const sizes = new Set(pdf.match(/\/MediaBox\s*\[[^\]]*\]/g) ?? []);
  const problem = pdf === '' ? 'is missing' : found !== wanted ? `has ${found} pages for ${wanted} slides`
    : sizes.size !== 1 ? `has pages of ${sizes.size} sizes` : statSync(file).mtimeMs < statSync(join(build, 'slides', name, 'index.html')).mtimeMs ? 'is older than its page' : '';
  if (problem) { failures += 1; console.log(`FAILED: ${file} ${problem}`); }
  pages += found;
}
console.log(`${pages} pages, ${failures} problems`);
process.exit(failures === 0 ? 0 : 1);
