"""The server's network part: bounds on what a client sends and holds, event streams, and WebSockets to a program.

test_net.py NET_SERVER: exits with 1 where an answer is another one.
"""
import contextlib
import http.client
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

from report import Report
from websocket import Refused, WebSocket

here = pathlib.Path(__file__).parent
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2048), hard))
failed = []
report = Report("The event loop and its WebSockets")
server = subprocess.Popen([sys.argv[1], sys.executable, str(here / "echo_child.py")], stdout=subprocess.PIPE, text=True)
port = int(server.stdout.readline())
KNOWN = [("X-Known", "1")]
OTHER_USER = """import encodings.idna, os, socket, sys
os.setgid(65534), os.setuid(65534)
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(300)]
print("there", flush=True)
sys.stdin.read()"""


def check(what, good, got=""):
    print(f"{'ok' if good else 'FAILED'}: {what}{f': {got}' if got != '' else ''}", flush=True)
    if not good:
        failed.append(what)


def until(what, holds):
    for _ in range(200):
        if holds():
            return check(what, True)
        time.sleep(0.05)
    check(what, False)


def fault(what, happened, good, got=""):
    check(f"{what}: {happened}", good, got)
    report.add(what, happened)


def connect():
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def raw(text, wait=True):
    """All that the server answers until it closes, or a first part."""
    with connect() as s:
        s.sendall(text.encode() if isinstance(text, str) else text)
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while more := s.recv(65536):
                data += more
                if not wait:
                    break
        return data


def ask(method="GET", path="/", body=None, headers=dict(KNOWN)):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        c.request(method, path, body, headers)
        answer = c.getresponse()
        return answer.status, answer.read()
    finally:
        c.close()


def children():
    return [p for p in subprocess.run(["ps", "--ppid", str(server.pid), "-o", "pid="], capture_output=True, text=True).stdout.split()]


def resident():
    return int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * resource.getpagesize()


def head(path="/", more=""):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Known: 1\r\n{more}\r\n"


try:
    # ---- HTTP
    check("a request", ask() == (200, b"GET 0\n"))
    check("a body", ask("PUT", body="x" * 5000) == (200, b"PUT 5000\n"))
    check("HEAD has no body", ask("HEAD") == (200, b""))
    check("one that throws", ask(path="/throw") == (500, b"a reason"))
    check("a stranger", ask(headers={})[0] == 403)
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    for _ in range(3):
        c.request("GET", "/", headers=dict(KNOWN))
        answer = c.getresponse().read()
    check("three requests on one connection", answer == b"GET 0\n")
    c.close()
    two = raw(head() + head(more="Connection: close\r\n"))
    check("two at once, in turn", two.count(b"200 OK") == 2)
    check("HTTP/1.0 ends behind its answer", raw("GET / HTTP/1.0\r\nX-Known: 1\r\n\r\n").endswith(b"GET 0\n"))
    chunks = "PUT / HTTP/1.1\r\nHost: x\r\nX-Known: 1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    check("a body in chunks", b"PUT 5\n" in raw(chunks + "5\r\nhello\r\n0\r\n\r\n"))
    check("chunks without end", b" 413 " in raw(chunks + "fff0\r\n" + "x" * 0xfff0 + "\r\nfff0\r\n" + "x" * 0xfff0 + "\r\n"))
    with connect() as s:
        s.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nX-Known: 1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        check("it asks for the body", s.recv(100).startswith(b"HTTP/1.1 100 "))
        s.sendall(b"abc")
        check("and takes it", b"PUT 3\n" in s.recv(1000))
    for what, text, status in [
            ("no HTTP", "\x16\x03\x01 this is none\r\n\r\n", b"400"), ("a damaged header", "GET / HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
            ("a length and chunks", chunks.replace("Transfer", "Content-Length: 5\r\nTransfer") + "0\r\n\r\n", b"400"),
            ("two lengths", "PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
            ("two hosts", head(more="Host: y\r\n"), b"400"), ("a negative length", "PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
            ("an address of 20 kB", f"GET /{'x' * 20000} HTTP/1.1\r\n\r\n", b"414"), ("an address of 10 kB", head("/" + "x" * 10000), b"414"),
            ("headers of 100 kB", head(more="".join(f"X-{i}: {'y' * 1000}\r\n" for i in range(100))), b"431")]:
        answer = raw(text)
        fault(what, status.decode(), answer.split(b" ")[1:2] == [status], answer[:20])
    status, _ = ask("PUT", body=b"x" * (3 << 20))
    check("a body of 3 MB", status == 413)
    # ---- slow clients
    fault("a header that never ends", "the connection ends after its time", raw("GET / HTTP/1.1\r\nX: ") == b"")
    fault("a body that never comes", "the connection ends after its time", raw("PUT / HTTP/1.1\r\nHost: x\r\nX-Known: 1\r\nContent-Length: 10\r\n\r\nabc") == b"")
    # ---- floods
    with connect() as owner, connect() as stream:
        owner.sendall(head().encode())
        check("the owner is here", b"200 OK" in owner.recv(1000))
        stream.sendall(head("/events").encode())
        check("and listens", b"200 OK" in stream.recv(1000))
        idle = [connect() for _ in range(500)]
        check("beside 500 idle strangers a new connection is served", ask() == (200, b"GET 0\n"))
        owner.sendall(head().encode())
        check("the owner's own goes on", b"200 OK" in owner.recv(1000))
        for _ in range(20):
            got = stream.recv(1 << 20)
        check("and the events", len(got) > 0)
        held = len(os.listdir(f"/proc/{server.pid}/fd"))
        check("the server holds no more than it may", held < 90, held)
        report.add("500 idle connections of strangers", "the owner's connection, its events and a new request go on; the oldest strangers are dropped")
        for s in idle:
            s.close()
    slow = [connect() for _ in range(200)]
    for s in slow:
        s.sendall(b"GET / HTTP/1.1\r\nX: ")
    fault("200 halves of a request", "the owner's next request is answered", ask() == (200, b"GET 0\n"))
    for s in slow:
        s.close()
    until("their connections are gone", lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < 15)
    spread = []
    for i in range(200):
        s = socket.socket()
        s.bind((f"127.0.0.{2 + i}", 0))
        s.connect(("127.0.0.1", port))
        spread.append(s)
    fault("200 connections from 200 addresses of the loopback", "the owner's first request is answered", ask() == (200, b"GET 0\n"))
    for s in spread:
        s.close()
    until("these are gone, too", lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < 15)
    if os.geteuid() == 0:  # another user's connections
        waits = connect()
        flood = subprocess.Popen([sys.executable, "-c", OTHER_USER, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        flood.stdout.readline()
        waits.sendall(head().encode())
        got = b""
        with contextlib.suppress(ConnectionError):
            got = waits.recv(1000)
        check("another user's 300 connections do not displace one that has yet to send its header", b"200 OK" in got, got[:20])
        held = len(os.listdir(f"/proc/{server.pid}/fd"))
        check("they hold few", held < 40, held)
        flood.kill()
        flood.wait()
        waits.close()
        until("and they are gone", lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < 15)
    # ---- a stream that nobody reads
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before it connects, so that the kernel holds little
        s.settimeout(20)
        s.connect(("127.0.0.1", port))
        s.sendall(head("/events").encode())
        s.recv(20)
        time.sleep(1.5)  # some 20 MB are told
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while taken < (64 << 20) and (more := s.recv(1 << 20)):
                taken += len(more)
        fault("a tab that does not read its events", "it is dropped at 1 MiB that it has not taken", taken < 16 << 20, taken >> 20)
    # ---- WebSockets
    w = WebSocket(port, "/relay", KNOWN)
    for size in (0, 1, 200, 65535, 65536):
        w.send(b"m" * size)
        check(f"a message of {size} bytes and back", w.receive() == (2, b"m" * size))
    w.send(b"ping", opcode=9)
    check("a ping", w.receive() == (10, b"ping"))
    check("a program runs", len(children()) == 1)
    w.end()
    until("and ends with its socket", lambda: not children())
    w = WebSocket(port, "/relay", KNOWN)
    w.send(b"m" * 65537)
    fault("a WebSocket message of more than 64 KiB", "1009", w.closed()[0] == 1009)
    w.end()
    w = WebSocket(port, "/relay", KNOWN)
    w.send(b"exit")
    fault("the visualizer ends", "the socket closes with the last line that it wrote", w.closed() == (1008, "the trace is damaged"))
    w.end()
    w = WebSocket(port, "/relay", KNOWN)
    w.send(b"damaged")
    fault("the visualizer sends a damaged message", "the socket closes and says so", w.closed() == (1008, "the program sent a damaged message"))
    w.end()
    w = WebSocket(port, "/relay", KNOWN)
    with contextlib.suppress(ConnectionError, BrokenPipeError):
        w.socket.sendall((b"\x82\x81" + b"\0\0\0\0" + b"x") * 20000)
    fault("20000 WebSocket messages at once", "1008: too many messages in a second", w.closed() == (1008, "too many messages in a second"))
    w.end()
    w = WebSocket(port, "/relay", KNOWN)
    w.socket.sendall(b"\x82\x01x")
    fault("a WebSocket frame without a mask", "1002", w.closed()[0] == 1002)
    w.end()
    w = WebSocket(port, "/relay", KNOWN)
    before = resident()
    w.send(b"flood")
    time.sleep(1)
    fault("a browser that takes no frames", "the visualizer waits; the server's memory stays small", resident() - before < 30 << 20, (resident() - before) >> 20)
    w.end()
    until("all programs are gone", lambda: not children())
    try:
        WebSocket(port, "/relay")
        check("a stranger's WebSocket", False)
    except Refused as e:
        fault("a stranger's WebSocket", "403", e.args == (403,))
    w = WebSocket(port, "/relay", KNOWN)
    w.send(b"errors")
    fault("the visualizer ends its output and floods stderr", "the socket closes; the server goes on", w.closed()[0] == 1008 and ask() == (200, b"GET 0\n"))
    w.end()
    until("the flood has ended", lambda: not children())
    w = WebSocket(port, "/relay", KNOWN)
    w.send(b"deaf")
    time.sleep(0.3)
    for _ in range(3):
        w.send(b"more")
    w.end()
    until("a program that has closed its stdin ends with its socket", lambda: not children())
    # ---- an end in the middle
    w = WebSocket(port, "/relay", KNOWN)
    s = connect()
    s.sendall(head("/slow").encode())
    time.sleep(0.3)
    server.send_signal(signal.SIGTERM)
    fault("the server ends", "WebSockets hear of it, answers under way are sent", w.closed() == (1008, "the server ends"))
    check("an answer that is under way is sent", s.recv(1000).endswith(b"GET 0\n"))
    check("it ends", server.wait(10) == 0)
finally:
    server.kill()
check("the committed report says the same", report.finish())
print(f"{len(failed)} failed")
sys.exit(1 if failed else 0)
