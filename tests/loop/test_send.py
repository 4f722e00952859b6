#!/usr/bin/env python3
"""A result for the leaderboard arrives though connections are reset, or after the next check; a refusal is not tried again; the
board never changes what a check says: test_send.py RIDGE REPOSITORY."""
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ridge, repository = sys.argv[1], sys.argv[2]


def check(dir, url, *more):
    env = {**os.environ, "RIDGE_WORK": dir, "RIDGE_RESULTS": dir + "/results"}
    return subprocess.run([ridge, "check", "01", "--backend", "cpu", "--task", "copy", "--submission", repository + "/solutions/01_coalescing",
                           "--live", url, *more], capture_output=True, text=True, env=env, timeout=100)


class Board:
    """Resets so many connections, answers the next ones, and notes what was sent, and when."""

    def __init__(self, resets, answer):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(100)
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.seen, self.at = [], []

        def serve():
            while True:
                try:
                    c, _ = self.server.accept()
                except OSError:
                    return
                self.at.append(time.monotonic())
                self.seen.append(c.recv(65536).decode().rpartition("\r\n\r\n")[2])
                if len(self.seen) <= resets:
                    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() resets
                else:
                    c.sendall(answer)
                c.close()

        threading.Thread(target=serve, daemon=True).start()


def send(resets, answer, *more):
    board = Board(resets, answer)
    with tempfile.TemporaryDirectory() as dir:
        done = check(dir, board.url, *more)
    board.server.close()
    return board, done


OK, FULL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"
failed = []


def expect(what, good):
    if not good:
        failed.append(what)


board, done = send(3, OK, "--live-team", "Red")
expect(f"after three resets it is sent: {len(board.seen)} connections, {done.stderr}", len(board.seen) == 4 and "Sent to" in done.stderr)
expect(f"with the team: {board.seen[-1]}", json.loads(board.seen[-1])["team"] == "Red")
expect("one body in all tries", len(set(board.seen)) == 1)
waits = [b - a for a, b in zip(board.at, board.at[1:])]
expect(f"each wait is about twice the one before: {waits}", all(0.5 * 0.25 * 2**i <= w <= 1.5 * 0.25 * 2**i + 1 for i, w in enumerate(waits)))
board, done = send(0, b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
expect(f"a refusal is final: {len(board.seen)} connections, {done.stderr}", len(board.seen) == 1 and "403" in done.stderr)
expect("and no fault of the check", done.returncode == 0)

# A board that is down the whole time: the check passes, and the next check brings both results.
with tempfile.TemporaryDirectory() as dir:
    board = Board(0, FULL)
    done = check(dir, board.url)
    expect(f"it is given up after several tries: {len(board.seen)}", 5 <= len(board.seen) <= 12)
    expect(f"the check passes all the same: {done.returncode} {done.stderr}", done.returncode == 0 and "with your next check" in done.stderr)
    first = board.seen[0]
    port = int(board.url.rpartition(":")[2])
    board.server.shutdown(socket.SHUT_RDWR)
    board.server.close()
    back = Board(0, OK)
    for file in os.listdir(dir + "/.ridge/live-unsent"):  # the same board, at another address here
        path = f"{dir}/.ridge/live-unsent/{file}"
        kept = json.load(open(path))
        json.dump({**kept, "url": back.url}, open(path, "w"))
    done = check(dir, back.url)
    expect(f"the next check brings both: {len(back.seen)} {done.stderr}", len(back.seen) == 2 and back.seen[1] == first)
    done = check(dir, back.url)
    expect("once", len(back.seen) == 3)
    back.server.close()
    # Nothing can be kept: a file lies where the folder would be.
    os.rmdir(dir + "/.ridge/live-unsent")
    open(dir + "/.ridge/live-unsent", "w").close()
    os.remove(dir + "/.ridge/live-client")
    os.mkdir(dir + "/.ridge/live-client")
    done = check(dir, "http://127.0.0.1:1")
    expect(f"a work folder that takes nothing: {done.returncode} {done.stderr}", done.returncode == 0 and "board" in done.stderr)
    done = check(dir, "https://127.0.0.1:1")
    expect(f"a wrong address is told before anything is judged: {done.returncode} {done.stdout}", done.returncode == 2 and "copy" not in done.stdout)
print("\n".join(failed) if failed else "sent, refused, kept and given up as they should be")
sys.exit(1 if failed else 0)
