"""Nodes without a kubelet: they register, keep their leases, run each pod's command as a process with the pod's environment and mounts,
and report phases, exit codes and disruptions as a kubelet does. What kwok fakes is real here: a process with a private view of the
file system, read-only but for the pod's volumes."""
import datetime, threading
from api_server import *

GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"


def now(fine=False):
    t = datetime.datetime.now(datetime.timezone.utc)
    return t.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if fine else "%Y-%m-%dT%H:%M:%SZ")


class Pod:
    def __init__(self, pod):
        self.pod, self.process, self.began, self.told, self.why = pod, None, time.monotonic(), None, None
        self.name, self.uid, self.node = pod["metadata"]["name"], pod["metadata"]["uid"], pod["spec"]["nodeName"]
        self.path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{self.name}"
        self.started = now()

    def children(self, of):
        try:
            return [int(c) for c in pathlib.Path(f"/proc/{of}/task/{of}/children").read_text().split()]
        except OSError:
            return []

    def end(self, how):
        """A signal to the container's first process."""
        for child in self.children(self.process.pid) if self.process else []:
            os.kill(child, how)

    def commands(self):
        """The command lines of all processes of the container."""
        left, all = self.children(self.process.pid), []
        while left:
            pid = left.pop()
            left += self.children(pid)
            try:
                all.append(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
            except OSError:
                pass
        return all

    def freeze(self, how=signal.SIGSTOP):
        """Stops all processes of the container, or lets them go on (SIGCONT)."""
        left = self.children(self.process.pid)
        while left:
            pid = left.pop()
            left += self.children(pid)
            os.kill(pid, how)


class Nodes(threading.Thread):
    """`resources`: node -> further resources. Volumes are folders of `dir`; `claims` maps the claim to a folder of this machine."""

    def __init__(self, kubernetes, resources, claims):
        super().__init__(daemon=True)
        self.kubernetes, self.claims, self.lost, self.bad_images, self.pods = kubernetes, claims, set(), set(), {}
        self.names, self.dir, self.stopped, self.trouble, self.leases = list(resources), kubernetes.dir / "pods", False, None, 0
        self.dir.mkdir()
        self.dir.chmod(0o755)
        for name, more in resources.items():
            capacity = {"cpu": "2", "memory": "8Gi", "pods": "20", **more}
            labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            if more:
                labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3" + ("-MIG-1g.10gb" if MIG in more else "")
            kubernetes.call("POST", "/api/v1/nodes", {"kind": "Node", "metadata": {"name": name, "labels": labels}})
            self.say(name, capacity)
        self.start()

    def say(self, name, capacity=None):
        """A node's status and its lease."""
        size = {"capacity": capacity, "allocatable": capacity} if capacity else {}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now(), "lastTransitionTime": now()}
        self.kubernetes.call("PATCH", f"/api/v1/nodes/{name}/status", {"status": {**size, "conditions": [ready]}},
                             "application/strategic-merge-patch+json")
        lease = {"kind": "Lease", "metadata": {"name": name, "namespace": "kube-node-lease"},
                 "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now(fine=True)}}
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        if self.kubernetes.call("PATCH", f"{path}/{name}", {"spec": lease["spec"]}, "application/merge-patch+json") is None:
            self.kubernetes.call("POST", path, lease)

    def come_back(self, name):
        self.lost.discard(name)
        self.leases = 0

    def report(self, p, phase, state, **more):
        conditions = more.pop("conditions", [])
        status = {"phase": phase, "startTime": p.started, "conditions": conditions, **more,
                  "containerStatuses": [{"name": "judge", "image": "x", "imageID": "x", "restartCount": 0, "ready": "running" in state, "state": state}]}
        return self.kubernetes.call("PATCH", p.path + "/status", {"status": status}, "application/strategic-merge-patch+json")

    def volume(self, p, volume):
        """The folder of a volume; nothing where the pod has to wait for it."""
        place = self.dir / p.uid / volume["name"]
        if "persistentVolumeClaim" in volume:
            return self.claims[volume["persistentVolumeClaim"]["claimName"]]
        place.mkdir(parents=True, exist_ok=True)
        if "emptyDir" in volume:
            place.chmod(0o777)
        if "secret" in volume:
            namespace = p.pod["metadata"]["namespace"]
            secret = self.kubernetes.call("GET", f"/api/v1/namespaces/{namespace}/secrets/{volume['secret']['secretName']}")
            if secret is None:
                return None
            import base64
            for key, value in secret.get("data", {}).items():
                (place / key).write_bytes(base64.b64decode(value))
                (place / key).chmod(volume["secret"].get("defaultMode", 0o644))
        return place

    def launch(self, p):
        spec = p.pod["spec"]
        container = spec["containers"][0]
        labels = p.pod["metadata"].get("labels", {})
        fields = {"spec.nodeName": p.node, **{f"metadata.labels['{k}']": v for k, v in labels.items()},
                  **{f"metadata.annotations['{k}']": v for k, v in p.pod["metadata"].get("annotations", {}).items()}}
        env = {"PATH": os.environ["PATH"]}
        for e in container.get("env", []):
            env[e["name"]] = e["value"] if "value" in e else fields[e["valueFrom"]["fieldRef"]["fieldPath"]] if "valueFrom" in e else ""
        words = container["command"]
        for name, value in env.items():
            words = [w.replace(f"$({name})", value) for w in words]
        mounts, script = [], ["mount --make-rprivate /", "mount -t tmpfs none /run"]
        for m in container["volumeMounts"]:
            volume = next(v for v in spec["volumes"] if v["name"] == m["name"])
            if (place := self.volume(p, volume)) is None:
                return False
            if "subPath" in m:
                place = pathlib.Path(place) / m["subPath"]
            mounts.append((str(place), m["mountPath"], m.get("readOnly", False)))
        for source, target, _ in mounts:
            script += [f"mkdir -p '{target}'", f"mount --rbind '{source}' '{target}'"]
        script += ["mount -o remount,bind,ro /"] + [f"mount -o remount,bind,ro '{t}'" for _, t, ro in mounts if ro]
        user = spec["securityContext"]["runAsUser"]
        drop = "--bounding-set=-all --inh-caps=-all " if container["securityContext"]["capabilities"].get("drop") == ["ALL"] and user else ""
        script.append(f'exec setpriv --reuid={user} --regid={user} --clear-groups --no-new-privs {drop}"$@"')
        order = ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "sh", "-ec", "\n".join(script), "pod", *words]
        (self.dir / p.uid).mkdir(exist_ok=True)
        with open(self.dir / p.uid / "log", "wb") as log:
            p.process = subprocess.Popen(order, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, cwd="/")
        return True

    def begin(self, p):
        if p.pod["spec"]["containers"][0]["image"] in self.bad_images:
            self.report(p, "Pending", {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}})
        elif self.launch(p):
            self.report(p, "Running", {"running": {"startedAt": now()}})
        else:
            self.report(p, "Pending", {"waiting": {"reason": "CreateContainerConfigError", "message": "secret not found"}})

    def finish(self, p, deleted):
        code = p.process.returncode if p.process else 0
        code = 128 - code if code < 0 else code
        reason = "Completed" if code == 0 else "Error"
        more = p.why or {}
        phase = "Succeeded" if code == 0 and not more else "Failed"
        self.report(p, phase, {"terminated": {"exitCode": code, "reason": reason, "startedAt": p.started, "finishedAt": now()}}, **more)
        if deleted:
            self.kubernetes.call("DELETE", p.path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": {"uid": p.uid}})
        p.told = "over"

    def look(self, pod):
        uid, node = pod["metadata"]["uid"], pod["spec"]["nodeName"]
        if node in self.lost or node not in self.names:
            return
        p = self.pods.setdefault(uid, Pod(pod))
        p.pod = pod
        deleted = "deletionTimestamp" in pod["metadata"]
        if p.told == "over":
            if deleted:
                self.kubernetes.call("DELETE", p.path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
            return
        if p.process is None:
            return self.finish(p, True) if deleted else self.begin(p)
        if p.process.poll() is not None:
            return self.finish(p, deleted)
        if deleted and p.told is None:
            p.told = time.monotonic()
            p.end(signal.SIGTERM)
        if deleted and time.monotonic() - p.told > pod["metadata"].get("deletionGracePeriodSeconds", 30):
            p.end(signal.SIGKILL)
        if time.monotonic() - p.began > pod["spec"].get("activeDeadlineSeconds", 1e9):
            p.why = {"reason": "DeadlineExceeded", "message": "Pod was active on the node longer than the specified deadline"}
            p.end(signal.SIGKILL)

    def evict(self, p):
        """As a kubelet under memory pressure does."""
        p.why = {"reason": "Evicted", "message": "The node was low on resource: memory.",
                 "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "lastTransitionTime": now(),
                                 "message": "The node was low on resource: memory."}]}
        p.end(signal.SIGKILL)

    def lose(self, name, dead=True):
        """The node is gone from the API server's eyes; `dead`: with all its processes."""
        self.lost.add(name)
        for p in list(self.pods.values()):
            if dead and p.node == name:
                p.end(signal.SIGKILL)

    def live(self, node=None):
        return [p for p in list(self.pods.values()) if p.process and p.process.poll() is None and node in (None, p.node)]

    def run(self):
        while not self.stopped:
            try:
                if time.monotonic() - self.leases > 2:
                    for name in self.names:
                        if name not in self.lost:
                            self.say(name)
                    self.leases = time.monotonic()
                for pod in self.kubernetes.call("GET", "/api/v1/pods?fieldSelector=spec.nodeName!=")["items"]:
                    self.look(pod)
            except (OSError, TypeError) as e:  # the API server is away
                self.trouble = e
                time.sleep(0.3)
            time.sleep(0.15)

    def stop(self):
        self.stopped = True
        self.join()
        for p in self.live():
            p.end(signal.SIGKILL)
