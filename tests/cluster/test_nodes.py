#!/usr/bin/env python3
"""Lab 06 over two (virtual) nodes: one agent per rank through `srun --mpi=pmix` and through `mpirun`. Counts, virtual times and
verdicts are those of one machine; a deadlock is told as there; a lost agent is nobody's mistake and leaves nothing behind.

test_nodes.py [PART...]    pmix, mpirun, deadlock, lost, hung, course; all by default
"""
import json
import re
from rehearsal import *

LAB = "06_ring_allreduce"
MPI = {"pmix": "env OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo srun --mpi=pmix --overcommit --kill-on-bad-exit=1",
       "mpirun": "mpirun --map-by node --oversubscribe --mca btl self,tcp --mca btl_tcp_if_include lo"}
parts = sys.argv[1:] or ["pmix", "mpirun", "deadlock", "lost", "hung", "course"]
dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-nodes."))
solution = dir / "solution"
shutil.copytree(REPO / "solutions" / LAB, solution, ignore=shutil.ignore_patterns("steps", "README.md"))


def here(submission, name, *words):
    file = dir / f"{name}.json"
    subprocess.run([RIDGE, "grade", LAB, "--backend", "cpu", "--submission", str(submission), "--json", str(file), *words],
                   capture_output=True, env={**os.environ, "RIDGE_RESULTS": str(dir / "results")}, timeout=400)
    return json.loads(file.read_text())


class Job:
    """ridge grade --ranks-through, as a job of two nodes."""

    def __init__(self, slurm, submission, name, launcher):
        self.slurm, self.name, self.file = slurm, name, dir / f"{name}.json"
        script = dir / f"{name}.sh"
        script.write_text(f'#!/bin/sh\nunset SLURM_EXPORT_ENV\nexport HOME=/root RIDGE_RESULTS={dir}/results RIDGE_NODES_TEST={dir}\n'
                          f'"{RIDGE}" grade {LAB} --backend cpu --task ring --submission "{submission}" --ranks-through "{launcher}" '
                          f'--json "{self.file}"\necho $? >{dir}/{name}.code.new && mv {dir}/{name}.code.new {dir}/{name}.code\n')
        done = subprocess.run(["sbatch", "--parsable", "--export=NONE", "-N2", "--ntasks-per-node=1", "-o", str(dir / f"{name}.log"), str(script)],
                              capture_output=True, text=True, env=slurm.env)
        expect("sbatch: " + done.stderr, 0, done.returncode)

    def wait(self):
        for _ in range(3000):
            if (dir / f"{self.name}.code").exists():
                return int((dir / f"{self.name}.code").read_text())
            time.sleep(0.1)
        raise SystemExit("FAILED: no end: " + (dir / f"{self.name}.log").read_text())

    def log(self):
        return (dir / f"{self.name}.log").read_text()


def ours():
    """Processes of this test's jobs."""
    found = []
    for p in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"RIDGE_NODES_TEST={dir}".encode() in p.read_bytes():
                found.append(int(p.parent.name))
        except OSError:
            pass
    return found


def gone(what):
    for _ in range(100):  # the job itself takes a moment to be over
        if not ours():
            return
        time.sleep(0.1)
    expect(f"{what}: processes that are left", [], ours())


def same(slurm, way):
    code = (job := Job(slurm, solution, way, MPI[way])).wait()
    expect(f"{way}: {job.log()}", 0, code)
    there = json.loads(job.file.read_text())
    expect(f"{way}: two nodes", "8 agents on 2 nodes: n1, n2", there["device"]["agents"])
    local = here(solution, "local", "--task", "ring") if not (dir / "local.json").exists() else json.loads((dir / "local.json").read_text())
    for key in ("checks", "goals", "kernels", "points", "status"):
        expect(f"{way}: {key} as on one machine", local["tasks"][0][key], there["tasks"][0][key])
    expect(f"{way}: virtual time", local["tasks"][0]["timeline"]["seconds"], there["tasks"][0]["timeline"]["seconds"])
    gone(way)


def deadlock(slurm):
    wrong = dir / "wrong"
    shutil.copytree(solution, wrong)
    ring = wrong / "ring.cu"
    ring.write_text(re.sub(r" *ncclGroup(Start|End)\(\);\n", "", ring.read_text()))
    local = here(wrong, "wrong-local", "--task", "ring")
    job = Job(slurm, wrong, "deadlock", MPI["pmix"])
    expect("deadlock: " + job.log() if job.wait() != 1 else "deadlock", 1, job.wait())
    there = json.loads(job.file.read_text())
    names = lambda r: [(c["name"], c["status"]) for c in r["tasks"][0]["checks"]]
    expect("deadlock: the check that fails", names(local), names(there))
    gone("deadlock")


def named(*names):
    """Those of our processes that run one of these programs."""
    return [p for p in ours() if (comm := pathlib.Path(f"/proc/{p}/comm")).exists() and comm.read_text().strip()[:11] in names]


def lost(slurm):
    """kill -9 of a rank's agent, and of mpirun: no verdict, and nothing is left on either node."""
    for way, victim in (("pmix", ["ridge-agent"]), ("mpirun", ["mpirun", "orterun", "mpirun.open"])):
        what = f"a killed {victim[0]}"
        job = Job(slurm, solution, f"lost-{victim[0]}", MPI[way])
        while len(named("ridge-agent")) < 8:
            time.sleep(0.05)
        time.sleep(2)
        killed = named(*victim)
        expect(f"{what}: it is there", True, len(killed) > 0)
        os.kill(killed[-1], signal.SIGKILL)
        expect(f"{what}: the environment failed", 3, job.wait())
        expect(f"{what}: it says so: " + job.log(), True, "was lost" in job.log() or "agents came" in job.log())
        expect(f"{what}: nothing was scored", False, job.file.exists())
        gone(what)


def hung(slurm):
    """A rank's agent that stands still: the grading ends at its limit and 2 s, is no zero, and nothing is left on either node."""
    c = Course(slurm, program=False, head='site = "virtual"\n', grading="signed = false\nrequire_sandbox = false\nretries = 0\nlimit_s = 20\n")
    file = c.dir / "course.toml"
    file.write_text(file.read_text().replace("[labs.01]\n", "[labs.06]\n[labs.06.slurm]\nnodes = 2\n"))
    shutil.copytree(solution, c.dir / "submissions/s0")
    c.expected["s0"] = None
    c.roster()
    words = list(c.grade_words())
    words[2] = "06"
    process = subprocess.Popen(c.command(*words), env=c.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def agents():
        found = []
        for p in pathlib.Path("/proc").glob("[0-9]*/comm"):
            try:
                if "ridge-agent" in p.read_text() and slurm.dir.encode() in (p.parent / "environ").read_bytes():
                    found.append(int(p.parent.name))
            except OSError:
                pass
        return found
    while len(agents()) < 8 and process.poll() is None:
        time.sleep(0.05)
    os.kill(agents()[-1], signal.SIGSTOP)
    out = process.communicate(timeout=200)[0]
    expect("a hung rank is not graded: " + out, [("not-graded",)], c.rows("SELECT state FROM work"))
    (seconds,) = [json.loads(p.read_text())["seconds"] for p in (c.dir / "shared/taken").iterdir()]
    expect(f"it ended within its limit and 2 s: {seconds}", True, 20 <= seconds <= 22)
    for _ in range(100):
        if not agents():
            break
        time.sleep(0.1)
    expect("agents that are left", [], agents())
    print(f"a limit of 20 s ended a hung rank after {seconds:.2f} s")
    c.remove()


def course(slurm):
    c = Course(slurm, program=False, head='site = "virtual"\n', grading="signed = false\nrequire_sandbox = false\n")
    file = c.dir / "course.toml"
    file.write_text(file.read_text().replace("[labs.01]\n", "[labs.06]\n[labs.06.slurm]\nnodes = 2\n"))
    target = c.dir / "submissions/s0"
    shutil.copytree(solution, target)
    c.expected["s0"] = 100.0
    c.roster()
    words = list(c.grade_words())
    words[2] = "06"
    done = c.run(*words, limit=900)
    expect("a course's grading: " + done.stderr + done.stdout, 0, done.returncode)
    c.check()
    (record,) = c.rows("SELECT record FROM result")
    expect("the record names the nodes", True, "agents on 2 nodes" in json.loads(record[0])["device"]["agents"])
    file.write_text(file.read_text().replace("[labs.06]", "[labs.01]").replace("[labs.06.slurm]", "[labs.01.slurm]"))
    bad = c.run("status")
    expect("nodes for a lab without ranks: " + bad.stderr, (2, True), (bad.returncode, "has no ranks" in bad.stderr))
    c.remove()


if not (pathlib.Path(RIDGE).parent / "ridge-agent").exists():
    skip("no ridge-agent: it was built without MPI")
with Slurm(4) as slurm:
    for kind in ("pmix",):
        if kind not in subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, env=slurm.env).stdout:
            skip("this Slurm has no " + kind)
    for part in parts:
        begun = time.monotonic()
        {"deadlock": deadlock, "lost": lost, "hung": hung, "course": course}.get(part, lambda s: same(s, part))(slurm)
        print(f"{part}: {time.monotonic() - begun:.1f} s", flush=True)
shutil.rmtree(dir, ignore_errors=True)
print(f"{len(checks)} checks")
