"""The picture at the top of README.md, from recorded results: python3 visualizer/hero.py. With --check it writes nothing,
and fails where the picture is not what the records say.

Left, one store of a warp of lab 01's transpose, before and after (visualizer/stories/01_transpose): threads above, and
below them the sectors of memory that their addresses touch. Right, lab 04's climb on an H200. Every number in the
picture is read from the records.
"""

import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORY = ROOT / "visualizer/stories/01_transpose/01_coalescing"
H200 = ROOT / "benchmarks/h200"

THEMES = {
    "light": {"back": "#ffffff", "card": "#f6f8fa", "edge": "#d1d9e0", "text": "#1f2328", "dim": "#59636e", "grid": "#e1e6eb",
              "bad": "#c2410c", "good": "#00694b", "mark": "#fde7d9", "hill": "#0072b2", "wmma": "#56b4e9", "roof": "#1f2328"},
    "dark": {"back": "#0d1117", "card": "#151b23", "edge": "#3d444d", "text": "#f0f6fc", "dim": "#9198a1", "grid": "#262c36",
             "bad": "#ff9a62", "good": "#3fb98f", "mark": "#3a2416", "hill": "#58a6e8", "wmma": "#8ccbf5", "roof": "#f0f6fc"},
}
WIDTH, HEIGHT = 960, 322
SANS = "-apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Picture:
    def __init__(self, colours):
        self.c = colours
        self.out = []

    def add(self, svg):
        self.out.append(svg)

    def text(self, x, y, text, size=13, colour="text", weight=400, anchor="start", font=SANS):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" font-family="{font}" font-size="{size}" font-weight="{weight}" '
                 f'fill="{self.c[colour]}" text-anchor="{anchor}" xml:space="preserve">{escape(text)}</text>')

    def rect(self, x, y, w, h, fill, edge=None, radius=0):
        stroke = f' stroke="{self.c[edge]}"' if edge else ""
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{radius}" fill="{self.c[fill]}"{stroke}/>')

    def line(self, points, colour, width=1.0, dash="", opacity=1.0):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.add(f'<polyline points="{path}" fill="none" stroke="{self.c[colour]}" stroke-width="{width}" '
                 f'stroke-linejoin="round" opacity="{opacity}"{dashes}/>')


def store_request(path):
    """Of a recording: the first store of a whole warp to global memory; its addresses, counts, and source line."""
    recording = json.loads(path.read_text())
    kernel = recording["kernels"][0]
    request = next(r for r in kernel["requests"] if r["op"] == "global_st" and r["lanes"] == "ffffffff")
    addresses, at = [], 0
    for step in request["addresses"]:
        at += step
        addresses.append(at)
    line = next(n for n in kernel["lines"] if n["pc"] == request["pc"])
    source = next(s for s in recording["sources"] if s["file"] == line["file"])
    return addresses, request["sectors"], request["ideal_sectors"], line, source["text"].splitlines()[line["line"] - 1].strip()


def warp(p, x, y, width, path, colour):
    addresses, sectors, ideal, line, code = store_request(path)
    code = re.sub(r"static_cast<[^>]*>\((\w+)\)", r"\1", code[code.index("out[") :])
    code = re.sub(r"static_cast<[^>]*>\((\w+ \+ \w+)\)", r"(\1)", code).replace("threadIdx.", "")
    name = f"{line['file']}:{line['line']}"
    p.rect(x, y, width, 25, "mark" if colour == "bad" else "back", "edge", 4)
    p.text(x + 9, y + 17, name, 12, colour, 600, font=MONO)
    p.text(x + 128, y + 17, code, 12, font=MONO)
    top, bottom = y + 34, y + 76
    touched = sorted({a // 32 for a in addresses})  # sectors of 32 bytes
    assert len(touched) == sectors
    cell = width / 32
    # A cell for each touched sector; the rest of the row is untouched memory.
    for k in range(32):
        p.rect(x + k * cell + 1, bottom, cell - 2, 13, "grid", None, 2)
    for k, sector in enumerate(touched):
        used = sum(1 for a in addresses if a // 32 == sector) * 4 / 32
        p.rect(x + k * cell + 1, bottom, (cell - 2) * used, 13, colour, None, 2)
    for lane, address in enumerate(addresses):
        k = touched.index(address // 32)
        inside = (address % 32 + 2) / 32
        p.line([(x + (lane + 0.5) * cell, top + 9), (x + k * cell + 1 + (cell - 2) * inside, bottom)], colour, 1.1, opacity=0.75)
        p.rect(x + lane * cell + 2, top, cell - 4, 9, colour, None, 2)
    p.text(x, bottom + 34, f"{sectors} sectors", 17, colour, 700)
    p.text(x + 112, bottom + 34, f"{len(addresses) * 4} of {sectors * 32} bytes used", 13, "dim")
    p.text(x + width, bottom + 34, f"{sectors / ideal:g} x the ideal", 17, colour, 700, "end")


def rate(step, who="submission_s"):  # TFLOP/s by the median round, as on the pages of `ridge bench --tables`
    return step["timing"]["operations"] / statistics.median(step["timing"][who]) / 1e12


def climb(p, x, y, width, height):
    record = json.loads((H200 / "04_tensor_core.steps.json").read_text())
    ceilings = json.loads((H200 / "calibration.json").read_text())["ceilings"]
    roof = next(c["value"] for c in ceilings if c["id"] == "bf16") / 1e12
    ridges = {}  # by task; the solution of the first task repeats its last step
    for step in record["steps"]:
        ridges.setdefault(step["task"], []).append(step)
    first, second = ridges.values()
    first = [s for s in first if s["file"].startswith("steps/")]
    shown = first + second
    last = second[-1]
    vendor = rate(last, "baseline_s")

    def at(k, value):
        return x + (k + 0.5) * width / len(shown), y + height - value / 1000 * height

    def level(value, colour, line_width=1.0, dash=""):
        p.line([(x, at(0, value)[1]), (x + width, at(0, value)[1])], colour, line_width, dash)

    for value in (0, 250, 500, 750):
        level(value, "grid" if value else "edge")
        p.text(x - 7, at(0, value)[1] + 4, str(value), 11, "dim", anchor="end")
    level(roof, "roof", 2.5)
    p.text(x, at(0, roof)[1] - 7, f"the roof: {roof:.0f} TFLOP/s, the tensor cores as measured", 12, weight=600)
    level(vendor, "dim", 1.4, "5 4")
    p.text(x, at(0, vendor)[1] + 16, f"{last['baseline']}, measured in turn: {vendor:.0f}", 12, "dim")
    for ridge, colour, begin in ((first, "wmma", 0), (second, "hill", len(first))):
        points = [at(begin + k, rate(s)) for k, s in enumerate(ridge)]
        area = [(points[0][0], y + height), *points, (points[-1][0], y + height)]
        p.add(f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in area)}" fill="{p.c[colour]}" opacity="0.18"/>')
        p.line(points, colour, 3)
        for k, (step, (a, b)) in enumerate(zip(ridge, points)):
            top = step is last
            p.add(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{7 if top else 4.5}" fill="{p.c["good" if top else colour]}" '
                  f'stroke="{p.c["card"]}" stroke-width="2"/>')
            p.text(a, y + height + 17, str(step["step"]) if step["file"].startswith("steps/") else "", 11, "dim", anchor="middle")
    start, end = at(0, rate(first[0])), at(len(shown) - 1, rate(last))
    p.text(start[0] - 8, start[1] - 13, f"{rate(first[0]):.0f}", 17, "hill", 700)
    p.text(end[0] + 6, end[1] + 28, f"{rate(last):.0f}", 17, "good", 700, "end")
    p.text(at(2, 0)[0], at(0, 300)[1], "WMMA", 12, "dim", anchor="middle")
    p.text(at(8, 0)[0] + 14, at(0, 470)[1], "TMA + wgmma", 12, "dim")
    return len(shown) - 1, rate(last) / rate(first[0]), record["device"]["name"]


def picture(theme):
    p = Picture(THEMES[theme])
    half = WIDTH / 2 - 8
    p.rect(0.5, 0.5, half - 1, HEIGHT - 1, "card", "edge", 8)
    p.rect(half + 16.5, 0.5, half - 1, HEIGHT - 1, "card", "edge", 8)
    p.text(20, 32, "Lab 01: on your laptop, without a GPU", 17, weight=700)
    p.text(20, 53, "One store by the 32 threads of a warp, in sectors of 32 bytes", 13, "dim")
    recordings = sorted(STORY.glob("*.warp.json"))
    warp(p, 20, 66, half - 40, recordings[0], "bad")
    warp(p, 20, 198, half - 40, recordings[-1], "good")
    left = half + 36
    steps, gain, device = climb(p, left + 26, 62, half - 62, 230)
    p.text(left, 32, f"Lab 04: the climb on an {device}", 17, weight=700)
    p.text(left, 53, f"A bf16 matrix product: {steps} steps, one idea each, {gain:.0f} times as fast", 13, "dim")
    body = "\n".join(p.out)
    title = "One store of a warp, before and after; and a matrix product that climbs to the roof of a GPU"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">\n'
            f"<title>{title}</title>\n{body}\n</svg>\n")


stale = []
for theme in THEMES:
    file = ROOT / f"docs/images/hero_{theme}.svg"
    if "--check" not in sys.argv[1:]:
        file.write_text(picture(theme))
        print(file.relative_to(ROOT))
    elif not file.exists() or file.read_text() != picture(theme):
        stale.append(str(file.relative_to(ROOT)))
if stale:
    sys.exit(f"{' and '.join(stale)}: not what the records say\n  try: python3 visualizer/hero.py")
