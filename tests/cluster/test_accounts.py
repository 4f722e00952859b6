#!/usr/bin/env python3
"""Limits that Slurm's accounting sets, federations, and a user's own settings for Slurm's commands.

test_accounts.py recorded     with answers of sacctmgr and scontrol 22.05.8, recorded where a slurmdbd ran
test_accounts.py real         on two clusters with a slurmdbd, in a federation (federation.py); skipped where there is none
"""
from rehearsal import *

# `sacctmgr -nP show ...` and `scontrol show federation`, as they came.
RECORDED = {"user": "course", "assoc": "course|||||||", "qos": "class|3|6||||||gres/gpu=2",
            "federation": "Federation: lab\nSelf:       alpha:127.0.0.1:25216 ID:1 FedState:ACTIVE Features:\n"
                          "Sibling:    beta:127.0.0.1:22615 ID:2 FedState:ACTIVE Features: PersistConnSend/Recv:Yes/Yes Synced:Yes"}


def wrapper(course, name, text):
    tools = course.dir / "tools"
    tools.mkdir(exist_ok=True)
    (tools / name).write_text("#!/bin/sh\n" + text.replace("REAL", shutil.which(name)))
    (tools / name).chmod(0o755)
    course.env["PATH"] = f"{tools}:{os.environ['PATH']}"


def change(course, old, new):
    file = course.dir / "course.toml"
    expect(f"course.toml has {old!r} once", 1, file.read_text().count(old))
    file.write_text(file.read_text().replace(old, new))


def pupils(course, count):
    for i in range(count):
        course.add(f"s{i}", f"slow 1 {i * 5} of {i}", i * 5.0)
    course.roster()


def most_at_a_time(course, begun):
    """Runs the grading and looks at what the queue has meanwhile: (most tasks, most that run, reasons of Slurm's to wait)."""
    process = subprocess.Popen(course.command(*course.grade_words()), env=course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    most, running, reasons = 0, 0, set()
    while process.poll() is None:
        out = subprocess.run(["squeue", "--me", "-h", "-r", "-o", "%j|%T|%r"], env=begun, capture_output=True, text=True).stdout
        rows = [r.split("|") for r in out.splitlines() if r.startswith("ridge-")]
        most = max(most, len([r for r in rows if r[1] != "COMPLETING"]))
        running = max(running, len([r for r in rows if r[1] == "RUNNING"]))
        reasons |= {r[2] for r in rows if r[1] == "PENDING"}
        time.sleep(0.1)
    expect("all is graded: " + process.stdout.read(), 0, process.returncode)
    course.check()
    return most, running, reasons


def recorded(slurm):
    course = Course(slurm, grading="per_job = 1\n")
    change(course, "cpus = 1", 'cpus = 1\nqos = "class"')
    pupils(course, 9)
    begun = dict(course.env)
    wrapper(course, "scontrol", f"""case "$*" in "show federation") echo "{RECORDED['federation']}"; exit ;; esac
REAL "$@" | sed 's/^AccountingStorageEnforce .*/AccountingStorageEnforce = associations,limits,qos/; s/^AccountingStorageType .*/AccountingStorageType   = accounting_storage\\/slurmdbd/'
""")
    wrapper(course, "sacctmgr", "".join(f'case "$3" in {what}) echo "{RECORDED[what]}"; exit ;; esac\n' for what in ("user", "assoc", "qos")) + "exit 1\n")
    # This Slurm has no such QOS: what is asked for is noted, and the QOS taken off.
    wrapper(course, "sbatch", f"""echo "$*" >> {course.dir}/asked
for word; do shift; case $word in --qos=*) ;; *) set -- "$@" "$word" ;; esac; done
exec REAL "$@"
""")
    told = course.run("doctor", "--no-job").stdout
    for words in ("3 tasks at a time, by MaxJobsPerUser of QOS class: 3", "6 tasks in the queue, by MaxSubmitJobsPerUser of QOS class: 6",
                  "federation lab: this is cluster alpha beside beta; job arrays run on it alone"):
        expect(f"doctor says {words!r}: {told}", True, words in told)
    most, running, _ = most_at_a_time(course, begun)
    expect(f"most tasks in the queue ({most}), and at a time ({running})", True, most <= 6 and running <= 3)
    asked = (course.dir / "asked").read_text()
    expect("arrays of three at a time: " + asked, True, asked.count("%3 ") == asked.count("--array="))
    expect("none that Slurm would refuse", [], course.rows("SELECT * FROM attempt WHERE state = 'cancelled'"))
    for gres, limit in (("gpu:2", 1), ("gpu:h100:1", 2)):  # of GrpTRES gres/gpu=2
        change(course, "cpus = 1\n", f'cpus = 1\ngres = "{gres}"\n')
        told = course.run("doctor", "--no-job").stdout
        expect(f"doctor counts {gres}: {told}", True, f"{limit} tasks at a time, by GrpTRES of QOS class: gres/gpu=2" in told)
        change(course, f'gres = "{gres}"\n', "")
    change(course, "per_job = 1", "per_job = 1\nat_once = 8")
    told = course.run("doctor", "--no-job").stdout
    expect("at_once is too large: " + told, True, "at_once = 8, and 3 tasks may run at a time" in told)
    change(course, 'qos = "class"', 'qos = "class"\noptions = ["--clusters=beta"]')
    told = course.run("doctor", "--no-job")
    expect("jobs elsewhere: " + told.stdout, (3, True), (told.returncode, "sends jobs to a cluster that nobody asks" in told.stdout))
    (course.dir / "tools/sacctmgr").write_text("#!/bin/sh\necho 'sacctmgr: error: Connection refused' >&2\nexit 1\n")
    told = course.run("doctor", "--no-job").stdout
    expect("no database: " + told, True, "the limits of its QOS are not known: sacctmgr: error: Connection refused" in told)
    course.remove()


def two_gpu_types(slurm):
    """A partition with two types of GPUs, as sinfo shows one."""
    course = Course(slurm)
    change(course, "cpus = 1\n", 'cpus = 1\ngres = "gpu:1"\n')
    told = course.run("doctor", "--no-job").stdout
    expect("one type is well: " + told, False, "GPUs of types" in told)
    wrapper(course, "sinfo", 'REAL "$@" | sed "/|n4|/s/gpu:emulated:2/gpu:other:4(S:0-1)/"\n')
    told = course.run("doctor", "--no-job").stdout
    expect("two are told: " + told, True, "GPUs of types emulated, other: points would hang on the node" in told)
    change(course, '"gpu:1"', '"gpu:emulated:1"')
    told = course.run("doctor", "--no-job").stdout
    expect("where one is named, that is well: " + told, False, "GPUs of types" in told)
    course.remove()


def own_settings(slurm):
    """What a user exports for squeue, sinfo and sbatch hides no job, and sends none elsewhere."""
    course = Course(slurm)
    pupils(course, 3)
    course.env |= {"SQUEUE_PARTITION": "urgent", "SQUEUE_STATES": "SUSPENDED", "SINFO_PARTITION": "urgent", "SLURM_CLUSTERS": "beta",
                   "SBATCH_CLUSTERS": "beta"}
    done = course.run(*course.grade_words())
    expect("all is graded: " + done.stdout + done.stderr, 0, done.returncode)
    course.check()
    expect("at the first try", [("graded", 3)], course.rows("SELECT state, count(*) FROM attempt GROUP BY 1"))
    course.remove()


def real():
    from federation import Federation
    with Federation() as both:
        for name in ("alpha", "beta"):
            course = Course(both.clusters[name], grading="per_job = 1\n")
            change(course, "cpus = 1", 'cpus = 1\nqos = "class"\naccount = "course"')
            pupils(course, 9)
            told = course.run("doctor", "--no-job").stdout
            for words in (f"federation lab: this is cluster {name} beside", "3 tasks at a time, by MaxJobsPerUser of QOS class: 3",
                          "6 tasks in the queue, by MaxSubmitJobsPerUser of QOS class: 6"):
                expect(f"doctor of {name} says {words!r}: {told}", True, words in told)
            most, running, reasons = most_at_a_time(course, course.env)
            expect(f"most tasks in the queue ({most}), and at a time ({running})", True, 3 <= most <= 6 and running <= 3)
            expect("none was refused", [], course.rows("SELECT * FROM attempt WHERE state <> 'graded'"))
            expect(f"none waits for a limit of its QOS: {reasons}", True, not any(r.startswith("QOS") for r in reasons))
            jobs = [int(j) for j, in course.rows("SELECT job FROM batch")]
            expect(f"its own jobs: {jobs}", {both.number[name]}, {j >> 26 for j in jobs})  # a federation's ids have the cluster's number in front
            course.remove()


if __name__ == "__main__":
    if sys.argv[1:] == ["real"]:
        real()
    else:
        with Slurm(4) as slurm:
            for part in (recorded, two_gpu_types, own_settings):
                part(slurm)
                print(part.__name__, "passed")
    print(f"{len(checks)} checks")
