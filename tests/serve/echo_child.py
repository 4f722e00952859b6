"""A stand-in for `ridge-viz --web`: echoes messages. "exit" ends it with a reason, "flood" makes it
write for ever, "errors" makes it do so to stderr alone, "deaf" makes it read no more."""
import os
import struct
import sys
import time


def read(n):
    data = b""
    while len(data) < n:
        more = os.read(0, n - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def write(message):
    data = struct.pack("<I", len(message)) + message
    while data:
        data = data[os.write(1, data):]


while True:
    message = read(struct.unpack("<I", read(4))[0])
    if message == b"exit":
        sys.stderr.write("a line\nthe trace is damaged\n")
        sys.exit(1)
    if message == b"damaged":
        os.write(1, b"\xff\xff\xff\xff")
    if message == b"errors":
        os.close(1)
        for _ in range(3):
            os.fork()
        while True:
            os.write(2, b"e" * 65536)
    if message == b"deaf":
        os.close(0)
        time.sleep(100)
    while message == b"flood":
        write(b"x" * (1 << 20))
    write(message)
