#!/usr/bin/env python3
"""What the collector makes of kubectl's answers, which were recorded from a real API server (recorded.json says of which version and
when): fake_kubectl.py gives them again. No cluster is needed. record.py records them anew."""
import contextlib, json
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from rehearsal import *

KUBERNETES = HERE / "kubernetes"


class NoCluster:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_"))}


class RecordedCourse(Course):
    """A class of three, whose batch is one Job of three tasks."""

    def __init__(self, grading="retries = 0\nstart_s = 1\n", pods=""):
        super().__init__(NoCluster, grading + "per_job = 1\n", 'executor = "kubernetes"\n')
        file = self.dir / "course.toml"
        file.write_text(file.read_text().replace('[slurm]\npartition = "grade"\ncpus = 1\n', (
            f'[kubernetes]\nimage = "registry.example.edu/ridge:1"\nprogram = "{RIDGE}"\ncpus = 1\n{pods}')))
        (self.dir / "tools").mkdir()
        (self.dir / "tools/kubectl").symlink_to(KUBERNETES / "fake_kubectl.py")
        self.env.update(PATH=f"{self.dir}/tools:{os.environ['PATH']}", RIDGE_FAKE_KUBECTL=str(self.dir / "tools"))
        for i in range(3):
            self.add(f"s{i}", f"points {i * 30} of {i}", i * 30.0)
        self.roster()

    def scene(self, get, create="made", **more):
        (self.dir / "tools/scene.new").write_text(json.dumps({"get": get, "create": create, **more}))
        (self.dir / "tools/scene.new").rename(self.dir / "tools/scene")

    def calls(self, word):
        return [c for c in (self.dir / "tools/calls").read_text().splitlines() if word in c]

    def states(self):
        return [s for s, in self.rows("SELECT state FROM attempt ORDER BY task")]

    def submit(self, get="running", create="made"):
        self.scene(get, create)
        done = self.run(*self.grade_words(), "--detach")
        expect(f"submitted: {done.stdout}{done.stderr}", 0, done.returncode)

    def manifest(self):
        return json.loads(next(self.dir.glob("shared/batches/*/job.json")).read_text())


@contextlib.contextmanager
def course(*arguments, **more):
    c = RecordedCourse(*arguments, **more)
    yield c
    c.remove()


def says(c, get, *words):
    c.scene(get)
    said = c.run("status").stdout
    for word in words:
        expect(f"status in the situation {get} has '{word}': {said}", True, word in said)


def waiting():
    with course("retries = 3\nstart_s = 1\n") as c:
        c.submit()
        says(c, "running", "jobs: 3 running, 0 pending")
        says(c, "suspended", "jobs: 0 running, 3 pending", "its Job is suspended")
        says(c, "unschedulable", "jobs: 0 running, 3 pending", "didn't match Pod's node affinity/selector")
        says(c, "no-pods", "jobs: 0 running, 3 pending", "exceeded quota")
        says(c, "away", "Kubernetes does not answer", "The connection to the server 127.0.0.1:6443 was refused")
        says(c, "forbidden", "Kubernetes does not answer", "(Forbidden)")
        c.scene("running", cut=300)
        expect("a cut answer is none", True, "kubectl's answer is no JSON" in c.run("status").stdout)
        for get in ("suspended", "unschedulable", "no-pods", "away", "forbidden", "running", "evicted"):
            c.scene(get)
            done = c.run("resume", "--detach")
            expect(f"resume in the situation {get}: {done.stderr}", 3 if get in ("away", "forbidden") else 0, done.returncode)
            expect(f"no attempt ends in the situation {get}", ["open"] * 3, c.states())
        noted = [w for w, in c.rows("SELECT what FROM event")]
        expect(f"what the machine took is noted: {noted}", True, any("started again: TerminationByKubelet" in w for w in noted))
        c.run("cancel")
        expect("cancel names the jobs, and then all of the course", 2, len(c.calls("delete jobs.batch")))


def manifest():
    with course(pods='queue = "gpu"\nresources = {"nvidia.com/mig-1g.10gb" = 1}\ntolerations = ["nvidia.com/gpu"]\n'
                     'node_selector = {"nvidia.com/gpu.product" = "H100"}\npatch = "patch.json"\n') as c:
        (c.dir / "patch.json").write_text('{"spec": {"template": {"spec": {"runtimeClassName": "nvidia"}}}}')
        c.submit()
        job = c.manifest()
        spec, pod = job["spec"], job["spec"]["template"]["spec"]
        expect("an Indexed Job that tries nothing again", ("Indexed", 3, 0), (spec["completionMode"], spec["completions"], spec["backoffLimitPerIndex"]))
        expect("a disruption is no failure", [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}], spec["podFailurePolicy"]["rules"])
        expect("Kueue's queue, and a part of it at a time", ("gpu", "1"), (job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], job["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"]))
        container, = pod["containers"]
        expect("a slice of a GPU", {"cpu": "1", "nvidia.com/mig-1g.10gb": "1"}, container["resources"]["limits"])
        expect("where", ({"nvidia.com/gpu.product": "H100"}, [{"key": "nvidia.com/gpu", "operator": "Exists"}]), (pod["nodeSelector"], pod["tolerations"]))
        expect("what is left of the machine", (True, False, {"drop": ["ALL"]}), (container["securityContext"]["readOnlyRootFilesystem"],
               container["securityContext"]["allowPrivilegeEscalation"], container["securityContext"]["capabilities"]))
        expect("no token of the cluster", False, pod["automountServiceAccountToken"])
        expect("the patch", "nvidia", pod["runtimeClassName"])
        expect("the limit is the task's, not the waiting's", (True, False), (pod["activeDeadlineSeconds"] > 600, "activeDeadlineSeconds" in spec))


def ends():
    for get, word in (("image", "Kubernetes holds its job: ImagePullBackOff"), ("deadline", "DeadlineExceeded"), ("complete", "its job ended without a result")):
        with course() as c:
            c.scene(get)
            done = c.run(*c.grade_words(), limit=60)
            expect(f"{get}: nobody has a grade: {done.stdout}{done.stderr}", (3, True), (done.returncode, word in done.stdout))
            expect(f"{get}: nobody has a zero", {None}, set(c.gradebook().values()))


def sending():
    with course() as c:
        c.scene("running", "quota")
        done = c.run(*c.grade_words())
        expect("a quota is told: " + done.stderr, (3, True), (done.returncode, "Kubernetes refuses the jobs" in done.stderr and "exceeded quota" in done.stderr))
        expect("the work waits", [("waiting", 3)], c.rows("SELECT state, count(*) FROM work GROUP BY state"))
    with course() as c:  # the reply to the first try was lost
        c.submit(create="running")
        expect("it is there already, and is ours", [("submitted",)], c.rows("SELECT state FROM batch"))


def whole():
    with course("heartbeat_s = 5\n") as c:
        c.scene("running")
        process = subprocess.Popen(c.command(*c.grade_words()), env=c.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(200):
            if (c.dir / "tools/job").exists():
                break
            time.sleep(0.05)
        batch = c.dir / "shared/batches" / (c.dir / "tools/job").read_text()
        tasks = [subprocess.Popen([RIDGE, "cluster", "run", str(batch), str(i)], env={**c.env, "RIDGE_NODE": "n1", "RIDGE_JOB": batch.name}, stdout=subprocess.DEVNULL) for i in range(3)]
        for task in tasks:
            expect("a task's exit code", 0, task.wait())
        c.scene("complete")
        out = process.communicate(timeout=60)[0]
        expect("all is graded: " + out, 0, process.returncode)
        c.check()
        expect("where", [("n1",)], c.rows("SELECT DISTINCT node FROM attempt"))


def wrong_words():
    for lines, word in (('executor = "nomad"\n', "there is no executor 'nomad'"), ("", "no `image` is named")):
        with course() as c:
            file = c.dir / "course.toml"
            text = file.read_text().replace('executor = "kubernetes"\n', lines or 'executor = "kubernetes"\n').replace('image = "registry.example.edu/ridge:1"\n', "")
            file.write_text(text)
            done = c.run("status")
            expect(f"{word}: {done.stderr}", (2, True), (done.returncode, word in done.stderr))


recorded = json.loads((KUBERNETES / "recorded.json").read_text())
print(f"recorded from Kubernetes {recorded['server']} with kubectl {recorded['client']} on {recorded['date']}")
for part in (manifest, waiting, sending, ends, whole, wrong_words):
    part()
print(f"{len(checks)} checks")
