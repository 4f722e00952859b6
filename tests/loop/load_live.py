"""1000 laptops behind one address send 5 results each; the board is killed and started again in the middle.

load_live.py RIDGE_LIVE [FILE]   FILE gets the page. Fails where a result is lost, not by a time. Clients do as
learn/live/send.cpp does: they try for 15 s at growing, random distances, and send what is left with the next result."""
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
CLIENTS, RESULTS, SPREAD_S, DOWN_S = 1000, 5, 20, 2
first_ms, whole_ms = [], []  # of tries that were answered, and of results until they were taken
counts = {"tries": 0, "no connection or reset": 0, "of these while the board was up": 0, "429": 0, "other answers": 0, "sent with a later result": 0}
down = [0.0, 0.0]  # from and until, by the monotonic clock


def start(board, port=0):
    env = {k: v for k, v in os.environ.items() if k != "RIDGE_LIVE_TOKEN"}
    p = subprocess.Popen([program, f"127.0.0.1:{port}", board], stdout=subprocess.PIPE, text=True, env=env)
    lines = [p.stdout.readline() for _ in range(2)]
    return p, int(lines[0].rsplit(":", 1)[1].strip("/\n")), lines[1].split()[-1]


async def post(port, token, body):
    counts["tries"] += 1
    begun = time.monotonic()
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5)
        writer.write(f"POST /api/result HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Ridge-Token: {token}\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        await writer.drain()
        answer = await asyncio.wait_for(reader.read(4096), 5)
        writer.close()
    except (OSError, asyncio.TimeoutError):
        answer = b""
    code = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
    if code == 200 and not down[0] <= time.monotonic() <= down[1] + 1:
        first_ms.append(1000 * (time.monotonic() - begun))
    if code == 0 and not down[0] <= begun <= down[1] + 0.1 and not begun <= down[0] <= time.monotonic():
        counts["of these while the board was up"] += 1
    if code != 200:
        counts["no connection or reset" if code == 0 else "429" if code == 429 else "other answers"] += 1
    return code == 200


async def send(port, token, body):
    begun, wait = time.monotonic(), 0.25
    while True:
        if await post(port, token, body):
            whole_ms.append(1000 * (time.monotonic() - begun))
            return True
        seconds = wait * random.uniform(0.5, 1.5)
        if time.monotonic() - begun + seconds > 15:
            return False
        await asyncio.sleep(seconds)
        wait = min(2 * wait, 4)


async def laptop(n, port, token, begin):
    kept = []
    times = [0] + sorted(random.uniform(3, SPREAD_S) for _ in range(RESULTS - 1))  # the first all at one moment
    for i, at in enumerate(times):
        await asyncio.sleep(max(0, begin + at - time.monotonic()))
        body = json.dumps({"name": f"laptop {n}", "client": f"client-number-{n:06}", "lab": "01_coalescing",
                           "tasks": [{"id": f"task{i}", "points": 1 + i, "max": 10}]})
        if not await send(port, token, body):
            kept.append(body)
            continue
        while kept and await post(port, token, kept[0]):
            kept.pop(0)
            counts["sent with a later result"] += 1
    return len(kept)


async def main(board):
    server, port, token = start(board)

    async def restart():
        nonlocal server
        await asyncio.sleep(SPREAD_S / 2)
        down[:] = time.monotonic(), time.monotonic() + 60
        server.send_signal(signal.SIGKILL)
        server.wait()
        await asyncio.sleep(DOWN_S)
        server, _, _ = start(board, port)
        down[1] = time.monotonic()

    begin = time.monotonic() + 1
    left = await asyncio.gather(*(laptop(n, port, token, begin) for n in range(CLIENTS)), restart())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /api/board HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    players = json.loads((await reader.read(-1)).partition(b"\r\n\r\n")[2])["players"]
    server.send_signal(signal.SIGINT)
    server.wait(15)
    return sum(left[:-1]), sum(len(p["tasks"]["01_coalescing"]) for p in players), len(players)


with tempfile.TemporaryDirectory() as folder:
    left, taken, players = asyncio.run(main(folder + "/board.jsonl"))
at = lambda values, q: sorted(values)[min(len(values) - 1, int(q * len(values)))]
rows = "\n".join(f"| {k} | {v} |" for k, v in counts.items())
page = f"""# The board of a full room

Written by `load_live.py RIDGE_LIVE FILE`: {CLIENTS} laptops behind one address, {RESULTS} results each, the first of all at one moment, the others within
{SPREAD_S} s. In the middle the board is killed with SIGKILL, and started again {DOWN_S} s later. Laptops and board share {os.cpu_count()} cores.

| what | |
|---|--:|
| results sent | {CLIENTS * RESULTS} |
| results on the board | {taken} |
| lost | {CLIENTS * RESULTS - taken} |
| participants on the board | {players} |
{rows}
| answer to a try while the board is up: median, 99 %, longest | {at(first_ms, .5):.0f}, {at(first_ms, .99):.0f}, {max(first_ms):.0f} ms |
| until a result is taken, with all tries: median, 99 %, longest | {at(whole_ms, .5):.0f}, {at(whole_ms, .99):.0f}, {max(whole_ms):.0f} ms |
"""
print(page)
if len(sys.argv) > 2:
    open(sys.argv[2], "w").write(page)
sys.exit(1 if taken != CLIENTS * RESULTS or left else 0)
