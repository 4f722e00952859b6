#!/usr/bin/env python3
"""What is nobody's fault on a real cluster, and what is the submission's alone: preemption, limits on arrays and jobs, nodes that
get well again, endless kernels, refused submissions, a lab that changed. On a virtual Slurm with the stand-in judge."""
from rehearsal import *


def wrapper(course, name, text):
    """A program of this name before the real one."""
    tools = course.dir / "tools"
    tools.mkdir(exist_ok=True)
    (tools / name).write_text("#!/bin/sh\n" + text.replace("REAL", shutil.which(name)))
    (tools / name).chmod(0o755)
    course.env["PATH"] = f"{tools}:{os.environ['PATH']}"


def own_faults(slurm):
    """A usage error is told of once and blamed on no node; what hangs is tried twice at most; both are no zeros."""
    course = Course(slurm, grading="retries = 3\nlimit_s = 2\n")
    course.add("good", "points 40", 40.0)
    for i in range(4):
        course.add(f"usage{i}", f"usage of {i}", None)
    course.add("hangs", "hang", None)
    course.roster()
    done = course.run(*course.grade_words())
    expect("exit code: " + done.stdout + done.stderr, 3, done.returncode)
    expect("the gradebook", course.expected, course.gradebook())
    tries = dict(course.rows("SELECT s.student, count(*) FROM attempt a JOIN work w ON w.id = a.work JOIN submission s ON s.content = w.content GROUP BY 1"))
    expect("tries", {"good": 1, "hangs": 2, **{f"usage{i}": 1 for i in range(4)}}, tries)
    expect("no node is blamed", [], course.rows("SELECT * FROM node WHERE failures > 0 OR excluded = 1"))
    expect("each says why", True, done.stdout.count("an unusual file name") == 4 and "did not end within 2 s" in done.stdout)
    plan = (course.dir / "shared/batches" / course.rows("SELECT name FROM batch")[0][0] / "plan.json").read_text()
    expect("one run may take a part of the limit", True, '"--time-limit",\n  "0.3"' in plan)  # 0.6 * 2 s / 4 tasks
    course.remove()


def preemption(slurm):
    course = Course(slurm, grading="retries = 0\n")
    for i in range(4):
        course.add(f"s{i}", f"slow 6 {i * 10} of {i}", i * 10.0)
    course.roster()
    process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    beat = course.dir / "shared/beat"
    end = time.monotonic() + 60
    while time.monotonic() < end and not (beat.exists() and len([p for p in beat.glob("ridge-*") if not p.name.endswith(".tmp")]) == 4):
        time.sleep(0.1)
    urgent = subprocess.run(["sbatch", "-p", "urgent", "-N4", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 2"], capture_output=True,
                            text=True, env=course.env)
    expect("an urgent job: " + urgent.stderr, 0, urgent.returncode)
    out = process.communicate(timeout=150)[0]
    expect("all is graded, without a retry to spare: " + out, 0, process.returncode)
    course.check()
    lost = [r for r, in course.rows("SELECT reason FROM attempt WHERE state = 'lost'")]
    expect(f"preempted: {lost}", True, bool(lost) and all("preempted" in r for r in lost))
    expect("no failure of any work", [(0,)], course.rows("SELECT DISTINCT failures FROM work"))
    expect("nor of any node", [], course.rows("SELECT * FROM node"))
    course.remove()


def limits(slurm):
    """Arrays of 4 tasks at most, and 3 jobs of a user at a time, as sbatch says it."""
    course = Course(slurm, grading="per_job = 1\n")
    wrapper(course, "scontrol", 'REAL "$@" | sed "s/^MaxArraySize .*/MaxArraySize            = 4/"\n')
    wrapper(course, "sbatch", """for word; do case $word in --array=0-*) last=${word#--array=0-}; last=${last%%%*} ;; esac; done
if [ "$last" -ge 4 ]; then echo "sbatch: error: Batch job submission failed: Invalid job array specification" >&2; exit 1; fi
if [ $(($(squeue --me -h -r | wc -l) + last + 1)) -gt 3 ]; then
  echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2
  echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)" >&2
  exit 1
fi
exec REAL "$@"
""")
    for i in range(9):
        course.add(f"s{i}", f"points {i * 10} of {i}", i * 10.0)
    course.roster()
    done = course.run(*course.grade_words(), limit=150)
    expect("exit code: " + done.stdout + done.stderr, 0, done.returncode)
    course.check()
    expect("no array was too large", True, max(n for n, in course.rows("SELECT tasks FROM batch")) <= 4)
    course.remove()


def nodes_get_well(slurm):
    course = Course(slurm, grading="per_job = 1\nretries = 9\nreadmit_s = 3\npreflight = \"test ! -e 'DIR/sick-'$SLURMD_NODENAME || { echo sick; exit 1; }\"\n")
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace("DIR", str(course.dir)))
    (course.dir / "sick-n1").touch()
    for i in range(30):
        course.add(f"s{i}", f"slow 2 {i} of {i}", float(i))
    course.roster()
    process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + 60
    left_out = lambda: (course.dir / "gradebook.sqlite").exists() and course.rows("SELECT name FROM sqlite_master WHERE name = 'node'") and \
        course.rows("SELECT name FROM node WHERE excluded = 1")
    while time.monotonic() < end and not left_out():
        time.sleep(0.1)
    expect("the sick node is left out", [("n1",)], left_out())
    (course.dir / "sick-n1").unlink()
    out = process.communicate(timeout=200)[0]
    expect("exit code: " + out, 0, process.returncode)
    course.check()
    expect("it was tried again", True, course.rows("SELECT count(*) FROM event WHERE what LIKE 'node n1 is tried again'")[0][0] >= 1)
    expect("and graded", True, course.rows("SELECT count(*) FROM attempt WHERE node = 'n1' AND state = 'graded'")[0][0] >= 1)
    expect("no node is left out to be let in", 2, course.run("readmit", "n1").returncode)
    course.remove()


def course_of_one(slurm, order, grading="", fails_once=True):
    """Its first attempt fails on n1, which Slurm takes first; it has one more."""
    course = Course(slurm, grading="retries = 1\n" + grading)
    if fails_once:
        judge = course.dir / "judge"
        head, rest = judge.read_text().split("\n", 1)
        judge.write_text(f'{head}\nif mkdir "{course.dir}/once" 2>/dev/null; then echo "a hiccup" >&2; exit 3; fi\n{rest}')
    course.add("s", order, 30.0)
    course.roster()
    return course


def tried(course):
    return course.rows("SELECT state, node FROM attempt ORDER BY number")


def another_node(slurm):
    """A second attempt goes to another node, and to the same one where there is no other: refused by sbatch, or out of service."""
    course = course_of_one(slurm, "broken-on 30 n1", fails_once=False)
    done = course.run(*course.grade_words(), limit=150)
    expect("a node that is sick for this work alone: " + done.stdout + done.stderr, 0, done.returncode)
    course.check()
    first, second = tried(course)
    expect("elsewhere", (("failed", "n1"), "graded", True), (first, second[0], second[1] != "n1"))
    course.remove()

    course = course_of_one(slurm, "points 30")
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace("cpus = 1\n", 'cpus = 1\noptions = ["--nodelist=n1"]\n'))
    done = course.run(*course.grade_words(), limit=150)
    expect("no other node may take it: " + done.stdout + done.stderr, 0, done.returncode)
    course.check()
    expect("on the same node", [("failed", "n1"), ("graded", "n1")], tried(course))
    course.remove()

    course = course_of_one(slurm, "points 30", "start_s = 3\n")
    wrapper(course, "sinfo", 'REAL "$@" | sed "s/drained/idle/"\n')  # they go out of service after the look
    state = lambda s: subprocess.run(["scontrol", "update", "NodeName=n[2-4]", "State=" + s, "Reason=test"], env=slurm.env, check=True)
    state("DRAIN")
    try:
        done = course.run(*course.grade_words(), limit=150)
    finally:
        state("RESUME")
    expect("the other nodes are away: " + done.stdout + done.stderr, 0, done.returncode)
    course.check()
    expect("after a while on the same one", [("failed", "n1"), ("lost", ""), ("graded", "n1")], tried(course))
    expect("that is noted", True, "no other node takes it" in str(course.rows("SELECT what FROM event")))
    expect("no node is left out", [], course.rows("SELECT * FROM node WHERE excluded = 1"))
    course.remove()


def changed_lab(slurm):
    course = Course(slurm)
    (course.dir / "harness").write_text('{ "labs/01_coalescing/lab.toml": "0" }')
    course.add("s", "points 10", 10.0)
    course.roster()
    done = course.run(*course.grade_words())
    expect("results of another version of the lab are told: " + done.stdout, True, "1 of these results are of another version" in done.stdout)
    expect("the report too", True, "another version of the lab" in course.run("report", "--lab", "01").stdout)
    course.remove()


chosen = sys.argv[1:]
with Slurm(4) as slurm:
    for part in (own_faults, limits, another_node, nodes_get_well, changed_lab, preemption):
        if chosen and part.__name__ not in chosen:
            continue
        part(slurm)
        print(part.__name__, "passed")
print(f"{len(checks)} checks")
