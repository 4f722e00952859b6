#!/usr/bin/env python3
"""The instructor's page that follows the gradebook, `ridge cluster report --serve`.

test_live_page.py [http]
test_live_page.py show NODE SOURCE BUILD    the same in a browser (check_live_page.mjs)"""
import contextlib, http.client, re, signal, time
from graded_class import *

sys.path.insert(0, str(HERE.parent / "serve"))
from report import Report, reason

report = Report("The instructor's page")


class Live:
    """The server, and what it answers."""

    def __init__(self, book):
        self.process = subprocess.Popen(book.command("report", "--lab", "01", "--serve"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=book.env, cwd=book.dir)
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if "Ctrl-C" in line:
                break
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.said)
        expect("it says where it is: " + self.said, True, found is not None)
        self.address, self.port, self.token = found[0], int(found[1]), found[2]

    def get(self, path, headers={}):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            c.request("GET", path if path.startswith("/") else f"/{self.token}/{path}", headers=headers)
            answer = c.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            c.close()

    @contextlib.contextmanager
    def events(self):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        c.request("GET", f"/{self.token}/api/events")
        stream = c.getresponse()

        def following():
            kind = ""
            while True:
                line = stream.readline().decode().strip()
                if line.startswith("event: "):
                    kind = line[7:]
                if line.startswith("data: "):
                    yield kind, json.loads(line[6:])
        yield following()
        c.close()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


def until_number(events, least):
    for kind, data in events:
        if data["number"] >= least:
            return data


def http_part():
    book = GradedClass().whole()
    live = Live(book)
    expect("what the address is worth", True, "names and grades of the class" in live.said)
    expect("on the loopback alone", True, "127.0.0.1" in live.address)
    for what, path, headers in (("no token", "/", {}), ("a wrong token", f"/{'0' * 32}/report", {}), ("another host's name", "report", {"Host": "evil.example"}),
                                ("a page of another site", "report", {"Origin": "http://evil.example"}), ("a script of another site", "report", {"Sec-Fetch-Site": "cross-site"})):
        status, body, _ = live.get(path, headers)
        expect(what, (403, False), (status, "Jane" in body))
        report.add(what, f"{status}: {reason(body)}")
    status, body, headers = live.get("")
    policy = headers["Content-Security-Policy"]
    expect("the page around the report", (200, True, False), (status, "class.js" in body, "unsafe" in policy))
    expect("no files of the lab's page", 404, live.get("main.js")[0])
    for path in ("api/labs", "../../etc/passwd", "report/..%2fgradebook.sqlite"):
        status, body, _ = live.get(path)
        expect(path, 404, status)
        report.add(f"GET {path}", f"{status}: {reason(body)}")
    with live.events() as events:
        number = until_number(events, 1)["number"]
        status, page, headers = live.get("report")
        expect("the report", (200, True), (status, all(part in page for part in ("kx101", "What fails most"))))
        expect("in this page's frame alone", True, "frame-ancestors 'self'" in headers["Content-Security-Policy"] and "script-src 'nonce-" in page)
        time.sleep(4)
        steady = live.get("report")[1]
        expect("nothing is written where nothing has changed", True, steady == page)
        done = book.run("override", "--lab", "01", "--student", "kx105", "--percent", "77.25", "--reason", "an oral exam", "--author", "Prof")
        expect("override: " + done.stderr, 0, done.returncode)
        newer = until_number(events, number + 1)
        expect("a change is told", "", newer["problem"])
        expect("and is in the report", (False, True), ("77.25" in page or "oral exam" in page, "an oral exam" in live.get("report")[1]))
        hidden = book.dir / "course.away"
        (book.dir / "course.toml").rename(hidden)
        with book.db() as db:
            db.execute("UPDATE work SET reason = 'x' WHERE state = 'waiting'")
        said = next(data for kind, data in events if data["problem"])
        expect("a report that cannot be written is told: " + said["problem"], True, "course.toml" in said["problem"])
        expect("and the last one stays", 200, live.get("report")[0])
        report.add("the course's file is gone, so that no report can be written", "tabs are told why; the last report stays")
    hidden.rename(book.dir / "course.toml")
    expect("Ctrl-C ends it in order", 0, live.end())
    expect("the committed table says the same", True, report.finish())
    for words, told in ((("--lab", "99"), "99"), (("--lab", "01", "--html", "x.html"), "--html")):
        done = book.run("report", "--serve", *words)
        expect(f"{words}: {done.stderr}", (2, True), (done.returncode, told in done.stderr))
    book.remove()


def show(node, source, build):
    book = GradedClass().whole()
    live = Live(book)
    env = {**os.environ, "RIDGE_CHANGE": json.dumps(book.command("override", "--lab", "01", "--student", "kx105", "--percent", "77.25", "--reason", "an oral exam", "--author", "Prof"))}
    done = subprocess.run([node, str(HERE / "check_live_page.mjs"), source, build, live.address], env=env)
    live.end()
    book.remove()
    sys.exit(done.returncode)


if sys.argv[1:2] == ["show"]:
    show(*sys.argv[2:])
http_part()
