"""Where there is a display and a terminal, `ridge serve` opens the page; the address stands in a file of the owner alone.

test_open_browser.py RIDGE: 0 right, 1 wrong.
"""
import contextlib
import os
import pathlib
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

ridge = sys.argv[1]
home = pathlib.Path(tempfile.mkdtemp(prefix="ridge-open-"))
work, heard = home / "work", home / "heard"
failed = []


def check(what, good, got=""):
    print(f"{'ok' if good else 'FAILED'}: {what}{f': {got}' if got != '' else ''}", flush=True)
    if not good:
        failed.append(what)


def until(holds, seconds=10):
    for _ in range(int(seconds / 0.05)):
        if holds():
            return True
        time.sleep(0.05)
    return False


class Session:
    """`ridge serve` with stdout at a terminal, or at a pipe. `opener`: the body of xdg-open; none: there is none."""

    def __init__(self, opener, terminal=True, **env):
        bin = home / "bin"
        shutil.rmtree(bin, ignore_errors=True)
        bin.mkdir()
        heard.unlink(missing_ok=True)
        if opener is not None:
            (bin / "xdg-open").write_text(f"#!/bin/sh\n{opener}\n")
            (bin / "xdg-open").chmod(0o755)
        # The programs of this machine, without an xdg-open of its own.
        for folder in ("/usr/bin", "/bin"):
            for program in pathlib.Path(folder).iterdir():
                if program.name != "xdg-open" and not (bin / program.name).exists():
                    (bin / program.name).symlink_to(program)
        clean = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.near, far = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen([ridge, "serve", "01"], stdin=subprocess.DEVNULL, stdout=far, stderr=subprocess.STDOUT,
                                        env={**clean, "RIDGE_WORK": str(work), "PATH": str(bin), **env})
        os.close(far)
        self.said = ""
        while "Ctrl-C" not in self.said:
            part = os.read(self.near, 4096).decode()
            if not part:
                break
            self.said += part
        self.address = re.search(r"http://127\.0\.0\.1:(\d+)/[0-9a-f]{32}/", self.said)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        with contextlib.suppress(OSError):
            os.close(self.near)
        return code


try:
    keep = f'printf "%s\\n" "$@" >{heard}.new; mv {heard}.new {heard}'
    for display in ("DISPLAY", "WAYLAND_DISPLAY"):
        s = Session(keep, **{display: ":0"})
        check(f"{display}: the browser is opened", until(heard.exists))
        words = heard.read_text().splitlines() if heard.exists() else []
        check("with one file", len(words) == 1 and words[0].endswith(f"/.ridge/serve/{s.address[1]}.html"), words)
        way = pathlib.Path(words[0]) if words else home / "none"
        check("which leads to the address", f'url={s.address[0]}"' in way.read_text() and f'href="{s.address[0]}"' in way.read_text())
        check("and which its owner alone reads", stat.S_IMODE(way.stat().st_mode) == 0o600, oct(way.stat().st_mode))
        check("no command line shows the token", s.address[0].split("/")[3] not in "".join(words))
        check("the server ends in order", s.end() == 0)
        check("and the file goes with it", not way.exists())
    s = Session(f"{keep}; exec sleep 20", DISPLAY=":0")
    check("a browser that stays open keeps no server", until(heard.exists) and s.end() == 0)
    s = Session(f"{keep}; exit 3", DISPLAY=":0")
    check("a browser that fails ends no server", until(heard.exists) and s.process.poll() is None)
    s.end()
    for what, arguments in (("without a display", {"opener": keep}), ("where no person looks", {"opener": keep, "terminal": False, "DISPLAY": ":0"}),
                            ("without xdg-open", {"opener": None, "DISPLAY": ":0"})):
        s = Session(**arguments)
        check(f"{what}, the address is printed alone", s.address is not None and not until(heard.exists, 0.5))
        check("and no file holds it", list((work / ".ridge/serve").glob("*.html")) == [] if (work / ".ridge/serve").exists() else True)
        s.end()
finally:
    shutil.rmtree(home, ignore_errors=True)
print(f"{len(failed)} failed")
sys.exit(1 if failed else 0)
