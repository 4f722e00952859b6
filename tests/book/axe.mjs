// axe-core at the locked version, for the tests of the book and of the slides.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

// Returns { path } of axe.min.js, { skip: why } without npm's registry, or { failed: output }.
export function fetchAxe(build) {
  const npm = join(build, 'book-npm');
  mkdirSync(npm, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(here, file), join(npm, file));
  const path = join(npm, 'node_modules', 'axe-core', 'axe.min.js');
  const fetched = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: npm, encoding: 'utf8' });
  if (fetched.status === 0 && existsSync(path)) return { path };
  const said = `${fetched.stdout}${fetched.stderr}${fetched.error ?? ''}`;
  const offline = said.match(/\b(ENOENT|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/);
  return offline ? { skip: `npm cannot fetch axe-core (${offline[0]})` } : { failed: `npm ci in tests/book:\n${said}` };
}
