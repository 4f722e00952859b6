"""A real Kubernetes control plane on this machine's loopback: etcd, kube-apiserver (RBAC, Pod Security), kube-controller-manager and
kube-scheduler. There is no kubelet: nodes.py plays the nodes. The programs are looked for in KUBEBUILDER_ASSETS, as envtest does,
and on PATH; where one is missing, the test is skipped."""
import json, os, pathlib, shutil, signal, socket, ssl, subprocess, sys, tempfile, time, urllib.error, urllib.request
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from rehearsal import *

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ADMIN, COLLECTOR = "admin-token", "collector-token"
MANIFESTS = REPO / "cluster/kubernetes"


def programs():
    places = f"{os.environ.get('KUBEBUILDER_ASSETS', '')}:{os.environ['PATH']}"
    found = {p: shutil.which(p, path=places) for p in PROGRAMS}
    if missing := [p for p, path in found.items() if not path]:
        skip(f"no {', '.join(missing)} in KUBEBUILDER_ASSETS or on PATH")
    if os.getuid() != 0:
        skip("pods get mounts of their own here, which needs root")
    return found


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Kubernetes:
    def __init__(self):
        self.programs = programs()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-kubernetes."))
        self.running, self.ports = {}, {name: free_port() for name in ("etcd", "peer", "api", "controllers", "scheduler")}
        self.url = f"https://127.0.0.1:{self.ports['api']}"
        quiet = dict(check=True, capture_output=True, cwd=self.dir)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ridge", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", "api.key", "-out", "api.crt"], **quiet)
        subprocess.run(["openssl", "genrsa", "-out", "accounts.key", "2048"], **quiet)
        (self.dir / "tokens.csv").write_text(f'{ADMIN},admin,1,"system:masters"\n{COLLECTOR},ridge-collector,2\n')
        self.context = ssl.create_default_context(cafile=str(self.dir / "api.crt"))
        for name, token in (("admin", ADMIN), ("collector", COLLECTOR)):
            (self.dir / name).write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "here",
                "clusters": [{"name": "here", "cluster": {"server": self.url, "certificate-authority": str(self.dir / "api.crt")}}],
                "users": [{"name": name, "user": {"token": token}}],
                "contexts": [{"name": "here", "context": {"cluster": "here", "user": name}}]}))
            (self.dir / name).chmod(0o644)
        self.dir.chmod(0o755)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_"))}
        self.env["PATH"] = f"{os.path.dirname(self.programs['kubectl'])}:{os.environ['PATH']}"
        self.env["KUBECONFIG"] = str(self.dir / "collector")
        self.start("etcd", "--data-dir=etcd", "--unsafe-no-fsync", f"--listen-client-urls=http://127.0.0.1:{self.ports['etcd']}",
                   f"--advertise-client-urls=http://127.0.0.1:{self.ports['etcd']}", f"--listen-peer-urls=http://127.0.0.1:{self.ports['peer']}",
                   f"--initial-advertise-peer-urls=http://127.0.0.1:{self.ports['peer']}", f"--initial-cluster=default=http://127.0.0.1:{self.ports['peer']}")
        self.start_api()
        self.start_controllers()
        self.start("kube-scheduler", *self.common(), f"--secure-port={self.ports['scheduler']}")
        self.version = json.loads(self.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"]

    def start(self, name, *options):
        with open(self.dir / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen([self.programs[name], *options], cwd=self.dir, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def common(self):
        return [f"--kubeconfig={self.dir}/admin", "--leader-elect=false", "--bind-address=127.0.0.1", f"--cert-dir={self.dir}"]

    def start_controllers(self):
        self.start("kube-controller-manager", *self.common(), f"--secure-port={self.ports['controllers']}", "--node-monitor-period=1s",
                   "--node-monitor-grace-period=12s", f"--service-account-private-key-file={self.dir}/accounts.key", f"--root-ca-file={self.dir}/api.crt",
                   "--controllers=job-controller,ttl-after-finished-controller,pod-garbage-collector-controller,garbage-collector-controller,"
                   "namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,node-lifecycle-controller,"
                   "taint-eviction-controller,resourcequota-controller,persistentvolume-binder-controller,disruption-controller")

    def start_api(self):
        self.start("kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}", f"--secure-port={self.ports['api']}",
                   "--bind-address=127.0.0.1", f"--tls-cert-file={self.dir}/api.crt", f"--tls-private-key-file={self.dir}/api.key", f"--cert-dir={self.dir}",
                   f"--service-account-key-file={self.dir}/accounts.key", f"--service-account-signing-key-file={self.dir}/accounts.key",
                   "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC",
                   f"--token-auth-file={self.dir}/tokens.csv", "--default-not-ready-toleration-seconds=3", "--default-unreachable-toleration-seconds=3")
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", context=self.context, timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                pass
            if self.running["kube-apiserver"].poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit("FAILED: no API server: " + (self.dir / "kube-apiserver.log").read_text()[-2000:])

    def stop(self, name, how=signal.SIGTERM):
        process = self.running.pop(name)
        process.send_signal(how)
        process.wait()

    def kubectl(self, *words, given=None, fails=False, config="admin"):
        done = subprocess.run([self.programs["kubectl"], *words], capture_output=True, text=True, input=given,
                              env={**self.env, "KUBECONFIG": str(self.dir / config)}, timeout=60)
        if done.returncode and not fails:
            raise SystemExit(f"FAILED: kubectl {words}: {done.stdout}{done.stderr}")
        return done.stdout + (done.stderr if fails else "")

    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def call(self, method, path, body=None, kind="application/json"):
        """The API without kubectl, as the nodes use it. Nothing where the object is gone or another one was faster."""
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {ADMIN}", "Content-Type": kind})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            if e.code in (404, 409):
                return None
            raise OSError(f"{method} {path}: {e.code} {e.read()[:500]!r}") from e

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for name in ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
            if name in self.running:
                self.stop(name, signal.SIGKILL)
        if kind is None:
            shutil.rmtree(self.dir, ignore_errors=True)
        else:
            print("kept", self.dir)
