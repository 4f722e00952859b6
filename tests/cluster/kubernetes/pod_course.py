"""A course whose executor is Kubernetes, on the virtual nodes, with the stand-in judge."""
from nodes import *

NAMES = {"n1": {}, "n2": {}, "n3": {GPU: "2"}, "n4": {MIG: "7"}}
tempfile.tempdir = "/var/tmp"  # a pod's /tmp is its own


class Cluster(Kubernetes):
    """The control plane, its nodes, and cluster/kubernetes/base."""

    def __init__(self):
        super().__init__()
        self.kubectl("apply", "-k", str(MANIFESTS / "base"))
        self.nodes = Nodes(self, NAMES, {})

    def all_well(self):
        """No pod is left, and all nodes are ready."""
        for _ in range(200):
            nodes = self.call("GET", "/api/v1/nodes")["items"]
            if not self.nodes.live() and all("taints" not in n["spec"] for n in nodes):
                return
            time.sleep(0.1)
        raise SystemExit("FAILED: the nodes are not well again: " + self.kubectl("describe", "nodes"))

    def __exit__(self, kind, *rest):
        self.nodes.stop()
        super().__exit__(kind, *rest)


class PodCourse(Course):
    def __init__(self, cluster, grading="", pods="cpus = 1\n", head="", program=True):
        super().__init__(cluster, grading, 'executor = "kubernetes"\n' + head, program)
        self.cluster, self.name = cluster, self.dir.name.replace(".", "-").replace("_", "x").lower()
        (self.dir / "shared").mkdir(mode=0o700)
        file = self.dir / "course.toml"
        file.write_text(file.read_text().replace('[slurm]\npartition = "grade"\ncpus = 1\n', (
            f'[kubernetes]\nimage = "registry.example.edu/ridge:1"\nclaim = "{self.name}"\nprogram = "{RIDGE}"\n{pods}')))
        self.volume(cluster)

    def volume(self, cluster):
        """A volume and a claim, bound to each other."""
        of = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        cluster.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": self.name}, "spec": {
                          **of, "capacity": {"storage": "1Gi"}, "hostPath": {"path": str(self.dir / "shared")},
                          "claimRef": {"namespace": "ridge", "name": self.name}}},
                      {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": self.name, "namespace": "ridge"},
                       "spec": {**of, "volumeName": self.name, "resources": {"requests": {"storage": "1Gi"}}}},
                      {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ridge-course", "namespace": "ridge"}})
        cluster.nodes.claims[self.name] = self.dir / "shared"
