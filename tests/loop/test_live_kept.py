"""The board of `ridge live` over kills and restarts, a disk that takes nothing, and the host's kick: test_live_kept.py RIDGE_LIVE RIDGE."""
import http.client
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

program, ridge = sys.argv[1:3]
failed = []


def check(what, good):
    if not good:
        failed.append(what)
        print("FAILED:", what)


class Server:
    def __init__(self, board, listen="127.0.0.1:0", *more, limit=None):
        env = {k: v for k, v in os.environ.items() if k != "RIDGE_LIVE_TOKEN"}
        limits = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, 1 << 30))) if limit else None
        self.process = subprocess.Popen([program, listen, str(board), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=env, preexec_fn=limits)
        self.said = ""
        while "Ctrl-C" not in self.said:
            line = self.process.stdout.readline()
            if not line:
                break
            self.said += line
        where = [line for line in self.said.splitlines() if line.startswith("The board:")]
        self.port = int(where[0].rsplit(":", 1)[1].strip("/")) if where else 0
        self.token = next((line.split()[-1] for line in self.said.splitlines() if line.startswith("The token:")), "")

    def ask(self, method, path, body=None, headers=None):
        return ask(self.port, method, path, body, headers or {"X-Ridge-Token": self.token})

    def board(self):
        return json.loads(self.ask("GET", "/api/board")[1])

    def end(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(15)
        self.process.stdout.close(), self.process.stderr.close()


def ask(port, method, path, body=None, headers=None):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        return r.status, r.read().decode()
    except (OSError, http.client.HTTPException) as e:
        return 0, str(e)
    finally:
        c.close()


def result(n, points, name=None, task="copy"):
    return json.dumps({"name": name or f"p{n}", "client": f"client-number-{n:06}", "lab": "01_coalescing",
                       "tasks": [{"id": task, "points": points, "max": 1000}]})


with tempfile.TemporaryDirectory() as folder:
    board = pathlib.Path(folder) / "sub" / "board.jsonl"
    server = Server(board)
    port, token = server.port, server.token
    # 12 laptops send without a pause while the board is killed six times.
    confirmed, stop = [0] * 12, threading.Event()

    def laptop(n):
        points = 0
        while not stop.is_set():
            points += 1
            if ask(port, "POST", "/api/result", result(n, points), {"X-Ridge-Token": token})[0] == 200:
                confirmed[n] = points
            time.sleep(0.03)

    threads = [threading.Thread(target=laptop, args=(n,)) for n in range(12)]
    for t in threads:
        t.start()
    for i in range(6):
        time.sleep(0.4 + 0.07 * i)
        server.end()
        server = Server(board, f"127.0.0.1:{port}")
        check(f"the token stays: {server.said}", server.token == token)
    time.sleep(0.5)
    server.end()
    stop.set()
    for t in threads:
        t.join()
    server = Server(board)
    check(f"says that it goes on: {server.said}", "Goes on with the board of before: 12 participants" in server.said)
    now = {p["name"]: p["points"] for p in server.board()["players"]}
    lost = [(n, c, now.get(f"p{n}")) for n, c in enumerate(confirmed) if now.get(f"p{n}", 0) < c]
    check(f"every confirmed result is there: {lost} of {confirmed}", not lost and min(confirmed) > 0)
    check("private", oct(board.stat().st_mode & 0o777) == "0o600")
    second = subprocess.run([program, "127.0.0.1:0", str(board)], capture_output=True, text=True, timeout=20)
    check(f"one board, one program: {second.stderr}", second.returncode == 2 and "try:" in second.stderr)

    # The host, from another terminal.
    def host(*words):
        return subprocess.run([ridge, "live", "--board", str(board), *words], capture_output=True, text=True, timeout=60)

    def names():
        return [p["name"] for p in server.board()["players"]]

    check("kick without the key", server.ask("POST", "/api/kick", '{"name": "p3"}')[0] == 403)
    check("kick with another key", server.ask("POST", "/api/kick", '{"name": "p3"}', {"X-Ridge-Host": "x" * 32})[0] == 403)
    check("the key is no secret of the page", json.loads(board.read_text().splitlines()[0])["host_key"] not in str(server.board()))
    done = host("--kick", "p3")
    check(f"kicked: {done.stderr}", done.returncode == 0 and "p3" not in names())
    check("what it sends is refused", server.ask("POST", "/api/result", result(3, 999))[0] == 403)
    check("others go on", server.ask("POST", "/api/result", result(4, 999))[0] == 200)
    done = host("--kick", "nobody")
    check(f"nobody of that name: {done.stderr}", done.returncode == 2)
    server.end()
    done = host("--kick", "p4")
    check(f"no board is running: {done.returncode} {done.stderr}", done.returncode in (2, 3) and "ridge: " in done.stderr)
    server = Server(board)
    check("who was kicked stays so", "p3" not in names() and server.ask("POST", "/api/result", result(3, 999))[0] == 403)
    done = host("--readmit", "p3")
    check(f"back: {done.stderr}", done.returncode == 0 and "p3" in names() and server.ask("POST", "/api/result", result(3, 999))[0] == 200)

    # Another board; the one of before is kept.
    server.end(signal.SIGINT)
    server = Server(board, "127.0.0.1:0", "--new")
    check("a new board is empty, and has another token", names() == [] and server.token not in ("", token))
    check("the old file is kept", len(list(board.parent.glob("board.jsonl.2*"))) == 1)
    server.end()

    # A disk that takes nothing more.
    server = Server(board, limit=4096)
    codes = [server.ask("POST", "/api/result", result(n, 5))[0] for n in range(60)]
    check(f"a full disk is told, so that laptops try again: {codes}", codes[0] == 200 and codes[-1] == 500)
    again = server.ask("POST", "/api/result", result(59, 5))[0]
    check(f"the same result once more is on no disk either: {again}", again == 500)
    key = {"X-Ridge-Host": json.loads(board.read_text().splitlines()[0])["host_key"]}
    kicks = [server.ask("POST", "/api/kick", '{"name": "p0"}', key)[0] for _ in range(2)]
    check(f"so is a kick, each time: {kicks}", kicks == [500, 500])
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))  # space is made
    check("then it goes on", server.ask("POST", "/api/result", result(60, 5))[0] == 200)
    check("and takes what it refused", server.ask("POST", "/api/result", result(59, 5))[0] == 200)
    taken = codes.count(200) + 2
    server.end()
    server = Server(board)
    check("what was confirmed before is there", len(names()) == taken and "p59" in names())
    server.end()
sys.exit(1 if failed else 0)
