"""Hostile requests and faults: what the server of `ridge serve` answers, and that no text is lost.

test_server.py RIDGE: prints a line for each, and exits with 1 where an answer is another one.
"""
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from report import Report, reason

ridge = sys.argv[1]
report = Report("The page's server")
home = pathlib.Path(tempfile.mkdtemp(prefix="ridge-serve-test-"))
work = home / "work"
copy = work / "01_coalescing" / "copy.cu"
failed = []


def check(what, good, got=""):
    print(f"{'ok' if good else 'FAILED'}: {what}{f': {got}' if got != '' else ''}", flush=True)
    if not good:
        failed.append(what)


class Server:
    def __init__(self, *words, before="", **env):
        command = f"{before} exec \"$0\" \"$@\""
        self.process = subprocess.Popen(["sh", "-c", command, ridge, "serve", *words], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "RIDGE_WORK": str(work), "TMPDIR": str(home), **env})
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", line):
                self.port, self.token = int(found[1]), found[2]
                break

    def ask(self, method, path, body=None, headers=(), token=None, timeout=20):
        """Status and body. `path` is behind the token, unless it begins with a slash."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        address = path if path.startswith("/") else f"/{token or self.token}/{path}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        c.putrequest(method, address, skip_host=any(k == "Host" for k, _ in headers))
        for key, value in headers:
            if value is not None:
                c.putheader(key, value)
        if method != "GET" and not any(k == "Content-Type" for k, _ in headers):
            c.putheader("Content-Type", "application/json")
        data = body.encode() if isinstance(body, str) else body
        if data is not None:
            c.putheader("Content-Length", str(len(data)))
        try:
            c.endheaders()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                if data is not None:
                    c.send(data)
            answer = c.getresponse()
            self.headers = answer.headers
            return answer.status, answer.read()
        finally:
            c.close()

    def expect(self, what, status, *words, **more):
        got, body = self.ask(*words, **more)
        check(what, got == status, got)
        if status >= 400:
            report.add(what, f"{got}: {reason(body).replace(str(work) + '/', 'work/')}")
        return body

    def save(self, text, base):
        status, body = self.ask("PUT", "api/lab/01_coalescing/file/copy.cu", {"text": text, "base": base})
        return status, json.loads(body)

    def version(self):
        return json.loads(self.ask("GET", "api/lab/01_coalescing/file/copy.cu")[1])["version"]

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.wait(20)


def fault(what, happened, good, got=""):
    """A fault, and what happened instead of harm."""
    check(f"{what}: {happened}", good, got)
    report.add(what, happened)


def checks_running():
    """Processes of `ridge check` on this test's folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and b"--steps" in (entry / "cmdline").read_bytes() and str(work).encode() in (entry / "environ").read_bytes():
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(entry.name)
    return found


def until(what, holds):
    for _ in range(400):
        if holds():
            return check(what, True)
        time.sleep(0.05)
    check(what, False)


server = Server("01")
try:
    lab = "api/lab/01_coalescing"
    # ---- who may ask
    page = server.expect("the page", 200, "GET", "")
    policy = server.headers["Content-Security-Policy"]
    check("its policy: nothing inline, nothing from elsewhere", "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy)
    check("no inline script or style", b"<style" not in page and b"style=" not in page and not re.search(rb"<script(?![^>]*src=)", page))
    server.expect("no token", 403, "GET", "/")
    server.expect("a wrong token", 403, "GET", "", token="0" * 32)
    server.expect("half of the token", 403, "GET", "", token=server.token[:16])
    server.expect("no slash behind the token", 307, "GET", f"/{server.token}")
    check("which leads to one, relative", server.headers["Location"] == f"{server.token}/")
    server.expect("another host's name (DNS rebinding)", 403, "GET", "", headers=[("Host", f"evil.example:{server.port}")])
    server.expect("no host", 403, "GET", "", headers=[("Host", None)])
    server.expect("localhost by another port, as through ssh -L", 200, "GET", "", headers=[("Host", "localhost:9000")])
    server.expect("a page of another site saves", 403, "PUT", f"{lab}/file/copy.cu", {"text": "", "base": ""}, headers=[("Origin", "http://evil.example")])
    server.expect("a page without origin saves", 403, "PUT", f"{lab}/file/copy.cu", {"text": "", "base": ""}, headers=[("Origin", "null")])
    server.expect("a page of another local port checks", 403, "POST", f"{lab}/check", {}, headers=[("Origin", "http://127.0.0.1:1")])
    server.expect("another site loads a script from here", 403, "GET", "main.js", headers=[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")])
    server.expect("a page of another site asks for a proof", 403, "GET", f"/prove?question={'0' * 32}", headers=[("Origin", "http://evil.example")])
    server.expect("a question that is none", 400, "GET", "/prove?question='%20or%201=1")
    server.expect("a question that is sent as a text", 403, "POST", "/prove", "x")
    proof = json.loads(server.ask("GET", "api/labs")[1])["proof"]
    fault("a question of the server's own, without the token", "200 with the answer that the page knows",
          json.loads(server.ask("GET", f"/prove?question={proof['question']}")[1])["answer"] == proof["answer"])
    server.expect("a form of another site", 415, "POST", f"{lab}/check", "task=", headers=[("Content-Type", "text/plain")])
    # ---- nothing outside
    stub, gather = copy.read_text(), (copy.parent / "gather.cu").read_text()
    secret = work / "secret"
    secret.write_text("secret")
    for path in ("../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fsecret", "codemirror/../../../ridge", "figures/01_coalescing/..%2flab.toml",
                 "figures/../labs/01_coalescing", f"{lab}/file/..%2f..%2fsecret", f"{lab}/file/coalescing.hpp", f"{lab}/file/%2fetc%2fpasswd",
                 "api/lab/..%2f01_coalescing", "api/lab/99_nothing", "//etc/passwd", "index.html%00.js", "lab.toml"):
        server.expect(f"GET {path}", 404 if not path.startswith("//") else 403, "GET", path)
    server.expect("a figure", 200, "GET", "figures/01_coalescing/tile.svg")
    (copy.parent / "gather.cu").unlink()
    (copy.parent / "gather.cu").symlink_to(secret)
    body = server.expect("a link out of the work folder is read", 404, "GET", f"{lab}/file/gather.cu")
    check("nothing of it", b'"text":""' in body)
    server.expect("a link out of the work folder is written", 400, "PUT", f"{lab}/file/gather.cu", {"text": "x", "base": ""})
    check("it is as before", secret.read_text() == "secret")
    # ---- several tabs open a lab for the first time
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        starts = list(pool.map(lambda _: server.ask("POST", "api/lab/02_tiling/start", {}), range(8)))
    report.add("eight tabs begin a lab at once", "one copy is made, all hear 200")
    check("eight tabs start a lab at once", all(status == 200 for status, _ in starts), [s for s, _ in starts])
    check("its files are whole", len(list((work / "02_tiling").glob("*.cu"))) == 5 and not (work / "02_tiling.new").exists())
    # ---- a line's instructions
    code = json.loads(server.ask("GET", f"{lab}/code?file=..%2F..%2Fsecret&line=1")[1])
    fault("the instructions of a file that is none", "none; the reason", code["instructions"] == [] and "no file of this name" in code["problem"], code["problem"])
    hidden = work / "hidden"
    hidden.write_text("of_nobodys_business = 42;\n")
    copy.write_text(f'#include "{hidden}"\n{stub}')
    code = json.loads(server.ask("GET", f"{lab}/code?file=copy.cu&line=9999999999999", timeout=180)[1])
    fault("the instructions of a file that includes another of the machine", "none; nothing of that file is told",
          code["instructions"] == [] and code["problem"] != "" and "nobodys_business" not in code["problem"], code["problem"][:100])
    copy.write_text(stub)
    # ---- sizes and forms
    base = server.version()
    server.expect("a body of 10 MB", 413, "PUT", f"{lab}/file/copy.cu", "x" * (10 << 20))
    server.expect("a text of 600 kB", 400, "PUT", f"{lab}/file/copy.cu", {"text": "x" * 600000, "base": base})
    server.expect("no JSON", 400, "PUT", f"{lab}/file/copy.cu", "{")
    server.expect("JSON without a text", 400, "PUT", f"{lab}/file/copy.cu", {"text": 1})
    server.expect("100000 brackets", 400, "PUT", f"{lab}/file/copy.cu", "[" * 100000)
    server.expect("bytes that are no UTF-8", 400, "PUT", f"{lab}/file/copy.cu", b'{"text": "\xff", "base": ""}')
    server.expect("a NUL character", 400, "PUT", f"{lab}/file/copy.cu", {"text": "\0", "base": base})
    server.expect("a byte-order mark, which no read would accept", 400, "PUT", f"{lab}/file/copy.cu", {"text": "\ufeffx", "base": base})
    server.expect("an escape character", 400, "PUT", f"{lab}/file/copy.cu", {"text": "a\n\x1b[2J", "base": base})
    server.expect("a result outside of the results", 404, "GET", "api/viz?file=..%2F..%2Fetc%2Fpasswd")
    server.expect("a diff of an attempt that is none", 404, "GET", f"{lab}/diff?from=..%2Fx")
    server.expect("an answer to no question", 404, "POST", f"{lab}/quiz", {"id": "none", "answer": "1"})
    server.expect("two hosts", 400, "GET", "", headers=[("Host", f"127.0.0.1:{server.port}"), ("Host", "evil.example")])
    server.expect("headers of 100 kB", 431, "GET", "", headers=[(f"X-{i}", "y" * 1000) for i in range(100)])
    server.expect("a task that is none", 400, "POST", f"{lab}/check", {"task": "--help"})
    server.expect("an address of 20 kB", 414, "GET", "x" * 20000)
    check("an unknown method", server.ask("DELETE", f"{lab}/file/copy.cu", {})[0] in (400, 404, 405))
    raw = socket.create_connection(("127.0.0.1", server.port))
    raw.sendall(b"\x16\x03\x01\x02\x00 this is no HTTP\r\n\r\n")
    raw.settimeout(15)
    answer = raw.recv(100)
    fault("bytes that are no HTTP", "400", b" 400 " in answer, answer[:20])
    raw.close()
    check("the file is as before", server.version() == base)
    # ---- two editors of one file
    status, answer = server.save("first\n", base)
    check("a save", status == 200 and copy.read_text() == "first\n", status)
    status, other = server.save("second\n", base)
    fault("a save of a tab that has not seen another tab's save", "409 with the other text; nothing is overwritten",
          status == 409 and other["text"] == "first\n" and copy.read_text() == "first\n", status)
    # ---- floods
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(30)]
    for s in slow:
        s.sendall(b"GET / HTTP/1.1\r\nHost: 12")
    fault("30 clients that send half a request", "the owner's next request is answered", server.ask("GET", "")[0] == 200)
    for s in slow:
        s.close()
    streams = []
    for _ in range(14):
        s = socket.create_connection(("127.0.0.1", server.port))
        s.sendall(f"GET /{server.token}/api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        s.settimeout(10)
        streams.append((s, s.recv(15)))
    fault("14 tabs that listen", "12 are told, 2 hear 503", [b" 200 " in got for _, got in streams].count(True) == 12)
    server.expect("and the page", 200, "GET", "")
    for s, _ in streams:
        s.close()
    # ---- a check: one at a time, stopped, and gone with the server
    events, heard = None, None
    while heard is None or heard.status == 503:  # until the server has noticed that those tabs are gone
        events = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        events.request("GET", f"/{server.token}/api/events")
        heard = events.getresponse()
    copy.write_text(stub.replace("const std::size_t chunk = 32;", "for (volatile int i = 0;; i = i) {}\n  const std::size_t chunk = 32;"))
    (copy.parent / "gather.cu").unlink()
    (copy.parent / "gather.cu").write_text(gather)
    server.expect("a check begins", 202, "POST", f"{lab}/check", {"task": ""})
    server.expect("a second check beside one", 409, "POST", f"{lab}/check", {"task": ""})
    until("it runs", lambda: len(checks_running()) > 0)
    server.expect("it is told to stop", 200, "POST", "api/stop", {})
    told = b""
    while b"event: ended" not in told or not told.endswith(b"\n\n"):
        if not (line := heard.readline()):
            break
        told += line
    events.close()
    check("the events tell each step, and the end", b"event: step" in told and b'"outcome":"stopped"' in told)
    until("no process is left", lambda: not checks_running())
    until("another may begin", lambda: server.ask("POST", f"{lab}/check", {"task": ""})[0] == 202)
    until("and runs", lambda: len(checks_running()) > 0)
    server.end(signal.SIGKILL)
    until("it goes with a server that is killed", lambda: not checks_running())
    report.add("the server is killed in mid-check", "the check and its processes end with it")
    port, token = server.port, server.token
    old = work / ".ridge/serve"
    old.mkdir(parents=True, exist_ok=True)
    (old / "token").write_text(token)  # as earlier versions left it
    (old / f"{port}.html").write_text(token)
    server = Server("01", "--port", str(port))
    fault("a server that is killed and started again", "its token is another one", server.port == port and server.token != token)
    fault("a question of a server that was killed", "another answer, by which its page stays silent",
          json.loads(server.ask("GET", f"/prove?question={proof['question']}")[1])["answer"] != proof["answer"])
    server.expect("the token of a server that was killed", 403, "GET", "", token=token)
    check("nothing of it is left", list(old.iterdir()) == [], [p.name for p in old.iterdir()])
    taken = subprocess.run([ridge, "serve", "--port", str(port)], capture_output=True, text=True, env={**os.environ, "RIDGE_WORK": str(work)})
    report.add("a port that is taken", "exit code 3, with what to try")
    check("a port that is taken", taken.returncode == 3 and "try:" in taken.stderr, taken.stderr.split("\n")[0])
    server.expect("a check, and Ctrl-C", 202, "POST", f"{lab}/check", {"task": ""})
    fault("Ctrl-C in mid-check", "the check ends, exit code 0", server.end() == 0)
    until("and leaves no process", lambda: not checks_running())
    journal = work / ".ridge/journal/01_coalescing.jsonl"
    check("none of these checks went on to its end", not journal.exists() or '"attempt"' not in journal.read_text())
    # ---- nobody asks
    server = Server("01", "--idle", "0.01")
    check("it ends by itself where nobody asks", server.process.wait(30) == 0)
    # ---- a full disk: no file may grow beyond a block
    copy.write_text("whole\n")
    server = Server("01", before="ulimit -f 1;")
    status, answer = server.save("x" * 5000, server.version())
    check("a full disk", status == 507 and "free some space" in answer["problem"], answer["problem"])
    fault("a full disk", "507, free some space; the old text is whole", copy.read_text() == "whole\n")
    check("and no half file lies beside it", [p.name for p in copy.parent.iterdir() if ".tmp" in p.name] == [])
    status, answer = server.save("short\n", server.version())
    check("what fits is saved", status == 200 and copy.read_text() == "short\n", status)
    server.end()
finally:
    with contextlib.suppress(Exception):
        server.end(signal.SIGKILL)
    shutil.rmtree(home, ignore_errors=True)
check("the committed report says the same", report.finish())
print(f"{len(failed)} failed")
sys.exit(1 if failed else 0)
