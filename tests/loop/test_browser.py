"""The board and the report in headless Chromium: what a hostile name becomes, and pictures of both."""
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

live, ridge, root = sys.argv[1:4]
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not chromium:
    print("skipped: no Chromium here")
    sys.exit(77)
home = tempfile.mkdtemp()
failed = []


def browse(url, *more):
    r = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        f"--user-data-dir={home}/profile", "--virtual-time-budget=5000", *more, url],
                       capture_output=True, text=True, timeout=60)
    return r.stdout


def check(what, good):
    if not good:
        failed.append(what)
        print("FAILED:", what)


server = subprocess.Popen([live, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True, env=dict(os.environ, RIDGE_LIVE_TOKEN="t"))
try:
    port = int(server.stdout.readline().rsplit(":", 1)[1].strip("/\n"))
    for i, name in enumerate(["<img src=x onerror=document.title='owned'>", "Ada Lovelace", "\u202eevil", "名前"]):
        c = http.client.HTTPConnection("127.0.0.1", port)
        c.request("POST", "/api/result", json.dumps({"name": name, "client": f"client-number-{i:04}", "lab": "01_coalescing",
                  "tasks": [{"id": "copy", "points": 10 + i, "max": 15}]}), {"X-Ridge-Token": "t"})
        check("sent", c.getresponse().status == 200)
    page = browse(f"http://127.0.0.1:{port}/", "--dump-dom")
    check("names are shown", "Ada Lovelace" in page and "名前" in page)
    check("a name is no markup", "<img" not in page and "&lt;img" in page and "owned</title>" not in page)
    out = os.environ.get("RIDGE_PICTURES")
    if out:
        browse(f"http://127.0.0.1:{port}/", f"--screenshot={out}/live.png", "--window-size=1200,700")
    report = f"{home}/report.html"
    made = subprocess.run([ridge, "report", "--html", report, f"{root}/benchmarks/h200/01_coalescing.json",
                           f"{root}/benchmarks/h200/05_streams_graphs.json"], env=dict(os.environ, RIDGE_ROOT=root), capture_output=True, text=True)
    check("a report", made.returncode == 0)
    page = browse(f"file://{report}", "--dump-dom")
    check("its figures", page.count("<svg") >= 2 and "Matrix transpose" in page)
    if out:
        browse(f"file://{report}", f"--screenshot={out}/report.png", "--window-size=1000,1600")
finally:
    server.send_signal(signal.SIGINT)
    server.wait(15)
    shutil.rmtree(home, ignore_errors=True)
sys.exit(1 if failed else 0)
