// A stand-in for the server: the page's files, and a WebSocket (RFC 6455) that is relayed to `ridge-viz --web`. For tests of
// the visualizer alone: no token, no limits.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, extname, join } from 'node:path';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

// Passes bytes on as a line of `rate` bits a second would, `delay` ms after they were sent; both directions have one.
function over(line, pass) {
  if (!line) return pass;
  const waiting = [];
  let free = 0;
  const due = () => {   // one timer, since timers of different lengths may overtake each other
    while (waiting.length && waiting[0].at <= performance.now()) pass(waiting.shift().bytes);
    if (waiting.length) setTimeout(due, Math.max(0, waiting[0].at - performance.now()));
  };
  return bytes => {
    free = Math.max(free, performance.now()) + 8000 * bytes.length / line.rate;
    waiting.push({ at: free + line.delay, bytes });
    if (waiting.length === 1) setTimeout(due, Math.max(0, waiting[0].at - performance.now()));
  };
}

// `command()`: the program's words, anew for each connection. `line`: { rate, delay } of a slow line. Resolves to { port,
// sockets, end }.
export function relay(page, command, line = null) {
  const sockets = new Set();
  const server = createServer((request, response) => {
    const name = basename(new URL(request.url, 'http://x').pathname) || 'viz.html';
    try {
      const content = readFileSync(join(page, name));
      response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain', 'content-security-policy': "default-src 'self'", 'cache-control': 'no-store' }).end(content);
    } catch { response.writeHead(404).end(); }
  });
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.setNoDelay(true);
    const [program, ...words] = command();
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    sockets.add(socket);
    const down = over(line, bytes => { if (socket.writable) socket.write(bytes); });
    const up = over(line, bytes => { if (child.stdin.writable) child.stdin.write(bytes); });
    const frame = (opcode, bytes) => {
      const head = bytes.length < 126 ? Buffer.from([0x80 | opcode, bytes.length]) : bytes.length < 65536
        ? Buffer.from([0x80 | opcode, 126, bytes.length >> 8, bytes.length & 255]) : Buffer.concat([Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0]), u32be(bytes.length)]);
      down(Buffer.concat([head, bytes]));
    };
    // From the program: 4 bytes of length, then the message.
    let out = Buffer.alloc(0);
    child.stdout.on('data', data => {
      out = Buffer.concat([out, data]);
      while (out.length >= 4 && out.length >= 4 + out.readUInt32LE(0)) {
        const size = out.readUInt32LE(0);
        frame(2, out.subarray(4, 4 + size));
        out = out.subarray(4 + size);
      }
    });
    child.on('exit', () => { if (socket.writable) { frame(8, Buffer.from([0x03, 0xE8])); socket.end(); } });
    child.stdin.on('error', () => {});
    // From the page: masked frames.
    let held = Buffer.alloc(0);
    socket.on('data', data => {
      held = Buffer.concat([held, data]);
      for (;;) {
        if (held.length < 2) return;
        let size = held[1] & 127, at = 2;
        if (size === 126) { if (held.length < 4) return; size = held.readUInt16BE(2); at = 4; }
        else if (size === 127) { if (held.length < 10) return; size = Number(held.readBigUInt64BE(2)); at = 10; }
        if (held.length < at + 4 + size) return;
        const opcode = held[0] & 15, mask = held.subarray(at, at + 4), body = Buffer.from(held.subarray(at + 4, at + 4 + size));
        for (let i = 0; i < size; ++i) body[i] ^= mask[i & 3];
        held = held.subarray(at + 4 + size);
        if (opcode === 8) { child.stdin.end(); socket.end(); return; }
        if (opcode !== 2) continue;
        const length = Buffer.alloc(4);
        length.writeUInt32LE(size);
        up(Buffer.concat([length, body]));
      }
    });
    socket.on('close', () => { sockets.delete(socket); child.stdin.end(); });
    socket.on('error', () => child.stdin.end());
  });
  return new Promise(done => server.listen(0, '127.0.0.1', () => done({ port: server.address().port, sockets,
    end: () => { for (const socket of sockets) socket.destroy(); server.closeAllConnections(); server.close(); } })));
}

function u32be(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
