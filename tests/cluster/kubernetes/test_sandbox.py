#!/usr/bin/env python3
"""What Ridge's sandbox needs in a pod: containers of runc with the settings that Kubernetes would give them. docs/kubernetes.md has
these rows. Needs root and the package runc."""
import contextlib, json
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from rehearsal import *

# What containerd gives to a container that adds or drops nothing.
USUAL = ["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP", "NET_BIND_SERVICE",
         "SYS_CHROOT", "KILL", "AUDIT_WRITE"]
PROFILE = json.loads((REPO / "cluster/kubernetes/seccomp/ridge.json").read_text())
# The part of a runtime's own profile that matters: without SYS_ADMIN it forbids namespaces and mounts.
RUNTIME_DEFAULT = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
    {"names": ["unshare", "mount", "umount2", "pivot_root", "setns"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
    {"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 0, "value": 0x10000000, "valueTwo": 0x10000000, "op": "SCMP_CMP_MASKED_EQ"}]}]}

if os.getuid() != 0 or not shutil.which("runc"):
    skip("it needs root and runc")


@contextlib.contextmanager
def system_files():
    """This system's files, read-only, without what is mounted in them: a container sees no other /proc than its own."""
    root = tempfile.mkdtemp(prefix="ridge-root.")
    if subprocess.run(["mount", "--bind", "/", root]).returncode or subprocess.run(["mount", "-o", "remount,bind,ro", root]).returncode:
        skip("nothing can be mounted here")
    try:
        yield root
    finally:
        subprocess.run(["umount", "--lazy", root])
        os.rmdir(root)  # never more than an empty folder


def sandbox(root, dir, name, user, capabilities=(), masked=True, own_users=False, seccomp=None):
    """Whether `ridge doctor` finds all of the sandbox's walls in such a container, and its words."""
    place = dir / name
    place.mkdir()
    subprocess.run(["runc", "spec"], cwd=place, check=True)
    c = json.loads((place / "config.json").read_text())
    caps = ["CAP_" + w for w in capabilities]
    c["process"].update(terminal=False, user={"uid": user, "gid": user}, noNewPrivileges=user != 0, args=[RIDGE, "doctor"],
                        capabilities={k: caps for k in ("bounding", "effective", "permitted")},
                        env=["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", "HOME=/tmp", "RIDGE_NO_BUILD=1", "RIDGE_WORK=/tmp", "RIDGE_RESULTS=/tmp"])
    c["root"] = {"path": root, "readonly": True}
    c["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]})
    linux = c["linux"]
    for key in ("resources", "cgroupsPath", *(() if masked else ("maskedPaths", "readonlyPaths"))):
        linux.pop(key, None)
    linux["namespaces"] = [n for n in linux["namespaces"] if n["type"] != "cgroup"]
    if own_users:
        linux["namespaces"].append({"type": "user"})
        linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": 200000, "size": 65536}]
    if seccomp:
        linux["seccomp"] = seccomp
    (place / "config.json").write_text(json.dumps(c))
    done = subprocess.run(["runc", "run", "--bundle", str(place), f"ridge-{os.getpid()}-{name}"], capture_output=True, text=True, timeout=60)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith(("yes  ", "no   ")) and any(
        layer in line for layer in ("namespaces", "system-calls", "landlock", "limits"))]
    if len(lines) != 4:
        skip(f"runc runs nothing here: {done.stdout[-500:]}{done.stderr[-500:]}")
    return all(line.startswith("yes") for line in lines), "\n".join(lines)


with contextlib.ExitStack() as stack:
    dir = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ridge-runc.")))
    root = stack.enter_context(system_files())
    admin = [*USUAL, "SYS_ADMIN", "NET_ADMIN"]
    for name, whole, settings in (
            ("user-namespace", True, dict(user=1000, masked=False, own_users=True, seccomp=PROFILE)),
            ("masked-proc", False, dict(user=1000, own_users=True, seccomp=PROFILE)),
            ("runtime-default", False, dict(user=1000, masked=False, own_users=True, seccomp=RUNTIME_DEFAULT)),
            ("root-without-capabilities", False, dict(user=0, masked=False, own_users=True, seccomp=PROFILE)),
            ("sys-admin", True, dict(user=0, capabilities=admin, seccomp=PROFILE)),
            ("sys-admin-without-net-admin", False, dict(user=0, capabilities=[c for c in admin if c != "NET_ADMIN"], seccomp=PROFILE))):
        got, words = sandbox(root, dir, name, **settings)
        expect(f"{name}: {words}", whole, got)
        print(f"{name}: {'the whole sandbox' if got else 'not the whole sandbox'}")
print(f"{len(checks)} checks")
