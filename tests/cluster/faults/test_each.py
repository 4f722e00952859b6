#!/usr/bin/env python3
"""Each fault alone, and after it: nothing lost, nothing counted twice, no failure of the infrastructure scored, an exact export.

test_each.py [WORD...]     faults whose names have one of the words; all by default (about 10 minutes). --list names them
"""
from one_fault import *
import storage, results, slurm_faults, processes, signed
import threading

words = [w for w in sys.argv[1:] if w != "--list"]
chosen = {name: f for name, f in faults.items() if not words or any(w in name for w in words)}
if "--list" in sys.argv:
    print("\n".join(chosen))
    sys.exit(0)


def idle(slurm):
    """The nodes are back before the next fault."""
    for _ in range(100):
        out = subprocess.run(["sinfo", "-h", "-N", "-p", "grade", "-o", "%N %T"], env=slurm.env, capture_output=True, text=True).stdout
        rows = [line.split() for line in out.splitlines()]
        if len(rows) == 4 and all(state == "idle" for _, state in rows):
            return
        for node, state in rows:
            if "drain" in state or "down" in state:
                subprocess.run(["scontrol", "update", f"NodeName={node}", "State=RESUME"], env=slurm.env, capture_output=True)
        time.sleep(0.2)


def administer(slurm, stop):
    """After its controller died Slurm drains nodes ("Duplicate jobid"): an administrator resumes them."""
    while not stop.wait(2):
        out = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T %E"], env=slurm.env, capture_output=True, text=True).stdout
        for node in {line.split()[0] for line in out.splitlines() if "drain" in line and "Duplicate" in line}:
            subprocess.run(["scontrol", "update", "NodeName=" + node, "State=RESUME"], env=slurm.env, capture_output=True)


os.environ.pop("RIDGE_TEST_SLURM", None)
failed = []
with Slurm(4) as slurm:
    stop = threading.Event()
    threading.Thread(target=administer, args=(slurm, stop), daemon=True).start()
    for number, (name, function) in enumerate(chosen.items(), 1):
        begun = time.monotonic()
        own = function.__code__.co_varnames[:1] == ("slurm",)  # it makes its class itself
        r = None if own else Round(slurm)
        try:
            seen = function(slurm if own else r)
            if own:
                r, seen = seen, seen.sound()
            print(f"| {number} | {name} | {seen} |", f"<!-- {time.monotonic() - begun:.0f} s -->", flush=True)
            r.course.remove()
        except (SystemExit, Exception) as e:
            failed.append(name)
            print(f"FAILED {name}: {e!r}"[:3000], f"kept {r and r.dir}", flush=True)
            if r and r.process and r.process.poll() is None:
                r.process.kill()
            subprocess.run(["scancel", "--me"], env=slurm.env, capture_output=True)
        idle(slurm)
    stop.set()
if failed:
    raise SystemExit(f"FAILED: {len(failed)} of {len(chosen)}: " + "; ".join(failed))
print(f"{len(chosen)} faults, {len(checks)} checks: nothing lost, nothing counted twice, no failure of the infrastructure scored")
