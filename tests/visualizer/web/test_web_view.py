"""The view that the page's address names: test_web_view.py RIDGE RESULT

Two pictures are drawn from no file: `ridge viz --web --view warp --set show=swizzle`, and `?view=warp&set=show=wgmma`.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parents[1] / "serve")]
from client import Stream, acknowledge, hello
from websocket import WebSocket

ridge, result = str(Path(sys.argv[1]).resolve()), str(Path(sys.argv[2]).resolve())
failures = 0


def check(what, good, more=""):
    global failures
    print(f"{'ok' if good else 'FAILED'}: {what}{'' if good else f' {more}'}", flush=True)
    failures += not good


def viz(home, *words):
    return subprocess.Popen([ridge, "viz", "--web", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "RIDGE_WORK": home})


def opened(port, token, query):
    """The first message, what is drawn in words, and the names of what is drawn."""
    page = WebSocket(port, f"/{token}/api/viz{query}")
    first = json.loads(page.receive()[1])
    if "error" in first:
        return first, "", set()
    page.send(hello())
    stream, words, asked = Stream(), "", False
    while True:
        for kind, content in stream.add(page.receive()[1]):
            if kind == "S":
                words = content.decode()
            elif kind == "F":
                page.send(acknowledge(content.number))
                if not asked:
                    page.send(b"l")
                asked = True
            elif kind == "L":
                return first, words, {item["name"] for item in json.loads(content)["items"]}


def has(names, head):
    return any(name.startswith(head) for name in names)


with tempfile.TemporaryDirectory(prefix="ridge-web-view-") as home:
    for words, drawn in [(["--view", "warp", "--set", "show=swizzle", "--set=bytes=64"], "tile/"), ([result], "")]:
        server = viz(home, *words)
        address = None
        for line in server.stdout:
            if address := re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", line):
                break
        check(f"ridge viz --web {words[0]} listens", address is not None, server.stderr.read() if address is None else "")
        if address is None:
            continue
        at = int(address[1]), address[2]
        _, told, names = opened(*at, "")
        if drawn:
            check("a picture that needs no file is shown without one", told.startswith("Warp") and has(names, drawn), (told, names))
            check("its settings are the command line's", "tile/0/3" in names and "tile/0/4" not in names, names)
        else:
            check("a file is shown in its view", "counted_three.json" in told and told.startswith("Roofline"), told)
        _, told, names = opened(*at, "?view=warp&set=show=swizzle&set=bytes%3d32")
        check("the address names a view and its settings", told.startswith("Warp") and "tile/0/1" in names and "tile/0/2" not in names, names)
        _, told, names = opened(*at, "?view=warp&set=show=wgmma")
        check("and the other picture", has(names, "element/") and not has(names, "tile/"), names)
        for query, why in [("?view=none", "there is no view 'none'"), ("?view=warp&set=show=nothing", "has no setting")]:
            first, _, _ = opened(*at, query)
            check(f"{query} is refused in words", why in first.get("error", ""), first)
        server.send_signal(signal.SIGINT)
        check("the server ends in order", server.wait(20) == 0)
    for words in [[], ["--view", "warp"], ["--set", "show=requests"], ["--export", "a.svg"], ["--set"]]:
        refused = viz(home, *words)
        _, told = refused.communicate(timeout=20)
        check(f"--web {' '.join(words)} is wrong usage", refused.returncode == 2 and "try:" in told, told)
sys.exit(failures != 0)
