"""Slurm's commands, daemons, nodes and jobs."""
from one_fault import *


def scontrol(r, *words):
    return subprocess.run(["scontrol", *words], env=r.slurm.env, capture_output=True, text=True)


def queued(r, state="R,PD"):
    out = subprocess.run(["squeue", "-h", "-r", "-t", state, "-o", "%F_%K"], env=r.slurm.env, capture_output=True, text=True).stdout
    return out.split()


def once(program, text, until=1):
    """The first calls do something else."""
    def run(r):
        r.wrap(program, f'n=$(cat COUNT 2>/dev/null || echo 0); echo $((n + 1)) >COUNT\nif [ "$n" -lt {until} ]; then\n{text}\nfi\nexec REAL "$@"\n')
        r.start()
        r.finish()
        return r.sound()
    return run


def for_a_while(program, text, seconds):
    """Every call does something else for so long, while one task runs at a time: the others wait in the queue, and give no
    sign of life."""
    def run(slurm):
        r = Round(slurm, order="slow 2", at_once=1)
        r.unwrap(program)
        r.start()
        r.wrap(program, text)
        time.sleep(seconds)
        r.unwrap(program)
        r.finish()
        expect("no attempt is given up for it", 0, r.course.rows("SELECT count(*) FROM attempt WHERE state IN ('lost', 'fenced')")[0][0])
        return r
    return run


fault("sbatch answers garbage, and queues nothing")(once("sbatch", 'echo "<html>503</html>"; exit 0', 2))
fault("sbatch answers garbage, and has queued")(once("sbatch", 'REAL "$@" >/dev/null; echo "job submitted, thank you"; exit 0'))
fault("sbatch answers nothing, and queues nothing")(once("sbatch", "exit 0"))
fault("sbatch hangs")(once("sbatch", "exec sleep 100"))
fault("sbatch is ended by a signal")(once("sbatch", "kill -SEGV $$"))
fault("squeue hangs")(once("squeue", "exec sleep 100"))
fault("squeue answers garbage for 10 s")(for_a_while("squeue", "echo 'a|b'; echo '||||||'; exit 0\n", 10))
fault("squeue answers nothing for 10 s")(for_a_while("squeue", "exit 0\n", 10))
fault("squeue fails for 10 s")(for_a_while("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1\n", 10))
fault("squeue answers in part for 10 s")(for_a_while("squeue", 'REAL "$@" | head -c 50\n', 10))


@fault("slurmctld restarted by an administrator")
def _(r):
    r.start()
    os.kill(int(r.slurm.call("pid", "slurmctld").stdout), signal.SIGTERM)
    time.sleep(2)
    r.slurm.call("start", "slurmctld")
    r.finish()
    return r.sound()


@fault("slurmctld away for 12 s")
def _(r):
    r.start()
    os.kill(int(r.slurm.call("pid", "slurmctld").stdout), signal.SIGKILL)
    time.sleep(12)
    r.slurm.call("start", "slurmctld")
    r.finish()
    return r.sound()


@fault("slurmctld stopped for 8 s (SIGSTOP)")
def _(r):
    r.start()
    pid = int(r.slurm.call("pid", "slurmctld").stdout)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(8)
    os.kill(pid, signal.SIGCONT)
    r.finish()
    return r.sound()


@fault("all slurmd restarted")
def _(r):
    r.start()
    for i in range(1, 5):
        os.kill(int(r.slurm.call("pid", f"n{i}").stdout), signal.SIGTERM)
    time.sleep(1)
    for i in range(1, 5):
        r.slurm.call("start", f"n{i}")
    r.finish()
    return r.sound()


@fault("munged stopped for 6 s")
def _(r):
    r.start()
    pid = int((pathlib.Path(r.slurm.dir) / "run/munged.pid").read_text())
    os.kill(pid, signal.SIGSTOP)
    time.sleep(6)
    os.kill(pid, signal.SIGCONT)
    r.finish()
    return r.sound()


@fault("node reboots while it builds")
def _(slurm):
    r = Round(slurm, order="slow 2", build=True)
    r.process = subprocess.Popen(r.course.command(*r.course.grade_words()), env=r.course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    r.until(lambda: list(r.shared.glob("beat/ridge-*")))
    r.slurm.call("doom", "n1")
    time.sleep(2)
    r.slurm.call("start", "n1")
    r.finish()
    return r


@fault("node drained by an administrator")
def _(r):
    r.start()
    scontrol(r, "update", "NodeName=n1", "State=DRAIN", "Reason=test")
    r.finish()
    scontrol(r, "update", "NodeName=n1", "State=RESUME")
    return r.sound()


@fault("node set down under its jobs")
def _(r):
    r.start()
    scontrol(r, "update", "NodeName=n2", "State=DOWN", "Reason=test")
    time.sleep(3)
    scontrol(r, "update", "NodeName=n2", "State=RESUME")
    r.finish()
    return r.sound()


def to_jobs(act):
    def run(r):
        r.start()
        act(r)
        r.finish()
        return r.sound()
    return run


def hold(r):
    scontrol(r, "hold", *{job.split("_")[0] for job in queued(r, "PD")})
    time.sleep(3)


def suspend(r):
    jobs = queued(r, "R")
    for job in jobs:
        scontrol(r, "suspend", job)
    time.sleep(8)
    for job in jobs:
        scontrol(r, "resume", job)


def requeue(r):
    for job in queued(r, "R"):
        scontrol(r, "requeue", job)


def partition(r):
    scontrol(r, "update", "PartitionName=grade", "State=DOWN")
    time.sleep(6)
    scontrol(r, "update", "PartitionName=grade", "State=UP")



fault("one job cancelled by an administrator")(to_jobs(lambda r: subprocess.run(["scancel", queued(r)[0]], env=r.slurm.env)))
fault("all jobs cancelled by an administrator")(to_jobs(lambda r: subprocess.run(["scancel", "--me"], env=r.slurm.env)))
fault("queued jobs held by an administrator")(to_jobs(hold))
fault("jobs suspended for 8 s")(to_jobs(suspend))
fault("running jobs requeued by an administrator")(to_jobs(requeue))
fault("partition down for 6 s")(to_jobs(partition))
