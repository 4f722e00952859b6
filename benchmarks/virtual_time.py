"""The emulator's virtual time beside the time of real GPUs, for the cases of labs with ranks that GPUs are timed on.

python3 benchmarks/virtual_time.py benchmarks/emulator/x2 benchmarks/h200x2 > benchmarks/emulator/x2/README.md

The first folder is what `ridge bench --emulate-gpus 2 [--check]` left, the second what `ridge bench --backend cuda [--check]` left. Reasons for what
is off by more than a fifth are in reasons.toml beside the first.
"""
import json
import pathlib
import statistics
import sys
import tomllib


def records(folder, schema):
    found = {}
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        record = json.loads(file.read_text())
        if record.get("schema") == schema:
            found.setdefault(record["lab"], []).append(record)
    return found


def timings(task):
    return task.get("timings") or ([task["timing"]] if task.get("timing") else [])


def main():
    emulated, measured = (pathlib.Path(a) for a in sys.argv[1:3])
    virtual, real = records(emulated, "ridge.emulated/1"), records(measured, "ridge.result/1")
    reasons = tomllib.loads((emulated / "reasons.toml").read_text())
    rows, why, missing = [], [], []
    names = set()
    for lab, (record,) in sorted(real.items()):
        names.add(f"{record['device'].get('gpus', '1')} x {record['device']['name']}")
        for task in record["tasks"]:
            for timing in timings(task):
                seconds = statistics.median(timing["submission_s"])
                case = timing.get("case") or task["cases"][-1]["name"]
                found = [t for r in virtual.get(lab, []) for t in r["tasks"] if t["id"] == task["id"] and t["case"] == case]
                reason = reasons.get(lab, {}).get(task["id"], "")
                if not found:
                    missing.append(f"- {lab}, `{task['id']}` ({case}): {reason or 'not emulated'}")
                    continue
                ratio = found[0]["seconds"] / seconds
                rows.append(f"| {lab} | {task['id']} | {case} | {found[0]['seconds'] * 1e6:.1f} us | {seconds * 1e6:.1f} us | {ratio:.2f} |")
                if not 0.8 <= ratio <= 1.2:
                    if not reason:
                        sys.exit(f"{lab}, {task['id']} is off by more than a fifth, and reasons.toml does not say why")
                    why.append(f"- {lab}, `{task['id']}`: {reason}")
    profiles = {r["profile"] for all_ in virtual.values() for r in all_}
    print(f"""# Virtual time beside measured time

Made by [virtual_time.py](../../virtual_time.py) of the files beside this one (the emulator with the profile {', '.join(sorted(profiles))}: `ridge bench --emulate-gpus 2
--check`) and of [{measured.name}](../../{measured.name}/README.md) ({', '.join(sorted(names))}: `ridge bench --backend cuda --check`). The same cases, the same solutions. Virtual time is from the first
call to the end of all work on the slowest rank; measured time is the median of the turns.

| lab | task | case | virtual | measured | virtual / measured |
|---|---|---|--:|--:|--:|""")
    print("\n".join(rows))
    if why:
        print("\nOff by more than a fifth, and why:\n\n" + "\n".join(why))
    if missing:
        print("\nNot emulated:\n\n" + "\n".join(missing))


main()
