"""ridge viz --live URL: the collector's board as files that the visualizer follows, exported as SVG; errors; nothing left behind."""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

collector, ridge, root = sys.argv[1:4]
failed = []


def check(what, good):
    if not good:
        failed.append(what)
        print("FAILED:", what)


with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, RIDGE_ROOT=root, RIDGE_WORK=folder + "/work", RIDGE_LIVE_TOKEN="room-7", TMPDIR=folder)
    environment.pop("DISPLAY", None)
    server = subprocess.Popen([collector, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True, env=environment)
    port = int(server.stdout.readline().rsplit(":", 1)[1].strip("/\n"))
    url = f"http://127.0.0.1:{port}"

    def send(name, client, points):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        c.request("POST", "/api/result", json.dumps({
            "name": name, "client": client * 16, "lab": "01_coalescing",
            "tasks": [{"id": "copy", "points": points, "max": 15}, {"id": "transpose", "points": 0, "max": 35}]}),
            {"X-Ridge-Token": "room-7"})
        check("taken", c.getresponse().status == 200)

    def viz(*more, wait=60):
        return subprocess.run([ridge, "viz", *more], capture_output=True, text=True, env=environment, timeout=wait)

    def left():
        return [p for p in pathlib.Path(folder).glob("ridge-live-*")]

    try:
        send("Ada", "a", 15)
        send("<b>Grace</b>", "b", 7)
        picture = folder + "/board.svg"
        made = viz("--live", url, "--export", picture)
        check(f"a picture: {made.stderr}", made.returncode == 0)
        text = pathlib.Path(picture).read_text() if made.returncode == 0 else ""
        check("both players", "Ada" in text and "Grace" in text and "<b>" not in text)
        check("the points", ">15<" in text and ">7<" in text)
        end = time.time() + 20
        while left() and time.time() < end:
            time.sleep(0.2)
        check("no folder is left", not left())
        nobody = viz("--live", "http://127.0.0.1:1", "--export", picture)
        check(f"nobody there: {nobody.returncode} {nobody.stderr}", nobody.returncode == 3 and "127.0.0.1:1" in nobody.stderr)
        check("nor here", not left())
        page = viz("--live", "ftp://127.0.0.1", "--export", picture)
        check(f"no such scheme: {page.returncode} {page.stderr}", page.returncode in (2, 3) and page.stderr.startswith("ridge: "))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(15)
sys.exit(1 if failed else 0)
