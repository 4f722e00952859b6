#!/usr/bin/env python3
"""Records what kubectl says in the situations that matter, from a real API server, for test_recorded.py: record.py FILE

Written down are the answers to the collector's own questions, with the Job's name as NAME and the course's label as LABEL.
"""
import re
from pod_rounds import *

answers = {}


def say(r, situation, *words):
    """One answer: the exit code, and what kubectl prints, as the collector gets it."""
    done = subprocess.run([r.cluster.programs["kubectl"], "--namespace=ridge", "--request-timeout=15s", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=r.course.env)
    text = done.stdout
    for name, in r.course.rows("SELECT name FROM batch ORDER BY id DESC"):
        text = text.replace(name, "NAME")
    label = "ridge-" + r.course.rows("SELECT value FROM meta WHERE key = 'id'")[0][0]
    text = text.replace(label, "LABEL").replace(str(r.dir), "COURSE").replace(str(r.cluster.dir), "CLUSTER").replace(r.course.name, "CLAIM").replace(RIDGE, "RIDGE")
    text = text.replace(r.cluster.url, "https://127.0.0.1:6443").replace(r.cluster.url[8:], "127.0.0.1:6443")
    text = re.sub(r"/var/tmp/ridge-course\.[a-z0-9_]+", "COURSE", text)  # an earlier course's
    try:
        parsed = json.loads(text[text.index("{"):])
        for item in parsed.get("items", []):
            if item["kind"] in ("Job", "Pod"):  # the text of cluster/kubernetes/task.sh is long, and no answer
                template = item["spec"]["template"]["spec"] if item["kind"] == "Job" else item["spec"]
                template["containers"][0]["command"] = ["..."]
        text = json.dumps(parsed)
    except ValueError:
        pass
    answers.setdefault(situation, {})[" ".join(words[:2])] = [done.returncode, text]


def look(r, situation):
    label = "--selector=ridge.batches=ridge-" + r.course.rows("SELECT value FROM meta WHERE key = 'id'")[0][0]
    say(r, situation, "get", "jobs.batch", label, "-o", "json")
    say(r, situation, "get", "pods", label, "--field-selector=status.phase!=Succeeded", "-o", "json")
    say(r, situation, "get", "events", "--field-selector=involvedObject.kind=Job,type=Warning", "-o", "json")


def job(r):
    for _ in range(300):
        try:
            if rows := r.course.rows("SELECT name FROM batch WHERE state <> 'submitting' ORDER BY id DESC"):
                return rows[0][0]
        except sqlite3.Error:  # the tables are not there yet
            pass
        time.sleep(0.1)
    raise SystemExit("FAILED: no job")


def situation(cluster, name, prepare, ready, **settings):
    r = PodRound(cluster, works=3, **{"order": "slow 60", **settings})
    prepare(r)
    r.restart(*r.course.grade_words())
    job(r)
    expect(f"{name} came about", True, bool(r.until(lambda: ready(r), 60)))
    time.sleep(0.5)
    r.process.kill()
    r.end()
    look(r, name)
    return r


def pods(r, *words):
    return json.loads(r.cluster.kubectl("get", "pods", "-n", "ridge", "-l", f"batch.kubernetes.io/job-name={job(r)}", "-o", "json", *words))["items"]


def ends(r):
    r.cluster.kubectl("delete", "jobs,pods,events", "-n", "ridge", "--all", "--grace-period=1", "--wait=false")
    r.cluster.all_well()
    r.course.remove()


def failed(r):
    return "failedIndexes" in json.dumps(json.loads(r.cluster.kubectl("get", "job", "-n", "ridge", job(r), "-o", "json"))["status"])


with Cluster() as cluster:
    running = lambda n: lambda r: sum(p["status"]["phase"] == "Running" for p in pods(r)) >= n
    nothing = lambda r: None
    r = situation(cluster, "running", nothing, running(3))
    say(r, "running", "create", f"--filename={r.shared}/batches/{job(r)}/job.json", "--output=name")  # it exists already
    say(r, "running", "get", "node", "n1", "-o", "json")
    say(r, "running", "get", "nodes", "-o", "json")
    cluster.nodes.evict(cluster.nodes.live()[0])
    r.until(lambda: any(c["type"] == "DisruptionTarget" for p in pods(r) for c in p["status"]["conditions"]))
    r.until(lambda: running(3)(r))
    look(r, "evicted")
    r.cluster.kubectl("patch", "-n", "ridge", "job", job(r), "-p", '{"spec": {"suspend": true}}')
    r.until(lambda: not cluster.nodes.live(), 60)
    look(r, "suspended")
    ends(r)
    r = situation(cluster, "complete", nothing, lambda r: "Complete" in cluster.kubectl("get", "job", "-n", "ridge", job(r), "-o", "json"), order="points")
    ends(r)
    r = situation(cluster, "unschedulable", lambda r: r.set_pods('node_selector = {"nvidia.com/gpu.product" = "NVIDIA-B200"}\n'),
                  lambda r: "Unschedulable" in str(pods(r)))
    ends(r)
    cluster.nodes.bad_images = {"registry.example.edu/ridge:1"}
    r = situation(cluster, "image", nothing, lambda r: str(pods(r)).count("ImagePullBackOff") == 3)
    cluster.nodes.bad_images = set()
    ends(r)

    def deadline(r):
        (r.dir / "patch.json").write_text('{"spec": {"template": {"spec": {"activeDeadlineSeconds": 1, "terminationGracePeriodSeconds": 1}}}}')
        r.set_pods('patch = "patch.json"\n')
    r = situation(cluster, "deadline", deadline, failed)
    r.until(lambda: "FailedIndexes" in cluster.kubectl("get", "job", "-n", "ridge", job(r), "-o", "json"), 30)
    look(r, "deadline")
    ends(r)

    def no_pods(r):
        r.cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "course", "namespace": "ridge"}, "spec": {"hard": {"pods": "0"}}})
        time.sleep(2)
    r = situation(cluster, "no-pods", no_pods, lambda r: "FailedCreate" in cluster.kubectl("get", "events", "-n", "ridge"))
    cluster.kubectl("delete", "jobs", "-n", "ridge", "--all")
    r.cluster.kubectl("patch", "quota", "-n", "ridge", "course", "-p", '{"spec": {"hard": {"count/jobs.batch": "0"}}}')
    time.sleep(3)
    say(r, "quota", "create", f"--filename={r.shared}/batches/{job(r)}/job.json", "--output=name")
    cluster.kubectl("delete", "quota", "course", "-n", "ridge")
    say(r, "made", "create", f"--filename={r.shared}/batches/{job(r)}/job.json", "--output=name")
    cluster.kubectl("delete", "rolebinding", "ridge-collector", "-n", "ridge")
    time.sleep(1)
    look(r, "forbidden")
    cluster.stop("kube-apiserver", signal.SIGKILL)
    look(r, "away")
    cluster.start_api()
    client = json.loads(cluster.kubectl("version", "-o", "json"))["clientVersion"]["gitVersion"]
    text = json.dumps({"server": cluster.version, "client": client, "date": time.strftime("%Y-%m-%d"), "answers": answers}, indent=1)
    pathlib.Path(sys.argv[1]).write_text(text + "\n")
    r.course.remove()
print(f"{len(answers)} situations")
