"""Speaks with `ridge-viz --web` over its pipes, as the server and the page do."""
import json
import queue
import struct
import subprocess
import threading
import time
import zlib

VERSION = 1
KEYS = {"Left": 263, "Right": 262, "Up": 265, "Down": 264, "Escape": 256, "Enter": 257, "Backspace": 259, "Tab": 258, "Space": 32}


def hello(width=1280, height=720, ratio=1.0, dark=False, version=VERSION):
    return struct.pack("<cIfffB", b"h", version, width, height, ratio, dark)


def acknowledge(number):
    return struct.pack("<cI", b"a", number)


def events(number, *some):
    return struct.pack("<cI", b"e", number) + b"".join(some)


def move(x, y):
    return struct.pack("<Bff", 1, x, y)


def button(code, down):
    return struct.pack("<BHB", 2, code, down)


def wheel(y, x=0.0, modifiers=0):
    return struct.pack("<BffB", 3, x, y, modifiers)


def key(name, down, modifiers=0):
    return struct.pack("<BHBB", 4, KEYS.get(name) or ord(name), down, modifiers)


def text(value):
    return struct.pack("<BI", 5, len(value.encode())) + value.encode()


def resize(width, height, ratio=1.0):
    return struct.pack("<Bfff", 7, width, height, ratio)


def theme(dark):
    return struct.pack("<BB", 8, dark)


def clipboard(value):
    return struct.pack("<BI", 9, len(value.encode())) + value.encode()


class Frame:
    """The head of a frame's message."""
    def __init__(self, body, wire):
        self.number, self.input, self.width, self.height, self.ratio, self.background, self.cursor, self.wants_text, self.lists = \
            struct.unpack_from("<IIfffIBBH", body)
        self.body, self.bytes, self.at = body, wire, time.monotonic()


class Stream:
    """What the program says behind its first message: pieces of one compressed stream."""
    def __init__(self):
        self.inflate, self.plain, self.wire = zlib.decompressobj(-15), b"", 0

    def add(self, piece):
        """The messages that this piece ends: kind and content, a frame as one."""
        self.plain += self.inflate.decompress(piece)
        self.wire += len(piece)
        while len(self.plain) >= 4 and len(self.plain) >= 4 + struct.unpack_from("<I", self.plain)[0]:
            size = struct.unpack_from("<I", self.plain)[0]
            kind, content = self.plain[4:5].decode(), self.plain[5:4 + size]
            self.plain = self.plain[4 + size:]
            yield kind, Frame(content, self.wire) if kind == "F" else content
            self.wire = 0


class Program:
    """`ridge-viz --web FILE...`. Messages arrive in the background."""
    def __init__(self, program, *arguments, greet=True, **more):
        self.process = subprocess.Popen([program, "--web", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.messages = queue.Queue()
        self.sent = 0
        self.said = b""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        self.first = self.take()
        if greet and "error" not in self.first[1]:
            self.send(hello(**more))

    def _listen(self):
        self.said = self.process.stderr.read()

    def _read(self):
        stream, first = Stream(), True
        while True:
            head = self.process.stdout.read(4)
            if len(head) < 4:
                break
            body = self.process.stdout.read(struct.unpack("<I", head)[0])
            if first:
                self.messages.put(("hello", json.loads(body)))
                first = False
                continue
            for message in stream.add(body):
                self.messages.put(message)
        self.messages.put(("end", None))

    def send(self, message):
        try:
            self.process.stdin.write(struct.pack("<I", len(message)) + message)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def input(self, *some):
        self.sent += 1
        self.send(events(self.sent, *some))
        return self.sent

    def take(self, timeout=30):
        return self.messages.get(timeout=timeout)

    def until(self, kind, timeout=30):
        """The next message of this kind; frames on the way are acknowledged."""
        end = time.monotonic() + timeout
        while True:
            got, content = self.take(max(0.01, end - time.monotonic()))
            if got == "F":
                self.send(acknowledge(content.number))
            if got == kind:
                return content
            if got == "end":
                raise AssertionError(f"ridge-viz ended with {self.process.wait()}: {self.said.decode()}")

    def settle(self, quiet=0.15):
        """Takes messages until the program has nothing more to say; returns them. On a busy machine silence alone tells
        nothing, so the program is asked twice, and answers in between."""
        got, calm = [], 0
        while calm < 2:
            before, asked = len(got), False
            while True:
                try:
                    kind, content = self.take(30 if asked else quiet)
                except queue.Empty:
                    self.send(b"l")
                    asked = True
                    continue
                if kind == "end":
                    raise AssertionError(f"ridge-viz ended with {self.process.wait()}: {self.said.decode()}")
                if kind == "L":
                    break
                if kind == "F":
                    self.send(acknowledge(content.number))
                got.append((kind, content))
            calm = calm + 1 if len(got) == before else 0
        return got

    def layout(self):
        self.send(b"l")
        return json.loads(self.until("L"))["items"]

    def place(self, name):
        item = [i for i in self.layout() if i["name"] == name][-1]
        if "x0" in item:
            return (item["x0"] + item["x1"]) / 2, (item["y0"] + item["y1"]) / 2
        return item["x"], item["y"]

    def click(self, x, y):
        self.input(move(x, y))
        self.input(button(0, 1), button(0, 0))

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # a program that has refused a message reads no more
            pass
        return self.process.wait(10)
