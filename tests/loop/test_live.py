"""The collector over HTTP: loopback, token, limits of size and rate, hostile names, an end by Ctrl-C."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

program = sys.argv[1]
failed = []


def check(what, good):
    if not good:
        failed.append(what)
        print("FAILED:", what)


server = subprocess.Popen([program, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, RIDGE_LIVE_TOKEN="room-7"))
first = server.stdout.readline()
port = int(first.rsplit(":", 1)[1].strip("/\n"))


def ask(method, path, body=None, token="room-7"):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        c.request(method, path, body, {"X-Ridge-Token": token} if token is not None else {})
        r = c.getresponse()
        return r.status, dict(r.getheaders()), r.read().decode()
    except (ConnectionError, http.client.HTTPException, OSError) as e:
        return 0, {}, str(e)
    finally:
        c.close()


def result(name, points, client="0123456789abcdef"):
    return json.dumps({"name": name, "client": client, "lab": "01_coalescing",
                       "tasks": [{"id": "copy", "points": points, "max": 15}]})


try:
    check("listens on loopback only", "127.0.0.1" in first)
    status, headers, page = ask("GET", "/")
    check("the page", status == 200 and "<h1>Ridge live</h1>" in page)
    check("its policy", headers.get("Content-Security-Policy", "").startswith("default-src 'none'"))
    check("nothing from elsewhere", "http://" not in page and "https://" not in page)
    for path in ("/style.css", "/board.js", "/api/board"):
        check(path, ask("GET", path)[0] == 200)
    check("no other path", ask("GET", "/../etc/passwd")[0] in (400, 404))
    check("no token", ask("POST", "/api/result", result("Eve", 1), token=None)[0] == 403)
    check("another token", ask("POST", "/api/result", result("Eve", 1), token="room-8")[0] == 403)
    check("a result", ask("POST", "/api/result", result("<script>alert(1)</script>", 12))[0] == 200)
    check("not a result", ask("POST", "/api/result", "[1,2")[0] == 400)
    check("too large", ask("POST", "/api/result", "x" * 100000)[0] in (0, 413))
    board = json.loads(ask("GET", "/api/board")[2])
    check("the name as it was sent, as data", [p["name"] for p in board["players"]] == ["<script>alert(1)</script>"])
    check("its points", board["players"][0]["points"] == 12)
    # ---- those that follow
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    c.request("GET", "/api/events")
    events = c.getresponse()

    def next_board():
        while not (line := events.readline()).startswith(b"data: "):
            if not line:
                return None
        return json.loads(line[6:])

    check("the board comes at once", [p["points"] for p in next_board()["players"]] == [12])
    ask("POST", "/api/result", result("<script>alert(1)</script>", 15))
    check("and after each change", [p["points"] for p in next_board()["players"]] == [15])
    c.close()
    codes = [ask("POST", "/api/result", result("Ada", 1, "fedcba9876543210"))[0] for _ in range(40)]
    check("too often", codes[0] == 200 and 429 in codes)
    check("lives on", ask("GET", "/api/board")[0] == 200)
    # Requests that never come to an end: a byte of a header now and then.
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(64)]
    for s in slow:
        s.sendall(b"GET / HTTP/1.1\r\nX: ")
    time.sleep(1)
    check("answers beside 64 slow connections", ask("GET", "/style.css")[0] == 200)
    ended = 0
    for _ in range(60):
        time.sleep(0.25)
        for s in list(slow):
            try:
                s.sendall(b"x")
            except OSError:
                ended += 1
                slow.remove(s)
    check("slow connections end", ended == 64)
    many = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    for s in many:
        s.sendall(b"GET / HTTP/1.1\r\nX: ")
    time.sleep(1)
    check("answers beside 200 of them", ask("GET", "/style.css")[0] == 200)
finally:
    server.send_signal(signal.SIGINT)
    try:
        code = server.wait(15)
    except subprocess.TimeoutExpired:
        server.kill()
        code = None
check("ends by Ctrl-C", code == 0)
taken = subprocess.run([program, "nonsense:99999"], capture_output=True, text=True)
check("a wrong address is a usage error", taken.returncode == 2 and "try:" in taken.stderr)
sys.exit(1 if failed else 0)
