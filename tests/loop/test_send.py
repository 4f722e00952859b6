#!/usr/bin/env python3
"""A result for the leaderboard arrives though the first connections are reset, and a refusal is not tried again: test_send.py RIDGE
REPOSITORY."""
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

ridge, repository = sys.argv[1], sys.argv[2]


def send(resets, answer):
    """Resets so many connections, answers the next ones. The number of connections, and what ridge said."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(100)
    seen = []

    def serve():
        while True:
            try:
                c, _ = server.accept()
            except OSError:
                return
            seen.append(c.recv(65536))
            if len(seen) <= resets:
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() resets
            else:
                c.sendall(answer)
            c.close()

    threading.Thread(target=serve, daemon=True).start()
    with tempfile.TemporaryDirectory() as dir:
        env = {**os.environ, "RIDGE_WORK": dir, "RIDGE_RESULTS": dir + "/results"}
        done = subprocess.run([ridge, "check", "01", "--backend", "cpu", "--task", "copy", "--submission", repository + "/solutions/01_coalescing",
                               "--live", f"http://127.0.0.1:{server.getsockname()[1]}"], capture_output=True, text=True, env=env, timeout=100)
    server.close()
    return len(seen), done.stderr


failed = []
count, said = send(2, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
if count != 3 or "Sent to" not in said:
    failed.append(f"after two resets it is sent: {count} connections, {said}")
count, said = send(0, b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
if count != 1 or "403" not in said:
    failed.append(f"a refusal is final: {count} connections, {said}")
count, said = send(9, b"")
if count != 4 or "was not sent" not in said and "did not take" not in said:
    failed.append(f"four tries are the end: {count} connections, {said}")
print("\n".join(failed) if failed else "sent, refused and given up as they should be")
sys.exit(1 if failed else 0)
