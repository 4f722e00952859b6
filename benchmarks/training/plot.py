# Scaling and loss curves as SVG, from what run.sh leaves. plot.py FOLDER: weak_scaling.svg, strong_scaling.svg, losses.svg there.
# Weak: tokens per second and GPU with the same batch on each rank, over one rank's. Strong: the speed-up of one batch's blocks
# over tensor-parallel ranks.
import json
import pathlib
import sys

W, H, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 70, 210, 40, 50
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"]  # told apart by all (Okabe and Ito)


def chart(title, x_name, y_name, lines, xs, y_low, y_high):
    """lines: {name: [(x, y)]}; xs: ticks. Linear axes."""
    x0, x1 = min(xs), max(max(xs), min(xs) + 1)
    px = lambda x: LEFT + (x - x0) / (x1 - x0) * (W - LEFT - RIGHT)
    py = lambda y: H - BOTTOM - (y - y_low) / (y_high - y_low) * (H - TOP - BOTTOM)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="13">',
           f'<rect width="{W}" height="{H}" fill="white"/>', f'<text x="{LEFT}" y="24" font-size="16">{title}</text>']
    for k in range(6):
        y = y_low + (y_high - y_low) * k / 5
        out.append(f'<line x1="{LEFT}" x2="{W - RIGHT}" y1="{py(y):.1f}" y2="{py(y):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{py(y) + 4:.1f}" text-anchor="end">{y:.4g}</text>')
    for x in xs:
        out.append(f'<text x="{px(x):.1f}" y="{H - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    out.append(f'<text x="{(LEFT + W - RIGHT) / 2:.0f}" y="{H - 12}" text-anchor="middle">{x_name}</text>')
    out.append(f'<text transform="translate(18 {(TOP + H - BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle">{y_name}</text>')
    for n, (name, points) in enumerate(lines.items()):
        colour = COLOURS[n % len(COLOURS)]
        path = " ".join(f"{px(x):.1f},{py(min(max(y, y_low), y_high)):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(points) < 20:
            out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="4" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{W - RIGHT + 10}" y="{TOP + 20 + 20 * n}" fill="{colour}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    folder = pathlib.Path(sys.argv[1])
    runs = [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
    whole = lambda r: r.get("overlap", True) and r.get("messages", True) and r.get("type") == "bf16"
    weak, strong = {}, {}
    for r in filter(whole, runs):
        if r["what"] == "tensor parallel blocks":
            strong.setdefault(f'blocks of {r["model"]}', []).append((r["ranks"], 1 / r["median_s"]))
        elif "tokens_per_s_per_gpu" in r:
            name = {"ridge nn": "ours", "PyTorch eager": "PyTorch"}.get(r["what"], r["what"]) + ", graph" * r.get("graph", False) + ", fused" * r.get("fused", False)
            weak.setdefault(f'{name}, {r["model"].removeprefix("gpt").lstrip("2-")} x {r["batch"]}', []).append((r["ranks"], r["tokens_per_s_per_gpu"]))
    relative = lambda lines: {name: [(p, y / sorted(points)[0][1]) for p, y in sorted(points)]
                              for name, points in lines.items() if len(dict(points)) > 1 and sorted(points)[0][0] == 1}
    weak, strong = relative(weak), relative(strong)
    ticks = lambda lines: sorted({x for points in lines.values() for x, _ in points})
    if weak:
        (folder / "weak_scaling.svg").write_text(chart("Weak scaling, data parallel", "GPUs", "tokens/s and GPU over one GPU's",
                                                       weak, ticks(weak), 0.8, 1.05))
    if strong:
        most = max(ticks(strong))
        strong["ideal"] = [(1, 1), (most, most)]
        (folder / "strong_scaling.svg").write_text(chart("Strong scaling, tensor parallel", "GPUs", "speed-up", strong,
                                                         ticks(strong), 0, most))
    losses = {}
    for file in sorted(folder.glob("losses_*.txt")):
        values = [float(x) for x in file.read_text().split()]
        losses[file.stem[7:].replace("_", ", ")] = list(enumerate(values))
    if losses:
        top = max(y for points in losses.values() for _, y in points if y == y)
        count = max(len(points) for points in losses.values())
        losses = {n: [(x, y if y == y else top) for x, y in points] for n, points in losses.items()}
        (folder / "losses.svg").write_text(chart("Loss by format", "update", "nats a token", losses,
                                                 range(0, count + 1, max(1, count // 5)), 0, top))


main()
