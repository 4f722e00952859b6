"""Through `ssh -L`: the server in one network namespace, the browser's end in another.

test_tunnel.py RIDGE: 0 right, 1 wrong, 77 no root, no network namespaces, or no sshd.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ridge = sys.argv[1]
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
for tool in ("ip", "sshd", "ssh", "ssh-keygen"):
    if not shutil.which(tool, path=PATH):
        print(f"skipped: {tool} is not installed here")
        sys.exit(77)
far = f"ridge{os.getpid()}"
ip = shutil.which("ip", path=PATH)
if os.geteuid() != 0 or subprocess.run([ip, "netns", "add", far], capture_output=True).returncode != 0:
    print("skipped: no network namespace can be made here")
    sys.exit(77)
home = pathlib.Path(tempfile.mkdtemp(prefix="ridge-tunnel-"))
failed, processes = [], []
HERE, THERE = "10.213.71.1", "10.213.71.2"


def check(what, good, got=""):
    print(f"{'ok' if good else 'FAILED'}: {what}{f': {got}' if got != '' else ''}", flush=True)
    if not good:
        failed.append(what)


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def start(words, **more):
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **more)
    processes.append(process)
    return process


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(host, port):
    for _ in range(200):
        with contextlib.suppress(OSError):
            socket.create_connection((host, port), timeout=1).close()
            return True
        time.sleep(0.05)
    return False


def ask(port, method, path, body=None):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        c.request(method, path, json.dumps(body) if body is not None else None,
                  {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{port}"} if body is not None else {})
        answer = c.getresponse()
        return answer.status, answer.read()
    finally:
        c.close()


try:
    near_end, far_end = f"rn{os.getpid() % 100000}", f"rf{os.getpid() % 100000}"
    run(ip, "link", "add", near_end, "type", "veth", "peer", "name", far_end, "netns", far)
    run(ip, "addr", "add", f"{HERE}/30", "dev", near_end)
    run(ip, "link", "set", near_end, "up")
    for words in (("addr", "add", f"{THERE}/30", "dev", far_end), ("link", "set", far_end, "up"), ("link", "set", "lo", "up")):
        run(ip, "-n", far, *words)
    inside = [ip, "netns", "exec", far]
    # ---- the cluster's login node: sshd and the server, which listens on its loopback alone
    for key in ("host", "user"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(home / key))
    shutil.copy(home / "user.pub", home / "authorized")
    (home / "sshd.conf").write_text(f"""Port 2222
ListenAddress {THERE}
HostKey {home}/host
AuthorizedKeysFile {home}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
""")
    os.makedirs("/run/sshd", exist_ok=True)
    start([*inside, shutil.which("sshd", path=PATH), "-D", "-e", "-f", str(home / "sshd.conf")], stderr=open(home / "sshd.log", "w"))
    server = start([*inside, ridge, "serve", "01"], env={**os.environ, "RIDGE_WORK": str(home / "work")})
    said = ""
    while "Ctrl-C" not in said:
        line = server.stdout.readline()
        if not line:
            break
        said += line
    port, token = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", said).groups()
    command = re.search(r"ssh -L (\d+):127\.0\.0\.1:(\d+)", said)
    check("the printed line forwards the server's port", command and command.groups() == (port, port), said)
    check("sshd runs", listens(THERE, 2222), (home / "sshd.log").read_text())
    with contextlib.suppress(OSError):
        socket.create_connection((THERE, int(port)), timeout=2).close()
        check("nobody reaches the server by the network", False)
    # ---- the student's own machine
    own = free_port()
    start(["ssh", "-F", "none", "-N", "-L", f"{own}:127.0.0.1:{port}", "-p", "2222", "-i", str(home / "user"), "-o", "StrictHostKeyChecking=no",
           "-o", f"UserKnownHostsFile={home}/known", "-o", "IdentitiesOnly=yes", "-o", "ExitOnForwardFailure=yes", f"root@{THERE}"], stderr=open(home / "ssh.log", "w"))
    check("the tunnel stands", listens("127.0.0.1", own), (home / "ssh.log").read_text())
    base = f"/{token}"
    check("the page, by another port than the server's own", b"<title>Ridge</title>" in ask(own, "GET", f"{base}/")[1])
    file = f"{base}/api/lab/01_coalescing/file/copy.cu"
    told = json.loads(ask(own, "GET", file)[1])
    check("a save", ask(own, "PUT", file, {"text": told["text"] + "// from afar\n", "base": told["version"]})[0] == 200)
    c = http.client.HTTPConnection("127.0.0.1", own, timeout=60)
    c.request("GET", f"{base}/api/events")
    events = c.getresponse()
    check("the first event comes at once", any(b"event: hello" in events.readline() for _ in range(3)))
    check("a check begins", ask(own, "POST", f"{base}/api/lab/01_coalescing/check", {"task": "copy"})[0] == 202)
    ended = ""
    while not ended:
        line = events.readline()
        if not line:
            break
        if line == b"event: ended\n":
            ended = events.readline().decode()
    check("its end is told", '"outcome":"judged"' in ended, ended)
    c.close()
    server.send_signal(signal.SIGINT)
    check("it ends", server.wait(20) == 0)
finally:
    for process in reversed(processes):
        process.send_signal(signal.SIGTERM)
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
    subprocess.run([ip, "netns", "del", far], capture_output=True)
    shutil.rmtree(home, ignore_errors=True)
print(f"{len(failed)} failed")
sys.exit(1 if failed else 0)
