"""`ridge-viz --web` over its pipes: test_web_loop.py RIDGE_VIZ DATA SCRATCH

Frames, input, the clipboard, files that change, refused messages, and no CPU time while nothing happens.
"""
import json
import os
import queue
import random
import shutil
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from client import (Program, acknowledge, button, clipboard, events, hello, key, move, resize, text, theme, wheel)

program, data, scratch = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
result = data / "counted_three.json"
trace = data.parents[2] / "benchmarks/visualizer/torch_ddp.0.json.gz"
os.environ.pop("DISPLAY", None)  # no window, and no display
os.environ.pop("WAYLAND_DISPLAY", None)
failures = 0


def check(what, good, more=""):
    global failures
    print(f"{'ok' if good else 'FAILED'}: {what}{'' if good else f' {more}'}", flush=True)
    failures += not good


def kinds(messages):
    return [kind for kind, _ in messages]


def frames(messages):
    return [content for kind, content in messages if kind == "F"]


def first_frames():
    viz = Program(program, result)
    first = viz.settle()
    check("the first message says who speaks", viz.first[1] == {"protocol": "ridge.viz", "version": 1, "most_input": 65536,
                                                                 "most_output": 262144}, viz.first)
    check("a texture, what is drawn in words, and a frame", set(kinds(first)) == {"T", "S", "F"}, kinds(first))
    check("the words name the view and the file", (b"Roofline: counted_three.json" in dict(first)["S"]), dict(first)["S"])
    frame = frames(first)[-1]
    check("the frame has the page's size", (frame.width, frame.height, frame.ratio) == (1280, 720, 1), frame.width)
    check("the frames together are smaller than a picture of them", sum(f.bytes for f in frames(first)) < 150_000)
    viz.input(move(5, 5))
    check("an input that changes nothing sends no frame", frames(viz.settle()) == [])
    viz.click(*viz.place("view/progress"))
    check("a click changes the view", frames(viz.settle()) != [] and any(i["name"] == "view/progress" for i in viz.layout()))
    check("the end of the input ends the program", viz.end() == 0)


def looks():
    viz = Program(program, result)
    light = frames(viz.settle())[-1].background
    viz.input(theme(1))
    dark = frames(viz.settle())[-1].background
    check("the page's theme is the program's", light != dark, (light, dark))
    viz.input(resize(900, 600, 2))
    after = viz.settle()
    frame = frames(after)[-1]
    check("a new size brings a new atlas and a frame of it", "T" in kinds(after) and (frame.width, frame.height, frame.ratio) == (900, 600, 2))
    viz.input(key("E", 1, 1), key("E", 0))
    saved = viz.until("D")
    size = struct.unpack_from("<I", saved)[0]
    check("Ctrl+E hands the page a picture", saved[4:4 + size] == b"ridge-roofline.svg" and b"<svg" in saved, saved[:80])
    check("and leaves no file here", not list(Path.cwd().glob("ridge-*.svg")))
    viz.end()


def typing():
    viz = Program(program, trace)
    viz.settle()
    viz.click(*viz.place("search"))
    check("a text field is said", frames(viz.settle())[-1].wants_text == 1)
    viz.input(text("ker"), text("nel"))
    viz.settle()
    viz.input(key("A", 1, 1), key("A", 0))
    viz.settle()
    viz.input(key("C", 1, 1), key("C", 0))
    check("what is copied goes to the page", viz.until("C") == b"kernel")
    viz.input(key("Backspace", 1), key("Backspace", 0))
    viz.settle()
    viz.input(clipboard("pasted π"), key("V", 1, 1), key("V", 0))
    viz.settle()
    viz.input(key("A", 1, 1), key("A", 0))
    viz.settle()
    viz.input(key("C", 1, 1), key("C", 0))
    check("what the page pastes arrives", viz.until("C") == "pasted π".encode())
    viz.end()


def pace():
    viz = Program(program, trace)
    viz.settle()
    for i in range(40):
        viz.input(move(700, 400), wheel(0.5 if i % 2 else -0.4))
        time.sleep(0.005)
    time.sleep(0.5)
    unseen = 0
    last = None
    while True:
        try:
            kind, content = viz.take(0.3)
        except queue.Empty:
            break
        if kind == "F":
            unseen, last = unseen + 1, content
    check("a page that draws nothing gets four frames at most", 1 <= unseen <= 4, unseen)
    viz.send(acknowledge(last.number))
    rest = frames(viz.settle())
    check("and the rest when it has drawn", rest and rest[-1].input == viz.sent, (len(rest), viz.sent))
    viz.end()


def watched():
    file = scratch / "changes.json"
    shutil.copy(result, file)
    viz = Program(program, file)
    viz.settle()
    content = json.loads(file.read_text())
    content["title" if "title" in content else "lab"] = "another"
    time.sleep(0.05)
    file.write_text(json.dumps(content))
    end = time.monotonic() + 10
    seen = []
    while not seen and time.monotonic() < end:
        seen = frames(viz.settle())
    check("a file that changed is shown anew", seen != [])
    file.write_text("{ half")
    said = False
    end = time.monotonic() + 10
    while not said and time.monotonic() < end:
        viz.settle()
        said = any(i["name"] == "message" for i in viz.layout())
    check("one that cannot be read is said, and what was shown stays", said and viz.process.poll() is None)
    viz.end()


def ticks(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def idle():
    viz = Program(program, trace)
    viz.settle(1.5)
    before = ticks(viz.process.pid)
    time.sleep(4)
    used = ticks(viz.process.pid) - before
    check("no CPU time without input: under 1% of four seconds", used <= 4, f"{used} ticks")
    print(f"{used} ticks of CPU time in four idle seconds")
    viz.end()


def refused(what, message, reason, first=True):
    viz = Program(program, result)
    if first:
        viz.settle()
    viz.send(message)
    try:
        said = viz.until("E").decode()
    except AssertionError as error:
        said = str(error)
    check(f"{what} is refused with a reason", reason in said and viz.process.wait(10) == 2, said)


def hostile():
    refused("an unknown kind", b"z", "there is no message of kind 122")
    refused("a cut message", events(1) + b"\x01\x00", "the message ends too early")
    refused("a canvas of no size", events(1, resize(0, 0)), "the canvas's width is 0")
    refused("a second hello", hello(), "a second hello")
    refused("a frame that was never sent", acknowledge(10_000), "frame 10000 was never sent")
    refused("a key outside the array", events(1, struct.pack("<BHBB", 4, 65535, 1, 0)), "the key is 65535")
    viz = Program(program, result)
    viz.settle()
    viz.process.stdin.write(struct.pack("<I", 1 << 31))
    viz.process.stdin.flush()
    check("a message of 2 GiB is refused before it is read", b"2147483648 bytes" in viz.until("E") and viz.process.wait(10) == 2)
    viz = Program(program, result, greet=False)
    viz.send(b"l")
    check("a page that does not greet is refused", b"the first message is no hello" in viz.until("E"))
    viz = Program(program, result, version=2)
    check("another version is refused", b"the page speaks version 2" in viz.until("E"))
    viz = Program(program, "missing.json")
    check("a file that is not there is said in the first message", "missing.json" in viz.first[1].get("error", "") and viz.process.wait(10) == 2, viz.first)
    # A page that sends presses and draws nothing: its events are bounded.
    viz = Program(program, result)
    viz.settle()
    flood = events(1, *([button(0, 1), button(0, 0)] * 2000))
    for _ in range(20):
        viz.send(flood)
    got = ""
    while got not in ("E", "end"):
        got, content = viz.take()
    check("a flood of presses ends with a reason", got == "E" and b"events wait" in content, content)


def random_bytes():
    random.seed(20261128)
    codes = set()
    for _ in range(40):
        viz = Program(program, result)
        viz.settle(0.05)
        for _ in range(20):
            size = random.randrange(40)
            body = random.choice([b"e\1\0\0\0", b"h", b"a", b"l", b""]) + bytes(random.choice([0, 1, 2, 3, 63, 64, 255, random.randrange(256)]) for _ in range(size))
            viz.send(body)
        codes.add(viz.end())
    check("random messages end in order or are refused", codes <= {0, 2}, codes)


shutil.rmtree(scratch, ignore_errors=True)
scratch.mkdir(parents=True)
os.chdir(scratch)
for part in (first_frames, looks, typing, pace, watched, idle, hostile, random_bytes):
    part()
sys.exit(1 if failures else 0)
