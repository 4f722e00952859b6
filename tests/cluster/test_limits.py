#!/usr/bin/env python3
"""How soon: a dead node's work runs elsewhere within 45 s with the settings that course.toml has by itself; a hung job ends
within its limit and 2 s; no process of it is left. The only test of the cluster that asserts times."""
from rehearsal import *


def dead_node(slurm):
    course = Course(slurm)
    for i in range(2):
        course.add(f"s{i}", f"slow 20 {i * 10} of {i}", i * 10.0)
    course.roster()
    process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    beats = lambda: [p for p in (course.dir / "shared/beat").glob("ridge-*") if not p.name.endswith(".tmp")] if (course.dir / "shared/beat").exists() else []
    while len(beats()) < 2:
        time.sleep(0.1)
    node = beats()[0].read_text().split()[0]
    time.sleep(1)
    slurm.call("doom", node)
    died = time.monotonic()
    took = None
    while took is None and time.monotonic() - died < 120:
        time.sleep(0.1)
        for p in beats():
            if "ridge-" in p.name and p.stat().st_mtime > time.time() - 1 and p.read_text().split()[0] != node:
                made = course.rows("SELECT count(*) FROM attempt WHERE number = 2")[0][0]
                new = course.rows("SELECT b.name || '.' || a.task FROM attempt a JOIN batch b ON b.id = a.batch WHERE a.number = 2")
                if made and p.name in [n for n, in new]:
                    took = time.monotonic() - died
    expect("the dead node's work runs elsewhere within 45 s: " + str(took), True, took is not None and took <= 45)
    process.communicate(timeout=200)
    course.check()
    expect("the node is left out", [(node,)], course.rows("SELECT name FROM node WHERE excluded = 1"))
    print(f"{node} died; its work ran elsewhere after {took:.1f} s")
    slurm.call("start", node)
    course.remove()


def hung(slurm):
    course = Course(slurm, grading="retries = 0\nlimit_s = 4\n")
    course.add("hangs", "hang", None)
    course.roster()
    course.run(*course.grade_words())
    (seconds,) = [json.loads(p.read_text())["seconds"] for p in (course.dir / "shared/taken").iterdir()]
    expect(f"a hung judge ends within its limit and 2 s: {seconds}", True, 4 <= seconds <= 6)
    expect("its work is not graded, which is no zero", [("not-graded",)], course.rows("SELECT state FROM work"))
    left = [p for p in pathlib.Path("/proc").glob("[0-9]*/environ") if readable(p) and str(course.dir).encode() in p.read_bytes()]
    expect("processes that are left", [], left)
    print(f"a limit of 4 s ended a hung job after {seconds:.2f} s")
    course.remove()


def readable(p):
    try:
        p.read_bytes()
        return True
    except OSError:
        return False


import json
os.environ.pop("RIDGE_TEST_SLURM", None)
with Slurm(4) as slurm:
    hung(slurm)
    dead_node(slurm)
print(f"{len(checks)} checks")
