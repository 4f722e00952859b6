#!/usr/bin/env python3
"""The collector, killed at every one of its writes, flushes, links and renames in turn: nothing is lost, and the next one
goes on at once.

test_kill_points.py SHIM [STEP [FIRST]]    SHIM: kill_at.so; every STEPth boundary (1: all) from FIRST (1)
"""
import sys
from rehearsal import *

shim, step, start_at = sys.argv[1], int((sys.argv + ["1"])[2]), int((sys.argv + ["1", "1"])[3])


def fresh(slurm):
    course = Course(slurm, grading="per_job = 4\n")
    for i in range(4):
        course.add(f"s{i}", f"points {i * 20} of {i}", i * 20.0)
    course.roster()
    return course


with Slurm(4) as slurm:
    # How many calls a whole grading makes.
    course = fresh(slurm)
    count = course.dir / "count"
    done = course.run(*course.grade_words(), env={"LD_PRELOAD": shim, "RIDGE_KILL_COUNT": str(count)})
    expect("a grading with the shim", 0, done.returncode)
    course.check()
    # The main thread may end by _exit; then the count comes from bisecting upwards.
    calls = int(count.read_text()) if count.exists() else 120
    course.remove()
    killed, slowest, at, tried = 0, 0.0, start_at, 0
    while at <= 2 * calls:
        course = fresh(slurm)
        first = course.run(*course.grade_words(), env={"LD_PRELOAD": shim, "RIDGE_KILL_AT": str(at)})
        killed += first.returncode == -signal.SIGKILL
        acknowledged = []
        if (course.dir / "gradebook.sqlite").exists():
            try:
                acknowledged = course.rows("SELECT token, points FROM result")
            except sqlite3.OperationalError:  # killed before the tables were there
                pass
        files = {p.name for d in ("spool", "taken") if (course.dir / "shared" / d).exists() for p in (course.dir / "shared" / d).iterdir()}
        time.sleep(0.3)
        start = time.monotonic()
        last = course.run(*course.grade_words())
        took = time.monotonic() - start
        if {t + ".json" for t, _ in acknowledged} <= files and len(acknowledged) == 4:
            slowest = max(slowest, took)
        if last.returncode != 0:
            raise SystemExit(f"FAILED: killed at {at}, then: {last.stderr} {last.stdout}; kept {course.dir}")
        course.check()
        kept = dict(course.rows("SELECT token, points FROM result"))
        for token, points in acknowledged:
            expect(f"killed at {at}: the acknowledged result of {token}", points, kept.get(token))
        course.remove()
        tried += 1
        at += step
    if killed < tried // 2:
        raise SystemExit(f"FAILED: of {tried} only {killed} were killed: is the shim loaded?")
print(f"{calls} calls; {tried} boundaries tried, {killed} killed there; slowest resume with all results there {slowest:.2f} s; {len(checks)} checks")
