// Builds the slides and checks one deck: the page has the source's slides, and needs only its own folder.
//
//   node check_deck.mjs SOURCE_DIR BUILD_DIR NN_name [CMAKE]
//
// Exit codes: 0 right, 1 wrong, 77 the slides cannot be built here (npm cannot reach its registry).
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

// The test docs.commands runs the commands. This list finds misspelt ones on a machine without a build of ridge, too.
const SUBCOMMANDS = ['demo', 'test', 'labs', 'start', 'check', 'grade', 'hint', 'diff', 'log', 'explain', 'doctor', 'report', 'viz', 'cc', 'live'];
const MOST_SLIDES = 20, LEAST_SLIDES = 12;
const CODE_COLUMNS = 78, CODE_COLUMNS_HALF = 37; // as many as fit: slides/theme/ridge.css

const [source, build, name, cmake = 'cmake'] = process.argv.slice(2);
const deckFile = join(source, 'slides', name, 'deck.md');
const pageFile = join(build, 'slides', name, 'index.html');

const made = spawnSync(cmake, ['--build', build, '--target', 'slides_html'], { encoding: 'utf8' });
if (made.status !== 0) {
  const said = `${made.stdout}${made.stderr}${made.error ?? ''}`;
  const offline = said.match(/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/);
  if (offline) console.log(`skipped: npm cannot reach its registry (${offline[0]}), and the slides need reveal.js from it`);
  else console.log(`FAILED: the target slides_html does not build:\n${said}`);
  process.exit(offline ? 77 : 1);
}

let failures = 0;
function expect(right, what) {
  if (right) return;
  failures += 1;
  console.log(`FAILED: ${what}`);
}

// ---- the source: slides by their headings, without fenced code
function readDeck(text) {
  const slides = [], code = [];
  let fence = null, divs = 0, columns = false;
  text.split('\n').forEach((line, index) => {
    const at = `${deckFile}:${index + 1}`;
    const ticks = line.match(/^(```+)/);
    if (fence) {
      if (ticks) fence = null;
      else code.push({ line, at, columns });
      return;
    }
    if (ticks) { fence = ticks[1]; return; }
    const heading = line.match(/^#{1,2} +(.*?)(?: *\{.*\})? *$/);
    if (heading) slides.push({ title: heading[1], at });
    if (/^::: *\S/.test(line)) { divs += 1; columns ||= /column/.test(line); }
    else if (/^::: *$/.test(line)) { divs -= 1; if (divs === 0) columns = false; }
  });
  if (fence || divs !== 0) {
    console.log(`FAILED: ${deckFile}: a code block or a ::: block is not closed`);
    process.exit(1);
  }
  return { slides, code };
}

// ---- the page: one <section> per slide (pandoc does not nest them with --slide-level=2 and ## alone)
const plain = html => html.replace(/<[^>]*>/g, '').replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"')
  .replace(/&#39;/g, "'").replace(/&amp;/g, '&').replace(/[’‘]/g, "'").replace(/[“”]/g, '"').replace(/\s+/g, ' ').trim();
const unmarked = markdown => markdown.replace(/[`*]/g, '').replace(/\s+/g, ' ').trim();

const deck = readDeck(readFileSync(deckFile, 'utf8'));
const page = readFileSync(pageFile, 'utf8');
const sections = [...page.matchAll(/<section\b[^>]*>([\s\S]*?)<\/section>/g)].map(match => match[1]);

expect(deck.slides.length >= LEAST_SLIDES && deck.slides.length <= MOST_SLIDES,
  `${deckFile} has ${deck.slides.length} slides: wanted ${LEAST_SLIDES} to ${MOST_SLIDES}`);
expect(sections.length === deck.slides.length, `${deck.slides.length} headings in the source, ${sections.length} sections in the page`);
let minutes = 0;
deck.slides.forEach((slide, index) => {
  const section = sections[index] ?? '';
  const title = plain(section.match(/<h[12]\b[^>]*>([\s\S]*?)<\/h[12]>/)?.[1] ?? '');
  expect(title === unmarked(slide.title), `${slide.at}: slide ${index + 1} should be '${slide.title}', the page has '${title}'`);
  const notes = section.match(/<aside class="notes">([\s\S]*?)<\/aside>/);
  const time = plain(notes?.[1] ?? '').match(/^(\d+) min\b/);
  expect(notes, `${slide.at}: '${slide.title}' has no speaker notes`);
  expect(!notes || time, `${slide.at}: the notes of '${slide.title}' do not begin with a time, for instance **3 min.**`);
  expect(!notes || plain(notes[1]).length > 60, `${slide.at}: the notes of '${slide.title}' say next to nothing`);
  minutes += Number(time?.[1] ?? 0);
});
const total = page.replace(/\s+/g, ' ').match(/The whole deck is (\d+) minutes/);
expect(total, `${deckFile}: no notes say 'The whole deck is N minutes'`);
expect(!total || Number(total[1]) === minutes, `${deckFile}: the notes' times add up to ${minutes} minutes, and the deck says ${total?.[1]}`);

// ---- commands and the width of code
let commands = 0;
for (const { line, at, columns } of deck.code) {
  const limit = columns ? CODE_COLUMNS_HALF : CODE_COLUMNS;
  expect(line.length <= limit, `${at}: ${line.length} columns of code, ${limit} fit on the slide`);
  const command = line.match(/^\s*(?:\$ )?\.\/ridge\b *(\S*)/);
  if (!command) continue;
  commands += 1;
  expect(SUBCOMMANDS.includes(command[1]), `${at}: './ridge ${command[1]}' is not one of: ${SUBCOMMANDS.join(' ')}`);
}
expect(commands > 0, `${deckFile} shows no ./ridge command`);

// ---- every file that the page and its styles name exists, and none comes from a network
const root = resolve(build, 'slides');
let files = 0;
function checkReferences(file, text) {
  const references = file.endsWith('.css')
    ? [...text.matchAll(/url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)/g)].map(match => match[1] ?? match[2])
    : [...text.matchAll(/<(?:link|script|img|iframe|video|audio|source|object|embed|section|use|image)\b[^>]*?\s(?:src|href|data|data-src|data-background-[a-z]+|poster)\s*=\s*["']([^"']+)/g)]
      .map(match => match[1]);
  for (const reference of references) {
    if (reference.startsWith('#') || reference.startsWith('data:')) continue;
    if (/^([a-z]+:)?\/\//i.test(reference)) { expect(false, `${file} loads ${reference}: a deck must open without a network`); continue; }
    const target = resolve(dirname(file), reference.replace(/[?#].*$/, ''));
    files += 1;
    expect(target.startsWith(root), `${file} names ${reference}, which is outside the folder of the slides`);
    if (!existsSync(target) || statSync(target).size === 0) expect(false, `${file} names ${reference}, which is missing or empty`);
    else if (/\.(css|svg)$/.test(target)) checkReferences(target, readFileSync(target, 'utf8'));
  }
  return references;
}
const named = checkReferences(pageFile, page);
for (const kind of ['reveal.js', 'reveal.css', 'ridge.css']) {
  expect(named.some(reference => reference.endsWith(kind)), `${pageFile} does not load ${kind}`);
}
expect(/<img\b/.test(page), `${pageFile} shows no figure`);

// ---- npm: reveal.js at one locked version with its hash, from npm's own registry
const lockFile = join(source, 'slides', 'package-lock.json');
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '') continue;
  expect(path === 'node_modules/reveal.js', `${lockFile}: ${path} is not reveal.js`);
  expect(/^sha512-/.test(entry.integrity ?? ''), `${lockFile}: ${path} has no sha512`);
  expect(!entry.resolved || entry.resolved.startsWith('https://registry.npmjs.org/'), `${lockFile}: ${path} comes from ${entry.resolved}`);
}
const installed = JSON.parse(readFileSync(join(root, 'npm', 'node_modules', 'reveal.js', 'package.json'), 'utf8')).version;
expect(installed === lock.packages['node_modules/reveal.js'].version, `reveal.js ${installed} was built in, not the locked one`);

console.log(`${name}: ${deck.slides.length} slides, ${minutes} minutes, ${commands} commands, ${files} files; ${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
