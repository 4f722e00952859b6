"""One fault while a small class is graded on Kubernetes: the rounds of ../faults, with pods."""
from pod_course import *
sys.path.insert(0, str(HERE / "faults"))
import one_fault
from one_fault import Round

faults = {}  # name -> (function, settings of its round)


def fault(name, **settings):
    def add(function):
        assert name not in faults
        faults[name] = function, settings
        return function
    return add


class PodRound(Round):
    def __init__(self, cluster, works=8, order="slow 1", grading="", at_once=4):
        self.cluster, self.seen, self.process = cluster, [], None
        usual = {"heartbeat_s": 5, "start_s": 30, "retries": 6, "per_job": 1, "at_once": at_once, "readmit_s": 2}
        usual.update(line.split(" = ") for line in grading.splitlines())
        self.course = PodCourse(cluster, "".join(f"{k} = {v}\n" for k, v in usual.items()))
        for i in range(works):
            self.course.add(f"s{i}", f"{order} {i * 11} of {i}", i * 11.0)
        self.course.roster()
        self.dir, self.shared = self.course.dir, self.course.dir / "shared"

    def wrap(self, program, text):
        real = self.cluster.programs[program]
        tools = self.dir / "tools"
        tools.mkdir(exist_ok=True)
        new = tools / (program + ".new")
        new.write_text("#!/bin/sh\n" + text.replace("REAL", real).replace("COUNT", str(tools / (program + ".count"))))
        new.chmod(0o755)
        new.rename(tools / program)
        self.course.env["PATH"] = f"{tools}:{self.cluster.env['PATH']}"

    def set_pods(self, lines):
        """Further keys of [kubernetes]; returns the old text of course.toml."""
        file = self.dir / "course.toml"
        text = file.read_text()
        file.write_text(text.replace("[kubernetes]\n", "[kubernetes]\n" + lines))
        return text

    def restart(self, *words):
        self.process = subprocess.Popen(self.course.command(*words), env=self.course.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def other_pod(self, name, priority):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ridge", "labels": {"urgent": "yes"}}, "spec": {
            "priorityClassName": priority, "restartPolicy": "Never", "securityContext": {"runAsUser": 0}, "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "judge", "image": "other", "command": ["sleep", "60"], "resources": {"requests": {"cpu": "2"}},
                            "securityContext": {"capabilities": {}}, "volumeMounts": []}]}}


def main(what):
    words = [w for w in sys.argv[1:] if w != "--list"]
    chosen = {name: f for name, f in faults.items() if not words or any(w in name for w in words)}
    if "--list" in sys.argv:
        print("\n".join(chosen))
        sys.exit(0)
    failed = []
    with Cluster() as cluster:
        print(f"Kubernetes {cluster.version}, {len(cluster.nodes.names)} virtual nodes")
        for number, (name, (function, settings)) in enumerate(chosen.items(), 1):
            begun, r = time.monotonic(), PodRound(cluster, **settings)
            try:
                function(r)
                print(f"| {number} | {name} | {r.sound()} |", f"<!-- {time.monotonic() - begun:.0f} s -->", flush=True)
                r.course.remove()
            except (SystemExit, Exception) as e:
                failed.append(name)
                print(f"FAILED {name}: {e!r}"[:3000], f"kept {r.dir}", flush=True)
                if r.process and r.process.poll() is None:
                    r.process.kill()
                if "kube-apiserver" not in cluster.running:
                    cluster.start_api()
            cluster.kubectl("delete", "jobs,pods", "-n", "ridge", "--all", "--wait=false", "--grace-period=1")
            cluster.all_well()
    if failed:
        raise SystemExit(f"FAILED: {len(failed)} of {len(chosen)}: " + "; ".join(failed))
    print(f"{len(chosen)} faults, {len(checks)} checks: nothing lost, nothing counted twice, no failure of the infrastructure scored")
