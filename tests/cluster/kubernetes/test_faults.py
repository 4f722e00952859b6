#!/usr/bin/env python3
"""Each fault alone while a small class is graded on Kubernetes, and after it: nothing lost, nothing counted twice, no failure of the
infrastructure scored, an exact export.

test_faults.py [WORD...]     faults whose names have one of the words. --list names them
"""
from pod_rounds import *

START = 'namespace = "ridge"\n'


def pods_of(r):
    return [p for p in r.cluster.nodes.live() if p.name.startswith("ridge-")]


def a_pod(r):
    """One whose judge has begun."""
    for _ in range(400):
        for p in pods_of(r):
            if any(b"/judge" in words for words in p.commands()):
                return p
        time.sleep(0.03)
    raise SystemExit("FAILED: no pod runs")


@fault("pod deleted by somebody")
def _(r):
    r.start()
    r.cluster.kubectl("delete", "pod", "-n", "ridge", a_pod(r).name, "--wait=false")
    r.finish()


@fault("a pod's process killed")
def _(r):
    r.start()
    a_pod(r).end(signal.SIGKILL)
    r.finish()


@fault("node lost with its pods")
def _(r):
    r.start()
    node = a_pod(r).node
    r.cluster.nodes.lose(node)
    try:
        r.finish()
        expect("the node is named", True, f"no sign of life from {node}" in str(r.course.rows("SELECT what FROM event")))
    finally:
        r.cluster.nodes.come_back(node)


@fault("node cut off and frozen, whose pod publishes when it is back", order="slow 3", works=4)
def _(r):
    r.start(0)
    pod = a_pod(r)
    r.cluster.nodes.lose(pod.node, dead=False)
    pod.freeze()
    expect("it is given up", True, r.until(lambda: r.course.rows("SELECT 1 FROM attempt WHERE state = 'fenced'"), 60) != [])
    pod.freeze(signal.SIGCONT)
    r.finish()
    late = lambda: (r.run("resume"), r.course.rows("SELECT 1 FROM result WHERE counts = 0"))[1]
    expect("what it publishes is kept and does not count", True, bool(r.until(late, 20)))
    r.cluster.nodes.come_back(pod.node)


@fault("pod evicted through the API")
def _(r):
    r.start()
    pod = a_pod(r)
    r.cluster.call("POST", pod.path + "/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name, "namespace": "ridge"}})
    r.finish()


@fault("pod evicted by its node for memory")
def _(r):
    r.start()
    r.cluster.nodes.evict(a_pod(r))
    r.finish()
    expect("it is noted", True, "TerminationByKubelet" in str(r.course.rows("SELECT what FROM event")))
    expect("no attempt counts as failed", [], r.course.rows("SELECT * FROM attempt WHERE state IN ('lost', 'failed')"))


@fault("pod evicted by each node, again and again", grading="retries = 1\n", order="slow 2", works=4)
def _(r):
    r.start(-1)
    victim = lambda: [p for p in pods_of(r) if p.pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0"]
    while not r.ended():
        for p in victim():
            r.cluster.nodes.evict(p)
        time.sleep(0.2)
    said = r.end()
    expect("it ends, and says why: " + said, (3, True), (r.process.returncode, "taken from its node 2 times" in said and "TerminationByKubelet" in said))
    expect("no zero", 1, list(r.course.gradebook().values()).count(None))
    r.restart(*r.course.grade_words())
    r.finish()


@fault("pods preempted by others of higher priority", order="slow 2")
def _(r):
    r.start(0)
    r.until(lambda: len(pods_of(r)) >= 4)
    r.cluster.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000000})
    for i in range(4):
        r.cluster.apply(r.other_pod(f"urgent-{i}", "urgent"))
    preempted = lambda: r.cluster.kubectl("get", "events", "-n", "ridge", "--field-selector=reason=Preempted")
    expect("some are preempted", True, r.until(lambda: "Preempted" in preempted(), 20))
    time.sleep(2)
    r.cluster.kubectl("delete", "pod", "-n", "ridge", "-l", "urgent=yes", "--grace-period=1")
    r.finish()
    expect("no attempt counts as failed", [], r.course.rows("SELECT * FROM attempt WHERE state IN ('lost', 'failed')"))


@fault("API server down for 25 s")  # longer than an unknown job is waited for
def _(r):
    r.start()
    r.cluster.stop("kube-apiserver", signal.SIGKILL)
    time.sleep(25)
    r.cluster.start_api()
    r.finish()
    expect("no attempt counts as failed", [], r.course.rows("SELECT * FROM attempt WHERE state <> 'graded'"))


@fault("API server down before the first job")
def _(r):
    r.cluster.stop("kube-apiserver", signal.SIGKILL)
    r.start(-1)
    time.sleep(4)
    expect("status tells", True, "Kubernetes does not answer" in r.course.run("status").stdout)
    r.cluster.start_api()
    r.finish()


@fault("controllers down for 8 s")
def _(r):
    r.start()
    r.cluster.stop("kube-controller-manager", signal.SIGKILL)
    time.sleep(8)
    r.cluster.start_controllers()
    r.finish()


@fault("collector killed and resumed")
def _(r):
    r.start()
    r.process.kill()
    r.end()
    r.restart("resume")
    r.finish()


@fault("collector killed, jobs end and are removed before it is resumed")
def _(r):
    r.start()
    r.process.kill()
    r.end()
    r.until(lambda: not pods_of(r))
    r.cluster.kubectl("delete", "jobs", "-n", "ridge", "--all")
    r.restart("resume")
    r.finish()
    expect("nothing is graded twice", 8, r.course.rows("SELECT count(*) FROM result")[0][0])


@fault("job deleted by somebody")
def _(r):
    r.start()
    r.cluster.kubectl("delete", "jobs", "-n", "ridge", "--all", "--wait=false")
    r.finish()
    expect("no node is blamed", [], r.course.rows("SELECT * FROM node WHERE excluded = 1 OR failures > 0"))


@fault("job suspended for 4 s, as Kueue does to preempt it", order="slow 2")
def _(r):
    r.start()
    job = r.cluster.kubectl("get", "jobs", "-n", "ridge", "-o", "name").split()[0]
    r.cluster.kubectl("patch", "-n", "ridge", job, "-p", '{"spec": {"suspend": true}}')
    time.sleep(4)
    r.cluster.kubectl("patch", "-n", "ridge", job, "-p", '{"spec": {"suspend": false}}')
    r.finish()
    expect("no attempt counts as failed", [], r.course.rows("SELECT * FROM attempt WHERE state IN ('lost', 'failed')"))


@fault("deadline of the pods exceeded", order="slow 4", grading="retries = 1\n")
def _(r):
    (r.dir / "patch.json").write_text('{"spec": {"template": {"spec": {"activeDeadlineSeconds": 1, "terminationGracePeriodSeconds": 1}}}}')
    text = r.set_pods('patch = "patch.json"\n')
    r.start(-1)
    said = r.end()
    expect("who has no grade, and why: " + said, (3, True), (r.process.returncode, "DeadlineExceeded" in said))
    expect("nobody has a zero", {None}, set(r.course.gradebook().values()))
    (r.dir / "course.toml").write_text(text)
    r.restart(*r.course.grade_words())
    r.finish()


@fault("image that cannot be pulled", grading="start_s = 3\nretries = 1\n")
def _(r):
    r.cluster.nodes.bad_images = {"registry.example.edu/ridge:1"}
    r.start(-1)
    said = r.end()
    expect("who has no grade, and why: " + said, (3, True), (r.process.returncode, "ImagePullBackOff" in said))
    expect("nobody has a zero", {None}, set(r.course.gradebook().values()))
    r.cluster.nodes.bad_images = set()
    r.restart(*r.course.grade_words())
    r.finish()


@fault("GPU type that no node has")
def _(r):
    text = r.set_pods('resources = {"nvidia.com/gpu" = 1}\nnode_selector = {"nvidia.com/gpu.product" = "NVIDIA-B200"}\n')
    said = r.course.run("doctor", "--no-job")
    expect("doctor tells: " + said.stdout, (3, True), (said.returncode, "nvidia.com/gpu: 2" in said.stdout))
    r.start(-1)
    tells = lambda: "didn't match Pod's node affinity/selector" in r.course.run("status").stdout
    expect("status tells: " + r.course.run("status").stdout, True, r.until(tells, 20))
    r.process.send_signal(signal.SIGINT)
    r.end()
    r.run("cancel")
    (r.dir / "course.toml").write_text(text)
    r.restart(*r.course.grade_words())
    r.finish()


def quota(r, **hard):
    r.cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "course", "namespace": "ridge"}, "spec": {"hard": hard}})
    r.until(lambda: '"hard"' in r.cluster.kubectl("get", "quota", "course", "-n", "ridge", "-o", "jsonpath={.status}"))


@fault("quota that takes no job")
def _(r):
    r.cluster.kubectl("delete", "jobs", "-n", "ridge", "--all")
    quota(r, **{"count/jobs.batch": "0"})
    try:
        r.start(-1)
        said = r.end()
        expect("it is told: " + said, (3, True), (r.process.returncode, "exceeded quota" in said))
    finally:
        r.cluster.kubectl("delete", "quota", "course", "-n", "ridge")
    r.restart("resume")
    r.finish()


@fault("quota of one job at a time", at_once=4)
def _(r):
    r.cluster.kubectl("delete", "jobs", "-n", "ridge", "--all")
    quota(r, **{"count/jobs.batch": "1"})
    try:
        r.start()
        a_pod(r).end(signal.SIGKILL)  # what is tried again needs another Job
        time.sleep(3)
    finally:
        r.cluster.kubectl("delete", "quota", "course", "-n", "ridge")
    r.finish()


@fault("quota that takes no pod for 6 s")
def _(r):
    quota(r, pods="0")
    try:
        r.start(-1)
        tells = lambda: "exceeded quota" in r.course.run("status").stdout
        expect("status tells", True, r.until(tells, 20))
    finally:
        r.cluster.kubectl("delete", "quota", "course", "-n", "ridge")
    r.finish()


@fault("reply to a job's creation lost, twice")
def _(r):
    r.wrap("kubectl", 'case " $* " in *" create "*) echo x >>COUNT; if [ "$(wc -l <COUNT)" -le 2 ]; then REAL "$@" >/dev/null 2>&1; '
                      'echo "error: unexpected EOF" >&2; exit 1; fi ;; esac\nexec REAL "$@"\n')
    r.start().finish()
    r.unwrap("kubectl")
    expect("one job a batch", [], r.course.rows("SELECT name FROM batch GROUP BY name HAVING count(*) > 1"))
    expect("no attempt is made twice", 8, r.course.rows("SELECT count(*) FROM attempt")[0][0])


@fault("kubectl's answers cut off")
def _(r):
    r.wrap("kubectl", 'case " $* " in *" get pods "*) echo x >>COUNT; if [ "$(wc -l <COUNT)" -le 5 ]; then REAL "$@" | head -c 300; exit 0; fi ;; esac\n'
                      'exec REAL "$@"\n')
    r.start().finish()
    r.unwrap("kubectl")
    expect("no attempt counts as failed", [], r.course.rows("SELECT * FROM attempt WHERE state <> 'graded'"))


@fault("all nodes left out", grading="start_s = 3\nreadmit_s = 1000\n")
def _(r):
    r.start()
    with sqlite3.connect(r.dir / "gradebook.sqlite", timeout=20) as db:
        db.executemany("INSERT OR REPLACE INTO node VALUES(?, 3, 1, 'a test')", [(n,) for n in r.cluster.nodes.names])
    a_pod(r).end(signal.SIGKILL)  # its work needs a new job
    r.finish()
    expect("they are tried again", True, "they are tried again" in str(r.course.rows("SELECT what FROM event")))


def fill(r, nodes):
    """Other pods on all of these nodes."""
    r.cluster.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000000})
    for node in nodes:
        r.cluster.apply({**(pod := r.other_pod(f"on-{node}", "urgent")), "spec": {**pod["spec"], "nodeName": node}})
    r.until(lambda: len(r.cluster.nodes.live()) == len(nodes))


def tried(r):
    try:
        return r.course.rows("SELECT state, node FROM attempt ORDER BY number")
    except sqlite3.Error:  # the tables are not there yet
        return []


@fault("a node sick for one work, the others full for 4 s", works=0, grading="retries = 1\n")
def _(r):
    r.course.add("s", "broken-on 30 n1", 30.0)
    r.course.roster()
    fill(r, ("n2", "n3", "n4"))
    r.start(-1)
    expect("n1 fails", True, r.until(lambda: ("failed", "n1") in tried(r), 30))
    time.sleep(4)
    r.cluster.kubectl("delete", "pod", "-n", "ridge", "-l", "urgent=yes", "--grace-period=1")
    r.finish()
    first, second = tried(r)
    expect("the second attempt is elsewhere", (("failed", "n1"), "graded", True), (first, second[0], second[1] != "n1"))


@fault("a first attempt that fails, the other nodes full for good", works=0, grading="retries = 1\nstart_s = 3\n")
def _(r):
    judge = r.dir / "judge"
    head, rest = judge.read_text().split("\n", 1)
    judge.write_text(f'{head}\nif mkdir "{r.dir}/shared/once" 2>/dev/null; then echo "a hiccup" >&2; exit 3; fi\n{rest}')
    r.course.add("s", "points 30", 30.0)
    r.course.roster()
    fill(r, ("n2", "n3", "n4"))
    r.start(-1).finish()
    expect("then on the same node", [("failed", "n1"), ("lost", ""), ("graded", "n1")], tried(r))
    r.cluster.kubectl("delete", "pod", "-n", "ridge", "-l", "urgent=yes", "--grace-period=1")


@fault("cancel, and grade again")
def _(r):
    r.start()
    r.run("cancel")
    r.until(r.ended, 30)
    r.until(lambda: not pods_of(r), 40)
    expect("no job is left", "", r.cluster.kubectl("get", "jobs", "-n", "ridge", "-o", "name"))
    r.finish()


main(__doc__)
