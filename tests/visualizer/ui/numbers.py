"""The numbers in the picture are those of the grader's file: numbers.py RESULT.json LAYOUT.json"""
import json
import sys

result = json.load(open(sys.argv[1]))
items = {i["name"]: i for i in json.load(open(sys.argv[2]))["items"]}
same = lambda name, want: abs(items[name]["value"] - want) <= 1e-12 * abs(want) or sys.exit(
    f"{name}: the picture has {items[name]['value']!r}, the file {want!r}")
median = lambda v: sorted(v)[len(v) // 2] if len(v) % 2 else sum(sorted(v)[len(v) // 2 - 1:len(v) // 2 + 1]) / 2
same("score", result["score"]["points"])
roofs = {c["id"]: c["value"] for c in result["ceilings"] if c["value"]}
drawn = [n for n in items if n.startswith("roof/")]
assert drawn, "no roof was drawn"
for name in drawn:
    same(name, roofs[name.split("/")[1]])
for task in result["tasks"]:
    same(f"points/{task['id']}", task["points"])
    r = task["roofline"]
    same(f"intensity/{task['id']}", r["operations"] / r["bytes"])
    if r["seconds"]:
        same(f"rate/{task['id']}", r["operations"] / r["seconds"])
        same(f"ratio/{task['id']}/vendor", median(task["timing"]["baseline_s"]) / r["seconds"])
print(f"{len(result['tasks'])} tasks are as in the file")
