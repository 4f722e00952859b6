"""Two virtual clusters with a slurmdbd, in one federation, with a QOS of few jobs: for tests of what only accounting shows.

Needs mariadbd, slurmdbd and Slurm's plugin for MySQL (Debian: mariadb-server-core, slurmdbd, slurm-wlm-mysql-plugin), installed or
unpacked into a folder that RIDGE_SLURMDBD names."""
import types
from rehearsal import *

ROOT = pathlib.Path(os.environ.get("RIDGE_SLURMDBD", "/"))
LIBRARIES = [ROOT / "usr/lib/x86_64-linux-gnu", ROOT / "lib/x86_64-linux-gnu"]


def ports(count):
    found = []
    taken = {int(line.split()[1].split(":")[1], 16) for f in ("/proc/net/tcp", "/proc/net/tcp6") for line in open(f).read().splitlines()[1:]}
    while len(found) < count:
        port = random.randrange(20000, 32000)
        if port not in taken and port not in found:
            found.append(port)
    return found


class Federation:
    def __enter__(self):
        if os.getuid() != 0:
            skip("it needs root")
        self.program = {p: ROOT / "usr/sbin" / p for p in ("mariadbd", "slurmdbd")}
        self.plugins = [d / "slurm-wlm" for d in LIBRARIES]
        missing = [str(p) for p in self.program.values() if not p.exists()]
        if not any((d / "accounting_storage_mysql.so").exists() for d in self.plugins):
            missing.append("accounting_storage_mysql.so")
        if missing or not shutil.which("munged") or not shutil.which("slurmctld"):
            skip(f"not installed: {', '.join(missing) or 'slurm-wlm, munge'}")
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-federation."))
        self.daemons, self.clusters, self.number = [], {}, {"alpha": 1, "beta": 2}
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind is None:
            shutil.rmtree(self.dir, ignore_errors=True)

    def daemon(self, name, *words, env=None):
        with open(self.dir / f"{name}.log", "ab") as log:
            self.daemons.append(subprocess.Popen([str(w) for w in words], stdout=log, stderr=log, env=env, cwd=self.dir))

    def until(self, what, works):
        for _ in range(300):
            if works():
                return
            time.sleep(0.1)
        raise SystemExit(f"FAILED: {what} did not come up: see {self.dir}")

    def start(self):
        d, (sql, dbd) = self.dir, ports(2)
        host = os.uname().nodename.split(".")[0]
        (d / "munge").mkdir(mode=0o700)
        (d / "key").write_bytes(os.urandom(1024))
        (d / "key").chmod(0o400)
        self.daemon("munged", "munged", "-F", "--force", "--num-threads=4", f"--key-file={d}/key", f"--socket={d}/munge.sock",
                    f"--pid-file={d}/munged.pid", f"--log-file={d}/munge.log", f"--seed-file={d}/munge/seed")
        own = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, LIBRARIES))} if ROOT != pathlib.Path("/") else dict(os.environ)
        share = ROOT / "usr/share/mysql"
        (d / "data").mkdir()
        (d / "my.cnf").write_text(
            f"[mysqld]\nuser=root\ndatadir={d}/data\nsocket={d}/sql.sock\npid-file={d}/sql.pid\nport={sql}\nbind-address=127.0.0.1\n"
            f"innodb_buffer_pool_size=64M\ninnodb_log_file_size=16M\nbasedir={ROOT}/usr\nlc-messages-dir={share}\ncharacter-sets-dir={share}/charsets\n"
            f"plugin-dir={ROOT}/usr/lib/mysql/plugin\nskip-grant-tables\nskip-networking=0\n")
        mariadbd = [str(self.program["mariadbd"]), f"--defaults-file={d}/my.cnf"]
        for text in ("create database mysql;\n", "use mysql;\n" + (share / "mysql_system_tables.sql").read_text()):
            subprocess.run([*mariadbd, "--bootstrap"], input=text, text=True, env=own, cwd=d, capture_output=True)
        self.daemon("mariadbd", *mariadbd, env=own)
        self.until("mariadbd", lambda: "ready for connections" in (d / "mariadbd.log").read_text() and (d / "munge.sock").exists())
        (d / "etc").mkdir()
        conf = d / "etc/slurmdbd.conf"
        conf.write_text(
            f"AuthType=auth/munge\nAuthInfo=socket={d}/munge.sock\nDbdHost={host}\nDbdAddr=127.0.0.1\nDbdPort={dbd}\nSlurmUser=root\n"
            f"PidFile={d}/slurmdbd.pid\nPluginDir={':'.join(str(p) for p in dict.fromkeys([pathlib.Path('/usr/lib/x86_64-linux-gnu/slurm-wlm'), *self.plugins]) if p.exists())}\n"
            f"StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort={sql}\nStorageUser=root\nStorageLoc=slurm_acct\n")
        conf.chmod(0o600)
        self.daemon("slurmdbd", self.program["slurmdbd"], "-D", env={**own, "SLURM_CONF": f"{d}/etc/slurm.conf"})
        self.until("slurmdbd", lambda: " started" in (d / "slurmdbd.log").read_text())
        # cluster/virtual, with a name, this munged and the database.
        script = (REPO / "cluster/virtual/cluster.sh").read_text()
        for name in self.number:
            own_script = d / f"{name}.sh"
            own_script.write_text(
                script.replace("ClusterName=ridge-virtual", f"ClusterName={name}").replace("AuthInfo=socket=$dir/run/munge.sock", f"AuthInfo=socket={d}/munge.sock")
                .replace("AccountingStorageType=accounting_storage/none", "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
                         f"AccountingStoragePort={dbd}\nAccountingStoragePass={d}/munge.sock\nAccountingStorageEnforce=limits,qos\nAccountingStorageTRES=gres/gpu"))
            own_script.chmod(0o755)
            up = subprocess.run([own_script, "up", d / name, "2"], capture_output=True, text=True, timeout=90)
            expect(f"{name}: {up.stderr}", 0, up.returncode)
            env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_"))}
            self.clusters[name] = types.SimpleNamespace(env={**env, "SLURM_CONF": f"{d}/{name}/etc/slurm.conf"})
        for words in ("add account course Description=c Organization=o", "add user root account=course DefaultAccount=course",
                      "add qos class MaxJobsPerUser=3 MaxSubmitJobsPerUser=6 GrpTRES=gres/gpu=2", "modify user root set qos+=class",
                      "add federation lab clusters=alpha,beta"):
            done = subprocess.run(["sacctmgr", "-i", *words.split()], env=self.clusters["alpha"].env, capture_output=True, text=True)
            expect(f"sacctmgr {words}: {done.stdout}{done.stderr}", 0, done.returncode)
        for name, cluster in self.clusters.items():
            self.until("the federation", lambda: "Synced:Yes" in subprocess.run(["scontrol", "show", "federation"], env=cluster.env, capture_output=True, text=True).stdout)

    def stop(self):
        for name in self.number:
            if (self.dir / f"{name}.sh").exists():
                subprocess.run([self.dir / f"{name}.sh", "down", self.dir / name], capture_output=True)
        for process in reversed(self.daemons):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
