// A server of its own for a test, and a Chromium that looks at its page.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const skip = why => { console.log(`skipped: ${why}`); process.exit(77); };

// puppeteer-core at the locked version. Skips without npm's registry.
export function fetchPuppeteer(build) {
  const npm = resolve(build, 'serve-npm');
  mkdirSync(npm, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(here, file), join(npm, file));
  const path = join(npm, 'node_modules', 'puppeteer-core');
  const fetched = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: npm, encoding: 'utf8' });
  if (fetched.status !== 0 || !existsSync(path)) {
    const said = `${fetched.stdout}${fetched.stderr}${fetched.error ?? ''}`;
    const offline = said.match(/\b(ENOENT|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/);
    if (offline) skip(`npm cannot fetch puppeteer-core (${offline[0]})`);
    console.log(`FAILED: npm ci in tests/serve:\n${said}`);
    process.exit(1);
  }
  return createRequire(join(npm, 'package.json'))('puppeteer-core');
}

export class Server {
  constructor(build) {
    this.build = build;
    this.home = mkdtempSync(join(tmpdir(), 'ridge-serve-test-'));
    this.work = join(this.home, 'work');
  }

  // Resolves to the page's address. `more`: further arguments of `ridge serve`.
  async start(more = []) {
    this.process = spawn(join(this.build, 'bin', 'ridge'), ['serve', '01', ...more], {
      env: { ...process.env, RIDGE_WORK: this.work, RIDGE_RESULTS: join(this.home, 'results'), TMPDIR: this.home }, stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    this.url = await new Promise((done, fail) => {
      this.process.stdout.on('data', data => {
        said += data;
        const url = said.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//);
        if (url) done(url[0]);
      });
      this.process.on('exit', code => fail(new Error(`ridge serve ended with ${code}: ${said}`)));
    });
    return this.url;
  }

  get port() { return new URL(this.url).port; }

  async end(signal = 'SIGINT') {
    if (!this.process) return 0;
    if (this.process.exitCode !== null || this.process.signalCode !== null) return this.process.exitCode;
    const ended = new Promise(done => this.process.on('exit', done));
    this.process.kill(signal);
    return ended;
  }

  remove() { rmSync(this.home, { recursive: true, force: true }); }
}

// A portal that passes requests on below a path of its own, as Open OnDemand's /rnode/ and jupyter-server-proxy do.
// Resolves to { port, to, end }, where `to` is the server's port.
export function portal(prefix) {
  const made = { to: 0 };
  const proxy = createServer((request, response) => {
    if (!request.url.startsWith(prefix)) return response.writeHead(404).end();
    const onward = httpRequest({ host: '127.0.0.1', port: made.to, path: request.url.slice(prefix.length - 1), method: request.method, headers: request.headers }, answer => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  return new Promise(done => proxy.listen(0, '127.0.0.1', () => done(Object.assign(made, { port: proxy.address().port, end: () => { proxy.closeAllConnections(); proxy.close(); } }))));
}

// Another program at the port of a server that has ended: it answers everything, and keeps what it has heard.
export function impostor(port) {
  const heard = [];
  const program = createServer((request, response) => {
    const got = { method: request.method, url: request.url, body: '' };
    heard.push(got);
    request.on('data', data => { got.body += data; });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"answer": "trust me", "version": "v"}');
  });
  return new Promise(done => program.listen(port, '127.0.0.1', () => done({ heard,
    end: () => new Promise(ended => { program.close(ended); program.closeAllConnections(); }) })));
}
