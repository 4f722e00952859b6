"""What jobs publish: damaged, doubled, of another attempt, of another key."""
from one_fault import *


def damaged(change):
    """The first file that is published, changed before the collector sees it."""
    def run(r):
        r.start()
        change(r, r.published()[0])
        r.go_on()
        r.finish()
        return r.sound()
    return run


def rewrite(file, text):
    file.unlink()
    file.write_text(text)


def elsewhere(r, file):
    file.rename(r.dir / "linked.json")
    file.symlink_to(r.dir / "linked.json")


def folder(r, file):
    file.unlink()
    file.mkdir()


def other_open(r, token):
    return r.course.rows(f"SELECT token FROM attempt WHERE state = 'open' AND token <> '{token}' ORDER BY token DESC")[0][0]


def doubled(r, file):
    (file.parent / (other_open(r, file.stem) + ".json")).write_bytes(file.read_bytes())


def of_another(r, file):
    """Another attempt's record in an envelope of its own."""
    a = json.loads(file.read_text())
    a["token"] = other_open(r, file.stem)
    (file.parent / (a["token"] + ".json")).write_text(json.dumps(a))


fault("result cut in half")(damaged(lambda r, f: rewrite(f, f.read_text()[:len(f.read_text()) // 2])))
fault("result empty")(damaged(lambda r, f: rewrite(f, "")))
fault("result of zeros")(damaged(lambda r, f: rewrite(f, "\0" * 4096)))
fault("result of 49 MiB")(damaged(lambda r, f: rewrite(f, "x" * (49 << 20))))
fault("result is a link")(damaged(elsewhere))
fault("result is a folder")(damaged(folder))
fault("result can't be parsed: nested 100000 deep")(damaged(lambda r, f: rewrite(f, "[" * 100000)))
fault("result doubled under another attempt's name")(damaged(doubled))
fault("record of another attempt")(damaged(of_another))
fault("result of no attempt")(damaged(lambda r, f: (f.parent / "0123456789abcdef.json").write_text("{}")))
fault("record about another lab")(damaged(lambda r, f: rewrite(f, f.read_text().replace("01_coalescing", "02_reduction"))))
fault("points above the maximum")(damaged(lambda r, f: rewrite(f, f.read_text().replace('\\"max\\": 100', '\\"max\\": -1'))))


@fault("result published again after it was taken")
def _(r):
    r.start()
    file = next((r.shared / "taken").glob("*.json"))
    shutil.copy(file, r.shared / "spool" / file.name)
    r.finish()
    return r.sound()
