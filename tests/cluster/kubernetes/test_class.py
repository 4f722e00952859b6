#!/usr/bin/env python3
"""A mixed class, end to end on Kubernetes: the same gradebook as through the virtual Slurm, where one can be started. Then
builds apart, GPUs and MIG profiles, doctor, status, regrade, and what a pod sees.

test_class.py [class|builds|rights|judge|manifests]
"""
from pod_course import *

GRADING = "limit_s = 2\nretries = 1\nheartbeat_s = 5\nper_job = 2\n"
CLASS = {  # what the stand-in judge is told -> the grade
    "s0": ("points 100", 100.0), "s1": ("points 0", 0.0), "s2": ("build", 0.0), "s3": ("slow 0.5 70", 70.0), "twin": ("slow 0.5 70", 70.0),
    "s5": ("usage", None), "s6": ("hang", None), "s7": ("orphan 40", 40.0), "s8": ("broken-on 30 n1", 30.0), "s9": ("points 55", 55.0),
    "s10": ("slow 1 90", 90.0), "s11": ("broken", None)}


def graded(course):
    for student, (order, grade) in CLASS.items():
        course.add(student, order + ("" if student in ("s3", "twin") else f" of {student}"), grade)
    course.roster()
    done = course.run(*course.grade_words())
    expect("three have no grade: " + done.stdout + done.stderr, 3, done.returncode)
    expect("the gradebook", course.expected, course.gradebook())
    expect("two results count", [], course.rows("SELECT work FROM result WHERE counts = 1 GROUP BY work HAVING count(*) > 1"))
    reasons = dict(course.rows("SELECT s.student, w.reason FROM work w JOIN submission s ON s.content = w.content WHERE w.state = 'not-graded'"))
    expect("who has no grade, and why", {"s5": True, "s6": True, "s11": True}, {
        "s5": "usage error" in reasons["s5"], "s6": "did not end within 2 s" in reasons["s6"], "s11": "no such device" in reasons["s11"]})
    return course.gradebook()


def a_class(cluster):
    course = PodCourse(cluster, GRADING)
    through_pods = graded(course)
    for _ in range(100):  # the last pods end after their results
        jobs = json.loads(cluster.kubectl("get", "jobs", "-n", "ridge", "-o", "json"))["items"]
        ends = [c["type"] for j in jobs for c in j["status"].get("conditions", []) if c["type"] in ("Complete", "Failed")]
        if len(ends) == len(jobs):
            break
        time.sleep(0.1)
    expect("a batch is one Indexed Job", {n for n, in course.rows("SELECT name FROM batch")}, {j["metadata"]["name"] for j in jobs})
    expect("all of them are complete", ["Complete"] * len(jobs), ends)
    before = course.rows("SELECT * FROM result ORDER BY token")
    course.run("grade", "--lab", "01", "--submissions", str(course.dir / "submissions"), "--detach")
    course.run("cancel")
    expect("results after a second run", before, course.rows("SELECT * FROM result ORDER BY token"))
    expect("cancel leaves no job", "", cluster.kubectl("get", "jobs", "-n", "ridge", "-o", "name"))
    done = course.run("regrade", "--lab", "01", "--student", "s0", "--reason", "test")
    expect("a regrade: " + done.stdout, 2, course.rows("SELECT max(generation) FROM work WHERE content IN (SELECT content FROM submission WHERE student = 's0')")[0][0])
    expect("status: ", True, " with a grade" in course.run("status").stdout)
    course.remove()
    if shutil.which("slurmctld"):
        with Slurm(4) as slurm:
            through_slurm = Course(slurm, GRADING)
            expect("the same gradebook as through Slurm", graded(through_slurm), through_pods)
            through_slurm.remove()
    else:
        print("not compared with Slurm: slurmctld is not installed")


def builds(cluster):
    """Builds on nodes without GPUs; runs where a GPU, or a slice of one, is."""
    for resource, node, product in ((GPU, "n3", ""), (MIG, "n4", "-MIG-1g.10gb")):
        course = PodCourse(cluster, "heartbeat_s = 5\nper_job = 1\n", f'resources = {{"{resource}" = 1}}\nnode_selector = '
                           f'{{"nvidia.com/gpu.product" = "NVIDIA-H100-80GB-HBM3{product}"}}\ncpus = 0\n[build.kubernetes]\nnode_selector = {{}}\n')
        for i in range(4):
            course.add(f"s{i}", f"points {i * 20} of {i}", i * 20.0)
        course.add("s4", "build", 0.0)
        course.roster()
        done = course.run(*course.grade_words())
        expect("all is graded: " + done.stdout + done.stderr, 0, done.returncode)
        course.check()
        where = dict(course.rows("SELECT a.state, group_concat(DISTINCT a.node) FROM attempt a JOIN batch b ON b.id = a.batch WHERE b.phase = 'judge' GROUP BY 1"))
        expect(f"judged where {resource} is", {"graded": node}, where)
        expect("built apart", 4, course.rows("SELECT count(*) FROM attempt WHERE state = 'built'")[0][0])
        course.remove()


def pod_of(course):
    """The pod of the course's first job, as it was sent."""
    file = next(course.dir.glob("shared/batches/*/job.json"))
    return json.loads(file.read_text())["spec"]["template"]


def rights(cluster):
    """Who may do what: the collector's role, Pod Security, secrets, the read-only file system."""
    course = PodCourse(cluster, "heartbeat_s = 5\n")
    cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ridge-course", "namespace": "ridge"},
                   "stringData": {"signing_key": "the key", "seeds": "the seeds"}})
    (course.dir / "judge").write_text(  # a look around where the judge runs
        "#!/bin/sh\n" f"exec >>{course.dir}/shared/seen 2>&1\n"
        'echo "key: $(cat "$RIDGE_SIGNING_KEY") $(stat -c "%a %u" "$RIDGE_SIGNING_KEY")"; id -u\n'
        "touch /written /usr/written && echo it can write; touch /tmp/written && echo it can write to /tmp\n"
        "ls /var/run/secrets/kubernetes.io /run/ridge; exit 3\n")
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace("retries", "tries"))
    course.add("s0", "points 1", None)
    course.roster()
    key = subprocess.run([RIDGE, "key", "new", str(course.dir / "course.key")], capture_output=True, text=True)
    expect("a key: " + key.stderr, 0, key.returncode)
    file.write_text(file.read_text().replace("signed = false\n", 'signing_key = "course.key"\nkeys = ["course.key.pub"]\nretries = 0\n'))
    course.run(*course.grade_words())
    seen = (course.dir / "shared/seen").read_text()
    expect("the judge has the key, as its own file: " + seen, True, f"key: the key 600 {os.getuid()}\n" in seen)
    expect("it writes to its volumes alone: " + seen, (False, True), ("it can write\n" in seen, "it can write to /tmp" in seen))
    expect("no token of the cluster is there: " + seen, True, "cannot access '/var/run/secrets/kubernetes.io'" in seen)
    pod = pod_of(course)
    expect("one container, and the Secret in it", [["shared", "secret", "own", "tmp"]], [[m["name"] for m in c["volumeMounts"]] for c in pod["spec"]["containers"]])
    def refused(level, change):
        """What the API server says of the pod in a namespace of this level."""
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": level, "labels": {"pod-security.kubernetes.io/enforce": level}}})
        cluster.kubectl("create", "serviceaccount", "default", "-n", level, fails=True)
        one = json.loads(json.dumps({**pod, "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": level}}))
        change(one["spec"])
        return cluster.kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(one), fails=True)
    def ordinary(spec):
        spec["securityContext"].update(runAsUser=1000, runAsGroup=1000, runAsNonRoot=True)
    def on_the_host(spec):
        del spec["hostUsers"]
    expect("baseline takes it: " + refused("baseline", ordinary), True, "created (server dry run)" in refused("baseline", ordinary))
    print("restricted says:", refused("restricted", ordinary).strip())
    expect("an unmasked /proc needs the pod's own users", True, "`hostUsers` must be false to use `Unmasked`" in refused("baseline", on_the_host))
    sys_admin = PodCourse(cluster, "heartbeat_s = 5\n", 'sandbox = "sys-admin"\n')
    said = sys_admin.run("doctor", "--no-job").stdout
    expect("doctor tells that baseline refuses more capabilities: " + said, True, 'violates PodSecurity "baseline' in said)
    for words in (("get", "secrets"), ("create", "pods", "--subresource=exec"), ("list", "configmaps"), ("delete", "namespaces")):
        answer = cluster.kubectl("auth", "can-i", *words, "-n", "ridge", fails=True, config="collector")
        expect(f"the collector may not {words}", True, answer.startswith("no"))
    said = course.run("doctor")
    expect("doctor asks a node: " + said.stdout + said.stderr, True, "sees the shared folder and this ridge" in said.stdout)
    cluster.kubectl("delete", "clusterrolebinding", "ridge-nodes")
    said = course.run("doctor", "--no-job")
    expect("without a look at the nodes: " + said.stdout + said.stderr, (0, True), (said.returncode, "the nodes are not known" in said.stdout))
    cluster.kubectl("apply", "-k", str(MANIFESTS / "base"))
    cluster.kubectl("delete", "rolebinding", "ridge-collector", "-n", "ridge")
    said = course.run("doctor", "--no-job")
    expect("without rights: " + said.stdout, (3, True), (said.returncode, "may not create jobs.batch" in said.stdout))
    cluster.kubectl("apply", "-k", str(MANIFESTS / "base"))
    for one in (course, sys_admin):
        one.remove()


def judge(cluster):
    """The real judge, signed and sandboxed, as an ordinary account: pods run as the account of the collector."""
    course = PodCourse(cluster, "heartbeat_s = 20\n", "cpus = 2\n", program=False)
    (course.dir / "shared").rmdir()
    cluster.nodes.claims[course.name] = course.dir / "shared"
    file = course.dir / "course.toml"
    file.write_text(file.read_text().replace("[grading]\n", '[grading]\nsigning_key = "course.key"\nkeys = ["course.key.pub"]\nseeds = "seeds"\n').replace("[labs.01]", "[labs.03]"))
    lab = "03_warp_shuffle"
    for student in ("good", "stub"):
        source = REPO / ("solutions" if student == "good" else "labs") / lab
        shutil.copytree(source, course.dir / "submissions" / student, ignore=lambda d, names: [n for n in names if not n.endswith(".cu") or n in ("entry.cu", "baseline.cu")])
        course.expected[student] = None
    course.roster()
    user = 23456
    subprocess.run(["chown", "-R", f"{user}:{user}", str(course.dir)], check=True)
    plain = course.command
    course.command = lambda *words: ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *plain(*words)]
    course.env.update(HOME=str(course.dir), RIDGE_WORK=str(course.dir / "work"), RIDGE_NO_BUILD="1")
    key = subprocess.run(["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", RIDGE, "key", "new", str(course.dir / "course.key")],
                         capture_output=True, text=True, env=course.env)
    expect("a key: " + key.stderr, 0, key.returncode)
    (course.dir / "seeds").write_bytes(os.urandom(32))
    os.chown(course.dir / "seeds", user, user)
    (course.dir / "seeds").chmod(0o600)
    cluster.kubectl("delete", "secret", "-n", "ridge", "ridge-course")
    cluster.kubectl("create", "secret", "generic", "ridge-course", "-n", "ridge", f"--from-file=signing_key={course.dir}/course.key", f"--from-file=seeds={course.dir}/seeds")
    words = ("grade", "--lab", "03", "--submissions", str(course.dir / "submissions"), "--roster", str(course.dir / "roster.csv"))
    done = course.run(*words, limit=600)
    logs = "".join(p.read_text() for p in course.dir.glob("shared/log/*"))
    expect("all is graded: " + done.stdout + done.stderr + logs, 0, done.returncode)
    grades = course.gradebook()
    expect(f"the solution has all points, the stub none: {grades}", (100.0, True), (grades["good"], grades["stub"] < 100))
    for record, in course.rows("SELECT record FROM result"):
        record = json.loads(record)
        expect("official, sandboxed", ("official", True), (record["standing"], record["sandbox"]["complete"]))
    course.remove()


def manifests(cluster):
    """The API server takes what cluster/kubernetes makes of itself; what needs other projects' kinds is only rendered."""
    for name, kinds in (("base", 7), ("overlays/nfs", 8), ("overlays/sys-admin", 7)):
        said = cluster.kubectl("apply", "--dry-run=server", "-k", str(MANIFESTS / name)).splitlines()
        expect(f"{name}: {said}", kinds, len([line for line in said if line.endswith("(server dry run)")]))
    for name, kinds in (("overlays/kueue", ["ClusterQueue"] * 3 + ["LocalQueue"] * 3 + ["ResourceFlavor"] * 3), ("mpi", ["MPIJob", "NetworkPolicy"])):
        text = cluster.kubectl("kustomize", str(MANIFESTS / name)).splitlines()
        found = sorted(line.split()[1] for line in text if line.startswith("kind: "))
        expect(f"{name}: {found}", kinds, [k for k in found if k in kinds and (name == "mpi" or k != "NetworkPolicy")])
    level = lambda name: [line.split()[1] for line in cluster.kubectl("kustomize", str(MANIFESTS / name)).splitlines() if "/enforce:" in line]
    expect("levels of Pod Security", (["baseline"], ["privileged"]), (level("base"), level("overlays/nfs")))
    for words, answer in ((("create", "jobs.batch"), "yes"), (("list", "nodes"), "yes"), (("get", "secrets"), "no"), (("create", "jobs.batch", "-n", "default"), "no")):
        said = cluster.kubectl("auth", "can-i", *words, *(() if "-n" in words else ("-n", "ridge")), fails=True, config="collector")
        expect(f"{words}: {said}", answer, said.split()[0])
    course = PodCourse(cluster, "heartbeat_s = 5\n", 'sandbox = "sys-admin"\n')
    course.add("s0", "points 5", 5.0)
    course.roster()
    cluster.kubectl("apply", "-k", str(MANIFESTS / "overlays/sys-admin"))
    done = course.run(*course.grade_words())
    expect("with sys-admin all is graded too: " + done.stdout + done.stderr, 0, done.returncode)
    course.check()
    course.remove()


with Cluster() as cluster:
    print(f"Kubernetes {cluster.version}")
    {"class": a_class, "builds": builds, "rights": rights, "judge": judge, "manifests": manifests}[(sys.argv + ["class"])[1]](cluster)
print(f"{len(checks)} checks")
