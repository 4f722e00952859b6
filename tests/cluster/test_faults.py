#!/usr/bin/env python3
"""Grades a class again and again while things break, and compares with the gradebook that it must be.

test_faults.py [RUNS [SEED [FIRST]]]      runs FIRST (0) to RUNS (10) of a seed (1); every run says what it broke. In every
second one builds are apart from runs.
"""
import sys, threading
from rehearsal import *

arguments = sys.argv[1:] + ["10", "1", "0"][len(sys.argv) - 1:]
runs, seed, first = map(int, arguments)


def administer(slurm, stop):
    """After its controller died Slurm drains nodes ("Duplicate jobid"): an administrator resumes them."""
    while not stop.wait(2):
        drained = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T"], env=slurm.env, capture_output=True, text=True).stdout
        for line in set(drained.splitlines()):
            if "drain" in line:
                subprocess.run(["scontrol", "update", "NodeName=" + line.split()[0], "State=RESUME"], env=slurm.env, capture_output=True)


def fake_sbatch(course, lose):
    """An sbatch whose first replies get lost: the job is queued, and nobody is told."""
    tools = course.dir / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "lose").write_text("x" * lose)
    real = shutil.which("sbatch")
    (tools / "sbatch").write_text(
        f'#!/bin/sh\nleft={tools}/lose\nif [ -s $left ]; then truncate -s -1 $left\n  {real} "$@" >/dev/null\n'
        '  echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2; exit 1\nfi\n'
        f'exec {real} "$@"\n')
    (tools / "sbatch").chmod(0o755)
    course.env["PATH"] = f"{tools}:{course.env['PATH']}"


def one(slurm, number):
    pick = random.Random(seed * 1000 + number)
    course = Course(slurm, grading='heartbeat_s = 5\nstart_s = 30\nretries = 6\npreflight = ". ./preflight"\n'.replace(
        "./preflight", "$RIDGE_TEST_DIR/preflight").replace("$RIDGE_TEST_DIR", "@"))
    text = (course.dir / "course.toml").read_text().replace("@", str(course.dir))
    if number % 2 == 1:
        text = text.replace("[slurm]", '[build]\npartition = "cpu"\n[slurm]')
    (course.dir / "course.toml").write_text(text)
    (course.dir / "preflight").write_text(":\n")
    students = pick.randint(12, 24)
    for i in range(students):
        points = pick.randint(0, 100)
        kind = pick.random()
        if kind < 0.1:
            course.add(f"s{i}", f"build 0 of {i}", 0.0)
        elif kind < 0.2 and i > 0:  # the same as somebody else's
            other = f"s{pick.randrange(i)}"
            course.add(f"s{i}", (course.dir / "submissions" / other / "copy.cu").read_text()[3:-1], course.expected[other])
        else:
            course.add(f"s{i}", f"slow {pick.choice(['0.2', '0.5', '1'])} {points} of {i}", float(points))
    course.roster()
    faults = pick.sample(["collector", "collector", "slurmctld", "node", "judge", "task", "disk", "sick", "sbatch",
                          "clock", "twice"], pick.randint(1, 4))
    clock = course.dir / "clock"
    clock.write_text("0\n")
    course.env["RIDGE_CLUSTER_CLOCK"] = str(clock)
    if "sbatch" in faults:
        fake_sbatch(course, pick.randint(1, 2))
    sick = f"n{pick.randint(1, 4)}"
    if "sick" in faults:
        (course.dir / "preflight").write_text(f'[ "$SLURMD_NODENAME" != {sick} ] || {{ echo the GPU is sick; exit 1; }}\n')

    def collect(words):
        return subprocess.Popen(course.command(*words), env=course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    started = time.monotonic()
    process = collect(course.grade_words())
    dead = None
    for fault in sorted(faults, key=lambda _: pick.random()):
        time.sleep(pick.uniform(0.1, 2.5))
        if fault in ("collector", "twice"):
            if fault == "collector":
                process.kill()
            else:  # handed in again, while it is graded
                process.send_signal(signal.SIGINT)
            process.wait()
            process = collect(course.grade_words())
        elif fault == "slurmctld":
            pid = slurm.call("pid", "slurmctld").stdout.strip()
            os.kill(int(pid), signal.SIGKILL)
            time.sleep(pick.uniform(0, 3))
            slurm.call("start", "slurmctld")
        elif fault == "node":
            dead = f"n{pick.randint(1, 4)}"
            slurm.call("doom", dead)
        elif fault in ("judge", "task"):
            mark = f"{course.dir}/judge" if fault == "judge" else "cluster run"
            for line in subprocess.run(["pgrep", "-f", mark], capture_output=True, text=True).stdout.split()[:1]:
                try:
                    if str(course.dir) in open(f"/proc/{line}/cmdline").read():
                        os.kill(int(line), signal.SIGKILL)
                except OSError:
                    pass
        elif fault == "disk":
            (course.dir / "disk-full").write_text("")
            time.sleep(pick.uniform(0.2, 1.5))
            (course.dir / "disk-full").unlink()
        elif fault == "clock":
            clock.write_text(f"{pick.choice([-86400, 86400 * 30, -3600, 7200])}\n")
    if dead:
        time.sleep(2)
        slurm.call("start", dead)
    for _ in range(40):  # a fault of the gradebook's machine ends the collector: an operator starts it again
        try:
            out = process.communicate(timeout=240)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit(f"FAILED: run {number}, {faults}: no end; kept {course.dir}")
        if process.returncode == 0:
            break
        time.sleep(0.5)
        process = collect(course.grade_words())
    try:
        course.check()
    except SystemExit:
        print(out, f"\nrun {number} broke {faults}; kept {course.dir}")
        raise
    attempts = dict(course.rows("SELECT state, count(*) FROM attempt GROUP BY state"))
    print(f"run {number}: {students} students, broke {', '.join(sorted(faults))}: {attempts}, {time.monotonic() - started:.1f} s", flush=True)
    course.remove()
    for _ in range(150):  # a node that was dead is back for the next run
        text = subprocess.run(["sinfo", "-h", "-N", "-p", "grade", "-o", "%T"], env=slurm.env, capture_output=True, text=True).stdout.split()
        if text and all(t in ("idle", "mixed", "allocated") for t in text):
            break
        for node in range(1, 5):
            subprocess.run(["scontrol", "update", f"NodeName=n{node}", "State=RESUME"], env=slurm.env, capture_output=True)
        time.sleep(0.2)


with Slurm(4) as slurm:
    stop = threading.Event()
    threading.Thread(target=administer, args=(slurm, stop), daemon=True).start()
    for number in range(first, runs):
        one(slurm, number)
    stop.set()
print(f"{runs - first} runs of seed {seed}: {len(checks)} checks, nothing lost, nothing counted twice, no failure of the infrastructure scored")
