#!/usr/bin/env python3
"""Lab 16's lesson on a virtual Slurm: the lines of its block "Through Slurm", by a student with the reference solution. They run as they
stand, but for a time limit of one minute, in which even a fast machine does not make all steps before the signal.

The run is killed once (a rank gets a kill -9), its time is nearly over once (Slurm sends USR1, as --signal asks), and it is started
through a container: a mount namespace stands for Apptainer, which Debian does not have. Its state must be that of a run without all this.
"""
import re
from rehearsal import *


def lines():
    text = (REPO / "labs/16_resilience/README.md").read_text()
    block = re.search(r"## Through Slurm.*?\n```\n(.*?)```", text, re.S).group(1)
    return [line.split("#")[0].strip() for line in block.replace("\\\n", " ").splitlines() if line.split("#")[0].strip()]


def until(what, wanted, limit):
    deadline = time.time() + limit
    while time.time() < deadline:
        if value := wanted():
            return value
        time.sleep(0.3)
    raise SystemExit(f"FAILED: {what} within {limit} s")


def ended(text):
    found = re.search(r"ended after step (\d+), state ([0-9a-f]{16})", text)
    return found and found.groups()


with Slurm(4) as slurm:
    home = pathlib.Path(tempfile.mkdtemp(prefix="ridge-job."))
    for name in ("labs", "runtime"):
        (home / name).symlink_to(REPO / name)
    (home / "ridge").symlink_to(RIDGE)
    (home / "bin").mkdir()
    # Apptainer's exec, as far as this job needs it: the image's root is this machine's, read-only but for the folder of the run. As
    # Apptainer does, it ends in the program itself, which gets the job's signals.
    (home / "bin/apptainer").write_text(f'#!/bin/sh\n[ "$1" = exec ] || exit 2\nshift 2\necho "in a container" >&2\nexec unshare --mount '
                                        f"sh -c 'mount --bind {home} {home} && mount -o remount,bind,ro / && cd {home} && exec \"$@\"' sh \"$@\"\n")
    (home / "bin/apptainer").chmod(0o755)
    contained = subprocess.run([str(home / "bin/apptainer"), "exec", "image", "touch", f"{home}/probe"], capture_output=True).returncode == 0
    env = {**slurm.env, "PATH": f"{home}/bin:{os.environ['PATH']}", "RIDGE_WORK": str(home / "work")}
    shutil.copytree(REPO / "solutions/16_resilience", home / "work/16_resilience")
    ran, job = [], None

    def slurm_says(*words):
        return subprocess.run(words, env=env, capture_output=True, text=True).stdout

    def shell(line):
        done = subprocess.run(["bash", "-c", line], cwd=home, env=env, capture_output=True, text=True, timeout=300)
        expect(f"{line}\n{done.stdout}{done.stderr}", 0, done.returncode)
        return done.stdout

    for line in lines():
        if not contained:  # no mounts here
            line = line.replace("apptainer exec ridge.sif", "env")
        line = re.sub(r"--time=\d+", "--time=1", line)
        out = shell(line)
        ran.append(line)
        if line.startswith("sbatch") or " sbatch " in line:
            job = re.search(r"\d+", out).group()
            log = home / f"survive-{job}.log"
            text = lambda: log.read_text() if log.exists() else ""
            first = until("four ranks begin", lambda: m if len(m := re.findall(r"rank \d of 4, process (\d+): from step 0", text())) == 4 else None, 60)
            until("a checkpoint", lambda: (home / "run/ckpt/manifest").exists(), 60)
            os.kill(int(first[2]), signal.SIGKILL)  # the virtual nodes are this machine
            for start in range(1, 12):  # each has a minute, of which Slurm's signal may leave a second or a half
                until(f"start {start} ends", lambda: ended(text()) or f"restart {start}: srun" in text(), 120)
                if last := ended(text()):
                    break
                # Slurm waits two minutes before it starts a job again: too long for a test. But a start in the second in which the last one
                # was killed is refused by the node ("Job credential revoked"), and the job is over.
                until("the job waits", lambda: "PENDING" in slurm_says("squeue", "-h", "-j", job, "-o", "%T"), 60)
                time.sleep(2)
                slurm_says("scontrol", "update", f"JobId={job}", "StartTime=now")
            ends = re.findall(r"restart \d+: srun ended with (\d+)", text())
            expect("a rank was killed: 137, or 143 of those that Slurm ended with it", True, ends[0] in ("137", "143"))
            expect("later starts ended after a signal", {"75"}, set(ends[1:]))
            froms = [int(s) for s in re.findall(r"rank 0 of 4, process \d+: from step (\d+)", text())]
            expect("each start goes on from a checkpoint", True, froms == sorted(froms) and froms[1] > 0)
            until("the job is over", lambda: job not in slurm_says("squeue", "-h", "-o", "%i").split(), 60)
    expect("the lines of the lesson", True, len(ran) >= 4 and job is not None)
    if contained:
        expect("the program was in the container", True, "in a container" in text())
    steps, micro_batches = (re.search(rf"--{name} (\d+)", " ".join(ran)).group(1) for name in ("steps", "micro-batches"))
    alone = shell(f"for r in 0 1 2 3; do ./train alone --rank $r --ranks 4 --steps {steps} --micro-batches {micro_batches} & done; wait")
    expect("the state of a run without failures", ended(alone), last)
    events = shell("python3 labs/16_resilience/experiments/scalars.py run/events")
    expect("its events", True, f'"step": {steps},' in events)
    shutil.rmtree(home)
print(f"job {job}: killed, told {len(ends) - 1} times that its time is nearly over, from steps {froms}, and equal to a run without failures; {len(ran)} lines of the lesson")
