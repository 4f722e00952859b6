"""Behind portals: nginx with a path of its own, and what Open OnDemand starts from cluster/ondemand.

test_portals.py RIDGE NET_SERVER REPOSITORY: 0 right, 1 wrong, 77 nginx is missing.
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

from websocket import Refused, WebSocket

ridge, net_server, repository = sys.argv[1:4]
nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
if not nginx:
    print("skipped: nginx is not installed here")
    sys.exit(77)
home = pathlib.Path(tempfile.mkdtemp(prefix="ridge-portals-"))
failed, processes = [], []
PORTAL = "ondemand.test"
front = 0  # nginx's port


def check(what, good, got=""):
    print(f"{'ok' if good else 'FAILED'}: {what}{f': {got}' if got != '' else ''}", flush=True)
    if not good:
        failed.append(what)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(words, **more):
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **more)
    processes.append(process)
    return process


def listens(port):
    for _ in range(200):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        time.sleep(0.05)
    return False


def rendered(name, values):
    """What Open OnDemand makes of a template, as far as these use it."""
    text = (pathlib.Path(repository) / "cluster/ondemand" / name).read_text()
    known = {"context.ridge": ridge, "context.lab": "01", "context.portal": f"http://{PORTAL}:{front}", "num_cores.to_i": "4", **values}
    return re.sub(r"<%=\s*(.+?)\s*%>", lambda m: known[m[1]], text)


def ondemand():
    """Starts the session's scripts as the batch job does. Returns port and the link of the portal's page."""
    yaml = yaml_module()
    if yaml:
        form = yaml.safe_load((pathlib.Path(repository) / "cluster/ondemand/form.yml").read_text())
        submit = yaml.safe_load(rendered("submit.yml.erb", {}))
        manifest = yaml.safe_load((pathlib.Path(repository) / "cluster/ondemand/manifest.yml").read_text())
        labs = sorted(p.name[:2] for p in (pathlib.Path(repository) / "labs").glob("[0-9][0-9]_*"))
        check("the form names all labs", [o[1] for o in form["attributes"]["lab"]["options"]] == ["", *labs])
        check("the form's fields have attributes", all(f in form["attributes"] or f.startswith("bc_") for f in form["form"]))
        check("the session knows the token", submit["batch_connect"]["conn_params"] == ["token"] and manifest["role"] == "batch_connect")
    port = free_port()
    (home / "script.sh").write_text(rendered("template/script.sh.erb", {}))
    job = f"""find_port() {{ echo {port}; }}
host=127.0.0.1
{rendered("template/before.sh.erb", {})}
echo "$token"
export host port
exec bash {home}/script.sh
"""
    process = start(["bash", "-c", job], env={**os.environ, "RIDGE_WORK": str(home / "work")})
    token = process.stdout.readline().strip()
    check("the session is ready once the port is used", listens(port))
    view = rendered("view.html.erb", {"host": "127.0.0.1", "port": str(port), "token": token})
    link = re.search(r'href="(/rnode/[^"]+)"', view)[1]
    environ = b"".join(p.read_bytes() for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if readable(p))
    check("no command line shows the token", token.encode() not in environ)
    return port, token, link


def readable(path):
    with contextlib.suppress(OSError):
        path.read_bytes()
        return True
    return False


def yaml_module():
    try:
        import yaml
    except ImportError:
        print("skipped: the forms, since Python has no yaml here")
        return None
    return yaml


def start_nginx(port, backends):
    """backends: prefix by port."""
    locations = "".join(f"""
    location {prefix} {{
      proxy_pass http://127.0.0.1:{to}/;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }}""" for prefix, to in backends.items())
    temporary = "".join(f"{kind}_temp_path {home}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (home / "nginx.conf").write_text(f"""daemon off; pid {home}/nginx.pid; error_log {home}/error.log; worker_processes 1;
{'user root;' if os.geteuid() == 0 else ''}
events {{ worker_connections 256; }}
http {{
  access_log off; {temporary}
  map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}
  server {{ listen 127.0.0.1:{port}; {locations} }}
}}
""")
    start([nginx, "-p", str(home), "-c", str(home / "nginx.conf")])
    check("nginx runs", listens(port), (home / "error.log").read_text()[:200] if (home / "error.log").exists() else "")


def ask(port, method, path, body=None, **headers):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        c.request(method, path, json.dumps(body) if body is not None else None,
                  {"Host": f"{PORTAL}:{port}", **({"Content-Type": "application/json"} if body is not None else {}), **{k.replace("_", "-"): v for k, v in headers.items()}})
        answer = c.getresponse()
        return answer.status, answer.read()
    finally:
        c.close()


try:
    front = free_port()
    port, token, link = ondemand()
    net = start([net_server, sys.executable, str(pathlib.Path(__file__).parent / "echo_child.py")])
    net_port = int(net.stdout.readline())
    start_nginx(front, {f"/rnode/127.0.0.1/{port}/": port, "/rnode/net/": net_port})
    base = link.rstrip("/")
    check("the page", b"<title>Ridge</title>" in ask(front, "GET", link)[1])
    check("its scripts", ask(front, "GET", f"{base}/main.js")[0] == 200)
    check("another token", ask(front, "GET", link.replace(token, "0" * 32))[0] == 403)
    file = f"{base}/api/lab/01_coalescing/file/copy.cu"
    _, told = ask(front, "GET", file)
    version = json.loads(told)["version"]
    text = json.loads(told)["text"]
    own = f"http://{PORTAL}:{front}"
    check("a page of another site saves nothing", ask(front, "PUT", file, {"text": "", "base": version}, Origin="http://evil.example")[0] == 403)
    for origin in (f"http://{PORTAL}", f"https://{PORTAL}:{front}", f"http://{PORTAL}:{front + 1}"):
        check(f"a page of {origin.split(':')[0]} and another port of the portal's host saves nothing",
              ask(front, "PUT", file, {"text": "", "base": version}, Origin=origin)[0] == 403)
    status, proved = ask(front, "GET", f"{link.replace(token + '/', '')}prove?question={'0' * 32}")
    check("the server proves itself through the portal, by an address without the token", status == 200 and len(json.loads(proved)["answer"]) == 64)
    check("the portal's page saves", ask(front, "PUT", file, {"text": text + "// by the portal\n", "base": version}, Origin=own)[0] == 200)
    # ---- events, as they come
    c = http.client.HTTPConnection("127.0.0.1", front, timeout=60)
    c.request("GET", f"{base}/api/events", headers={"Host": f"{PORTAL}:{front}"})
    events = c.getresponse()
    check("the first event comes at once", any(b"event: hello" in events.readline() for _ in range(3)))
    check("a check begins", ask(front, "POST", f"{base}/api/lab/01_coalescing/check", {"task": "copy"}, Origin=own)[0] == 202)
    kinds = []
    while "ended" not in kinds:
        line = events.readline()
        if not line:
            break
        if line.startswith(b"event: "):
            kinds.append(line[7:].decode().strip())
    check("each step comes, and the end", kinds.count("step") > 2 and kinds[-1] == "ended", kinds)
    c.close()
    # ---- a WebSocket
    w = WebSocket(front, "/rnode/net/relay", [("X-Known", "1")])
    for size in (1, 70, 60000):
        w.send(b"m" * size)
        check(f"a WebSocket's message of {size} bytes and back", w.receive() == (2, b"m" * size))
    w.send(b"exit")
    check("and the reason of its end", w.closed() == (1008, "the trace is damaged"))
    w.end()
    for what, headers, status in [("of another site", [("Origin", "http://evil.example")], 403), ("of the portal, on no result", [("Origin", own)], 404)]:
        try:
            WebSocket(front, f"{base}/api/viz?file=01_coalescing%2Fnone.json", headers)
            check(f"a WebSocket {what}", False)
        except Refused as e:
            check(f"a WebSocket {what}", e.args == (status,), e.args)
finally:
    for process in reversed(processes):
        process.send_signal(signal.SIGTERM)
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
    shutil.rmtree(home, ignore_errors=True)
print(f"{len(failed)} failed")
sys.exit(1 if failed else 0)
