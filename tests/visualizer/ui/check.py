"""What scripts left behind: pictures and layouts. check.py FOLDER"""
import json
import pathlib
import struct
import sys
import zlib

folder = pathlib.Path(sys.argv[1])


def pixels(name):
    """Rows of RGB bytes of a PNG of stb (8 bit, RGB, not interlaced)."""
    data, at, body = (folder / name).read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        if kind == b"IDAT":
            body += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, rows, before, stride = zlib.decompress(body), [], bytearray(3 * width), 3 * width
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = row[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
            if kind == 1:
                row[i] = (row[i] + a) & 255
            elif kind == 2:
                row[i] = (row[i] + b) & 255
            elif kind == 3:
                row[i] = (row[i] + (a + b) // 2) & 255
            elif kind == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        rows.append(row)
        before = row
    return rows


def mean(rows):
    return sum(sum(r) for r in rows) / sum(len(r) for r in rows)


def difference(a, b):
    return sum(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)) / sum(len(r) for r in a)


light, dark, again = pixels("light.png"), pixels("dark.png"), pixels("light2.png")
assert mean(light) > 190 and mean(dark) < 70, (mean(light), mean(dark))
assert difference(light, again) < 1, "back in the light all is as before"


def layout(name):
    return {i["name"]: i for i in json.load(open(folder / name))["items"]}


normal, large, back, present = (layout(f"{n}.json") for n in ("normal", "large", "again", "present"))
height = lambda items: items["label/copy"]["y1"] - items["label/copy"]["y0"]
assert height(large) > 1.15 * height(normal), "Ctrl + makes type larger"
assert height(present) > 1.15 * height(normal), "presenting makes type larger"
assert abs(height(back) - height(normal)) < 1.5
print("pictures and layouts are as expected")
