#!/usr/bin/env python3
"""Intake of what instructors really have, without Slurm: the shapes of Canvas, Moodle, Gradescope and GitHub Classroom, names in
six scripts, encodings, entries that belong to nobody, hand-ins that change, rosters, the gradebook's file.

test_intake.py [shapes|encodings|forms|history|rosters|gradebook|repositories|limit]"""
import json
from intake_book import *

part = (sys.argv + ["shapes"])[1]

NAMES = {"1": "Jane Doe", "2": "Müller, Jürgen", "3": "Αλέξανδρος Παπάς", "4": "Ирина Петрова", "5": "王 小明", "6": "أحمد علي",
         "7": "Anne-Marie O'Neil", "8": "Maria del Mar López"}


def lms_roster():
    return "id,name,email\n" + "".join(f'u{i},"{name}",u{i}@example.edu\n' for i, name in NAMES.items())


def canvas():
    """name_[LATE_]USER_ATTACHMENT_file: of the name the letters, of a second hand-in a number at the file."""
    flat = {"1": "doejane", "2": "müllerjürgen", "3": "παπάςαλέξανδρος", "4": "петроваирина", "5": "王小明", "6": "عليأحمد",
            "7": "oneilannemarie", "8": "lópezmariadelmar"}
    book = Book(lms_roster())
    for i, name in flat.items():
        late = "LATE_" if i == "3" else ""
        if i == "4":
            book.put(f"{name}_900{i}_7700{i}_lab01.zip", zipped(("lab01/copy.cu", f"// points {i}\n")))
        else:
            suffix = "-1" if i in "2" else ""
            book.put(f"{name}_{late}900{i}_7700{i}_copy{suffix}.cu", f"// points {i}\n")
    book.put("doejane_9001_77101_aos_to_soa.cu", "// 2\n")
    book.put("doejane_9001_77102_copy-2.cu", "// points 11\n")  # the later one of two
    done = book.intake()
    expect("canvas: " + done.stdout + done.stderr, 0, done.returncode)
    expect("canvas: all have an owner", {f"u{i}" for i in NAMES}, set(book.owners()))
    expect("canvas: no problem", {""}, {p for _, p in book.owners().values()})
    for i in NAMES:
        expect(f"canvas: the files of {i}", f"// points {11 if i == '1' else i}\n", book.text_of(f"u{i}"))
    content = book.rows("SELECT content FROM submission WHERE student = 'u1'")[0][0]
    expect("canvas: loose files are one hand-in", "// 2\n",
           (book.dir / "shared/contents/01_coalescing" / content / "aos_to_soa.cu").read_text())
    # By Canvas's own roster the number decides. A number that is another student's id here is no proof.
    (book.dir / "canvas.csv").write_text('Student,ID,SIS User ID,SIS Login ID,Section,Lab (1)\n'
                                         '    Points Possible,,,,,100\n"Doe, Jane",9001,S1,jdoe,A,\n"Doe, Jane",9002,S2,jdoe2,A,\n')
    shutil.rmtree(book.hand_ins)
    book.put("doejane_9001_77001_copy.cu", "// points 1\n")
    book.put("doejane_9002_77002_copy.cu", "// points 2\n")
    book.put("roerichard_77001_9001_copy.cu", "// points 3\n")
    done = book.intake(rosters=("canvas.csv",))
    expect("canvas: a stranger's number is told: " + done.stdout, (3, True), (done.returncode, "roerichard_77001" in done.stdout))
    got = {s: o for s, o in book.owners().items() if s.startswith("9")}
    expect("canvas: two of one name", {"9001": ("doejane_9001_77001_copy.cu", ""), "9002": ("doejane_9002_77002_copy.cu", "")}, got)
    book.remove()


def moodle():
    """Full name_PARTICIPANT_assignsubmission_file_, older and newer, as folders and flat; often with an archive inside."""
    book = Book(lms_roster())
    shapes = {"1": ("Jane Doe_5001_assignsubmission_file_/copy.cu", None), "2": ("Jürgen Müller_5002_assignsubmission_file/copy.cu", None),
              "3": ("Αλέξανδρος Παπάς_5003_assignsubmission_file_copy.cu", None), "4": ("Ирина Петрова_5004_assignsubmission_file_/work.zip", "zip"),
              "5": ("王 小明_5005_assignsubmission_file_lab01.zip", "zip"), "6": ("أحمد علي_5006_assignsubmission_file_/sub/copy.cu", None),
              "7": ("Anne-Marie O'Neil_5007_assignsubmission_file_/copy.cu", None),
              "8": ("Maria del Mar López_5008_assignsubmission_file_/copy.cu", None)}
    for i, (name, kind) in shapes.items():
        text = f"// points {i}\n"
        book.put(name, zipped(("Übung 1/copy.cu", text), ("__MACOSX/._copy.cu", "x")) if kind else text)
    done = book.intake()
    expect("moodle: " + done.stdout + done.stderr, 0, done.returncode)
    expect("moodle: all have an owner, and no problem", {f"u{i}": "" for i in NAMES}, {s: p for s, (_, p) in book.owners().items()})
    for i in NAMES:
        expect(f"moodle: the files of {i}", f"// points {i}\n", book.text_of(f"u{i}"))
    # Two students of one name: the grading worksheet's participant numbers tell.
    (book.dir / "worksheet.csv").write_text('Identifier,"Full name","ID number","Email address",Grade\n'
                                            'Participant 71,Kim Lee,K1,k1@example.edu,\nParticipant 72,Kim Lee,K2,k2@example.edu,\n')
    shutil.rmtree(book.hand_ins)
    book.put("Kim Lee_72_assignsubmission_file_/copy.cu", "// points 72\n")
    done = book.intake(rosters=("roster.csv", "worksheet.csv"))
    expect("moodle: by the number: " + done.stdout, 0, done.returncode)
    expect("moodle: not the other one", {"K2"}, set(book.owners()) & {"K1", "K2"})
    book.remove()


def gradescope():
    book = Book(lms_roster())
    for n in (11, 12, 13):
        book.put(f"submission_{n}/copy.cu", f"// points {n}\n")
    book.put("submission_metadata.yml", """---
submission_11:
  :submitters:
  - :name: Jane Doe
    :sid: 'u1'
    :email: u1@example.edu
  :created_at: 2026-11-20 10:00:00.000000000 Z
  :score: 0.0
  :status: processed
submission_12:
  :submitters:
  - :name: "Müller: Jürgen"
    :sid: u2
    :email: u2@example.edu
  - :name: "Παπάς"
    :sid:
    :email: U3@example.edu
submission_13:
  :submitters:
  - :name: A guest
    :sid: ''
    :email: guest@example.edu
""")
    done = book.intake()
    if "without libyaml" in done.stderr:
        print("gradescope: not tried, this Ridge was built without libyaml")
        return book.remove()
    expect("gradescope: the guest is told: " + done.stdout + done.stderr, (3, True), (done.returncode, "guest@example.edu" in done.stdout))
    expect("gradescope: a group's work is of both", {"u1": "submission_11", "u2": "submission_12", "u3": "submission_12"},
           {s: o[0] for s, o in book.owners().items()})
    book.put("submission_metadata.yml", "a: [1\n")
    done = book.intake()
    expect("gradescope: broken metadata: " + done.stderr, (2, True), (done.returncode, "submission_metadata.yml line" in done.stderr))
    book.remove()


def github():
    book = Book("")
    (book.dir / "classroom.csv").write_text('"identifier","github_username","github_id","name"\n"u1","octo-cat","1","Jane"\n'
                                            '"u2","cat","2","Joe"\n"u3","","",""\n')
    for user in ("octo-cat", "cat"):
        repo = book.hand_ins / f"lab-01-{user}"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        (repo / "copy.cu").write_text(f"// points of {user}\n")
        for words in (["add", "."], ["-c", "user.name=N", "-c", "user.email=n@e", "commit", "-qm", "x"]):
            subprocess.run(["git", "-C", str(repo), *words], check=True, env=book.env)
    done = book.intake(rosters=("classroom.csv",))
    expect("github: " + done.stdout + done.stderr, 0, done.returncode)
    expect("github: the longest username that fits", {"u1": "lab-01-octo-cat", "u2": "lab-01-cat"}, {s: o[0] for s, o in book.owners().items()})
    book.remove()


def plain():
    """Ids, e-mail addresses, accounts with underscores; what fits nobody or two; a dry run; a relative folder."""
    book = Book("id,name,email\nann,Ann,ann@example.edu\nann_b,Ann B,b@example.edu\n1027,Tom,tom@example.edu\n1028,Tim,tim@example.edu\n")
    book.put("ann/copy.cu")
    book.put("01_coalescing_ann_b_2026-11-20T10.00.00Z_0123456789ab.tar.gz", b"")
    with tarfile.open(book.hand_ins / "01_coalescing_ann_b_2026-11-20T10.00.00Z_0123456789ab.tar.gz", "w:gz") as t:
        info = tarfile.TarInfo("copy.cu")
        info.size = len(GOOD)
        t.addfile(info, io.BytesIO(GOOD.encode()))
    book.put("1027.rar", b"Rar!\x1a\x07\x00")
    book.put("tim@example.edu.zip", zipped(("copy.cu", GOOD)))
    book.put("readme.txt", "for the instructor\n")
    book.put("1027_1028.zip", zipped(("copy.cu", GOOD)))
    words = ("intake", "--lab", "01", "--submissions", "hand-ins", "--roster", "roster.csv")
    dry = book.run(*words, "--dry-run")
    expect("dry run: " + dry.stdout + dry.stderr, 3, dry.returncode)
    for line in ("ann -> ann, Ann (by the id)", "_ann_b_2026-11-20T10.00.00Z_0123456789ab.tar.gz -> ann_b, Ann B (by the account)",
                 "1027.rar: is an archive of a kind that is not read", "readme.txt: nobody on the roster", "several students", "Nothing was kept"):
        expect(f"dry run says '{line}': {dry.stdout}", True, line in dry.stdout)
    expect("dry run keeps nothing", ([], []), (book.rows("SELECT * FROM submission"), book.rows("SELECT * FROM student")))
    expect("nor any content", False, (book.dir / "shared").exists())
    done = book.run(*words)  # a relative folder, with archives
    expect("owners: " + done.stdout + done.stderr, {"ann": "", "ann_b": "", "1028": ""},
           {s: p for s, (_, p) in book.owners().items() if s != "1027"})
    expect("an archive that is not read is no zero", True, "not read" in book.owners()["1027"][1])
    # What belongs to nobody stops every export, until it has an owner or is gone.
    for lab in ("01", "total"):
        stopped = book.run("export", "--lab", lab)
        expect(f"export {lab} stops: {stopped.stdout}{stopped.stderr}", (3, "", True, True),
               (stopped.returncode, stopped.stdout, "1027_1028.zip" in stopped.stderr, "readme.txt" in stopped.stderr))
    expect("unless asked", 0, book.run("export", "--lab", "01", "--ignore-unmatched").returncode)
    (book.hand_ins / "readme.txt").unlink()
    stopped = book.run("export", "--lab", "01")
    expect("what is gone stops no export, the other one does: " + stopped.stderr, (3, False, True),
           (stopped.returncode, "readme.txt" in stopped.stderr, "1027_1028.zip" in stopped.stderr))
    (book.hand_ins / "1027_1028.zip").rename(book.hand_ins / "again_1028.zip")
    stopped = book.run("export", "--lab", "01")
    expect("renamed, but not taken in again: " + stopped.stderr, (3, True),
           (stopped.returncode, "it is called again_1028.zip now; take the folder in again" in stopped.stderr))
    (book.hand_ins / "again_1028.zip").rename(book.dir / "moved.zip")
    expect("moved away, and nothing stops", 0, book.run("export", "--lab", "01").returncode)
    expect("looked at again", 0, book.run(*words).returncode)
    export = book.run("export", "--lab", "01")
    expect("export: " + export.stderr, 0, export.returncode)
    expect("1027 is not graded, and no zero", True, "1027,Tom,,,,not graded" in export.stdout)
    book.remove()


def shapes():
    canvas(), moodle(), gradescope(), github(), plain()


def encodings():
    """How editors save a file is no mistake in it; what is no text is told, and is no zero."""
    students = {"bom": b"\xef\xbb\xbf" + GOOD.encode(), "crlf": GOOD.replace("\n", "\r\n").encode(), "utf16": GOOD.encode("utf-16"),
                "utf16be": b"\xfe\xff" + GOOD.encode("utf-16-be"), "bare16": GOOD.encode("utf-16-le"), "latin1": "// größe\n".encode("latin-1"),
                "plain": GOOD.encode()}
    bad = {"program": b"\x7fELF\2\1\1" + bytes(200), "half": b"\xff\xfe" + GOOD.encode("utf-16-le") + b"x"}
    named = {"copies": ["copy.cu", "copy-1.cu"], "odd": ["copy.cu", "größe.cuh"], "theirs": ["copy.cu", "cuda_runtime.h"]}
    book = Book("id,name\n" + "".join(f"{s},N\n" for s in [*students, *bad, *named]))
    for s, data in {**students, **bad}.items():
        book.put(f"{s}/copy.cu", data)
    for s, files in named.items():
        for f in files:
            book.put(f"{s}/{f}")
    done = book.intake()
    expect("encodings: " + done.stdout + done.stderr, 0, done.returncode)
    problems = {s: p for s, (_, p) in book.owners().items()}
    expect("no problem", {s: "" for s in students}, {s: problems[s] for s in students})
    for s in ("bom", "utf16", "utf16be", "bare16", "plain"):
        expect(f"{s}: the text", GOOD, book.text_of(s))
    expect("one content for all of them", 1, book.rows("SELECT count(DISTINCT content) FROM submission WHERE student IN "
                                                       "('bom', 'utf16', 'utf16be', 'bare16', 'plain')")[0][0])
    for s, word in (("program", "is no text"), ("half", "is no text"), ("copies", "which one counts"), ("odd", "unusual name"),
                    ("theirs", "name of a header")):
        expect(f"{s}: {problems[s]}", True, word in problems[s])
    expect("none of these is graded", 0, book.rows("SELECT count(*) FROM submission s JOIN work w ON w.content = s.content WHERE s.problem <> ''")[0][0])
    # Archives with names of other scripts, as zip and as tar, in the locale C.
    for s, kind in (("plain", "zip"), ("bom", "tar")):
        shutil.rmtree(book.hand_ins / s)
        files = [("Лабораторная/课程 1/copy.cu", f"// {kind}\n"), ("Лабораторная/größe.pdf", "x")]
        if kind == "zip":
            book.put(f"{s}.zip", zipped(*files))
        else:
            with tarfile.open(book.hand_ins / f"{s}.tar.gz", "w:gz") as t:
                for name, text in files:
                    info = tarfile.TarInfo(name)
                    info.size = len(text)
                    info.mtime = time.time() + 5
                    t.addfile(info, io.BytesIO(text.encode()))
    book.env["LC_ALL"] = "C"
    done = book.intake()
    expect("archives with names: " + done.stdout, {"plain": "", "bom": ""}, {s: book.owners()[s][1] for s in ("plain", "bom")})
    expect("and their files", ["// zip\n", "// tar\n"], [book.text_of("plain"), book.text_of("bom")])
    book.remove()


def forms():
    """Names and wrappings that differ from what was asked for: each is graded, or told; none costs a task."""
    lab = ["aos_to_soa.cu", "copy.cu", "gather.cu", "transpose.cu"]
    nested = zipped(("inner.zip", zipped(("lab/copy.cu", GOOD))), ("__MACOSX/._inner.zip", "x"), (".DS_Store", "x"))
    windows = zipfile.ZipInfo("lab\\copy.cu")
    windows.create_system = 0
    good = {"upper": {"COPY.CU": GOOD}, "capital": {"Copy.cu": GOOD}, "txt": {"copy.cu.txt": GOOD}, "browser": {"copy (1).cu": GOOD},
            "second": {"copy-1.cu": GOOD}, "apart": {"task1/copy.cu": GOOD, "task2/gather.cu": "// g\n", "task2/transpose.cu": "// t\n"},
            "otherlab": {"02_reduction/copy.cu": GOOD}, "deep": {"a/b/c/copy.cu": GOOD}, "extra": {"copy.cu": GOOD, "notes.txt": "x", "a.out": b"\x7fELF"},
            "mac": {"copy.cu": GOOD, ".DS_Store": "x", "._copy.cu": b"\0\5", "__MACOSX/copy.cu": "junk"}, "big": {"copy.cu": GOOD, "report.pdf": bytes(5 << 20)}}
    archives = {"nested.zip": nested, "windows.zip": zipped((windows, GOOD)), "bigzip.zip": zipped(("copy.cu", GOOD), ("report.pdf", bytes(5 << 20)))}
    told = {"link": "is a link", "renamed": "is copy_final.cu meant", "five": "larger than 1 MiB", "nul": "is no text",
            "two": "task1/copy.cu and task2/copy.cu", "rar": "neither a zip", "seven": "neither a zip", "hollow": "holds none", "void": "is empty"}
    ids = {"0012": "12", "34": "0034", "a56": " a56 ", "0010078": "10078_lab01.zip", "B7": "b7"}
    people = {"k1": "Jürgen Müller", "k2": "김민준", "k3": "Nguyễn Thị Hằng"}
    book = Book("id,name\n" + "".join(f"{s},\n" for s in [*good, *told, *ids, "nested", "windows", "bigzip", "future", "later", "closed", "blank"])
                + "".join(f"{s},{n}\n" for s, n in people.items()))
    for s, files in good.items():
        for name, text in files.items():
            book.put(f"{s}/{name}", text)
    for name, data in archives.items():
        book.put(name, data)
    for entry in ids.values():
        book.put(entry if entry.endswith("zip") else f"{entry}/copy.cu", zipped(("copy.cu", GOOD)) if entry.endswith("zip") else GOOD)
    from unicodedata import normalize
    form = "NFD" if os.environ.get("RIDGE_HAS_UTF8PROC", "1") == "1" else "NFC"  # as macOS writes names
    book.put(normalize(form, "müllerjürgen_9001_77001_copy.cu"))
    book.put(normalize(form, "김민준_5002_assignsubmission_file_/copy.cu"))
    book.put(normalize(form, "Nguyễn Thị Hằng_5003_assignsubmission_file_/copy.cu"))
    book.put("blank/gather.cu"), book.put("blank/copy.cu", "\n \n")
    book.put("void/copy.cu", ""), book.put("link/gather.cu"), book.put("link/mine.txt")
    (book.hand_ins / "link/copy.cu").symlink_to("mine.txt")
    book.put("renamed/copy_final.cu"), book.put("renamed/gather.cu")
    book.put("five/copy.cu", b"// " + b"x" * (5 << 20)), book.put("nul/copy.cu", GOOD * 9 + "\0")
    for name in ("task1/copy.cu", "task2/copy.cu", "task3/gather.cu", "task3/transpose.cu"):
        book.put(f"two/{name}", f"// {name}\n")
    book.put("rar.zip", b"Rar!\x1a\x07\x01\0" + bytes(100)), book.put("seven.zip", b"7z\xbc\xaf\x27\x1c" + bytes(100))
    (book.hand_ins / "hollow").mkdir()
    for s in ("future", "later"):
        book.put(f"{s}/copy.cu")
    os.utime(book.hand_ins / "future/copy.cu", (4e9, 4e9))
    book.put("closed/copy.cu").chmod(0o400)
    (book.hand_ins / "closed").chmod(0o500)
    done = book.intake()
    expect("forms: all have an owner: " + done.stdout + done.stderr, 0, done.returncode)
    owners = book.owners()
    for s in [*good, *ids, *people, "nested", "windows", "bigzip", "future", "later", "closed"]:
        expect(f"{s}: graded: {done.stdout}", ("", GOOD), (owners[s][1], book.text_of(s)))
    for s, word in told.items():
        expect(f"{s}: {owners[s][1]}", True, word in owners[s][1])
    stub = (REPO / "labs/01_coalescing/copy.cu").read_text()
    expect("an empty file costs its task alone: " + done.stdout, ("", stub, True), (owners["blank"][1], book.text_of("blank"), "copy.cu is empty" in done.stdout))
    content = book.rows("SELECT content FROM submission WHERE student = 'apart'")[0][0]
    expect("folders for tasks are one hand-in", ["// g\n", "// t\n"],
           [(book.dir / "shared/contents/01_coalescing" / content / f).read_text() for f in ("gather.cu", "transpose.cu")])
    expect("a date in the future is none: " + done.stdout, (True, True), (
        book.rows("SELECT handed_in FROM submission WHERE student = 'future'")[0][0] <= time.time(), "note: future: its date lies in the future" in done.stdout))
    book.put("future/copy.cu", "// points 51\n")
    book.intake()
    expect("and does not outlive what comes later", "// points 51\n", book.text_of("future"))
    expect("the same ids without their zeros are two students'", 3, (book.put("a/copy.cu"), (book.dir / "roster.csv").write_text("id\n007\n07\n"),
           shutil.rmtree(book.hand_ins), book.put("7/copy.cu"), book.intake().returncode)[-1])
    book.remove()


def history():
    """A, B, A again counts A, within a second and with old dates; an older copy of another name does not count."""
    book = Book("id,name\nann,Ann\n")
    for text in ("A", "B", "A"):
        book.put("ann/copy.cu", f"// {text}\n")
        book.intake()
        expect(f"{text} counts", f"// {text}\n", book.text_of("ann"))
    expect("all three are kept", 3, book.rows("SELECT count(*) FROM submission")[0][0])
    again = book.intake()
    expect("again: nothing new: " + again.stdout, True, ": 0 submissions taken in, 1 known" in again.stdout)
    old = time.time() - 86400
    os.utime(book.put("ann/copy.cu", "// B\n"), (old, old))
    book.intake()
    expect("the same entry with old files is a new hand-in", "// B\n", book.text_of("ann"))
    expect("not before the last one", True, len({d for d, in book.rows("SELECT handed_in FROM submission WHERE handed_in < strftime('%s') - 1000")}) == 0)
    os.utime(book.put("other_ann.zip", zipped(("copy.cu", "// A\n"))), (old, old))
    book.intake()
    expect("an older one of another name does not count", "// B\n", book.text_of("ann"))
    twice = book.intake()
    expect("and is known: " + twice.stdout, True, ": 0 submissions taken in, 2 known" in twice.stdout)
    book.remove()


def rosters():
    """Who left is in no export; Latin-1, UTF-16 and ids that are missing in a row are read."""
    book = Book("id,name,email\nann,Ann,a@example.edu\nbob,Bob,b@example.edu\n")
    for s in ("ann", "bob"):
        book.put(f"{s}/copy.cu", f"// {s}\n")
    book.intake()
    (book.dir / "roster.csv").write_bytes("id,name,email\nann,Änn Šimon,a@example.edu\n".encode("cp1252"))
    shutil.rmtree(book.hand_ins / "bob")
    done = book.intake()
    expect("who left is told: " + done.stdout, True, "not on this roster any more" in done.stdout and "bob" in done.stdout)
    names = [(r["student"], r["name"]) for r in json.loads(book.run("export", "--lab", "01", "--format", "json").stdout)]
    expect("Latin-1 is read, and who left is in no export", [("ann", "Änn Šimon")], names)
    expect("the work is kept", 1, book.rows("SELECT count(*) FROM submission WHERE student = 'bob'")[0][0])
    (book.dir / "roster.csv").write_bytes("id;name\nbob;Bøb\nann;Änn\n".encode("utf-16"))
    book.intake()
    names = [r["name"] for r in json.loads(book.run("export", "--lab", "01", "--format", "json").stdout)]
    expect("UTF-16; who comes back is there again", ["Änn", "Bøb"], names)
    # A roster that mixed two numbers up is corrected by the next one, and what only an older one told stays.
    canvas = lambda one, two: (book.dir / "canvas.csv").write_text(
        f'Student,ID,SIS User ID,SIS Login ID,Section,Lab\nAnn,{one},ann,a1@example.edu,A,\nBob,{two},bob,b1@example.edu,A,\n')
    keys = lambda: book.rows("SELECT student, value FROM student_key WHERE kind = 'canvas' ORDER BY student, value")
    canvas(9002, 9001), book.intake(rosters=("roster.csv", "canvas.csv"))
    expect("the wrong numbers", [("ann", "9002"), ("bob", "9001")], keys())
    canvas(9001, 9002), book.intake(rosters=("roster.csv", "canvas.csv"))
    expect("the right ones alone", [("ann", "9001"), ("bob", "9002")], keys())
    book.intake()
    expect("a roster without numbers deletes none", [("ann", "9001"), ("bob", "9002")], keys())
    # What is filled keeps its bytes.
    book.run("override", "--lab", "01", "--student", "ann", "--percent", "90", "--reason", "secret illness")
    text = 'Identifier,"Full name","ID number",Grade\r\nParticipant 1,Änn,ann,\r\n'.encode("latin-1")
    (book.dir / "moodle.csv").write_bytes(text)
    done = book.run("export", "--lab", "01", "--format", "moodle", "--from", "moodle.csv", "-o", "filled.csv")
    expect("filling Latin-1: " + done.stderr, text.replace(b"ann,", b"ann,90"), (book.dir / "filled.csv").read_bytes())
    expect("a decision's reason is in no export", False, any(
        "secret" in book.run("export", "--lab", "01", "--format", f, "--points", "10").stdout for f in ("csv", "json", "gradescope", "nbgrader")))
    expect("but in the report", True, "secret illness" in book.run("report", "--lab", "01").stdout)
    book.remove()


def gradebook():
    """Its file is private, has backups, and is missed when it is gone."""
    book = Book("id,name\nann,Ann\n")
    before = os.umask(0)
    book.put("ann/copy.cu")
    book.intake()
    os.umask(before)
    mode = lambda name: oct((book.dir / name).stat().st_mode & 0o777)
    expect("only its account reads it", "0o600", mode("gradebook.sqlite"))
    (book.dir / "gradebook.sqlite").chmod(0o644)  # one of before
    expect("status", 0, book.run("status").returncode if shutil.which("squeue") else 0)
    saved = book.run("backup", "saved.sqlite")
    expect("backup: " + saved.stderr, (0, "0o600"), (saved.returncode, mode("saved.sqlite")))
    expect("one of before is closed", "0o640", mode("gradebook.sqlite"))
    expect("a backup overwrites nothing", 2, book.run("backup", "saved.sqlite").returncode)
    expect("nor does restore", 2, book.run("restore", "saved.sqlite").returncode)
    rows = book.rows("SELECT * FROM submission")
    for f in book.dir.glob("gradebook.sqlite*"):
        f.unlink()
    for words in (("export", "--lab", "01"), ("report", "--lab", "01"), ("intake", "--lab", "01", "--submissions", "hand-ins")):
        gone = book.run(*words)
        expect(f"{words[0]} misses the gradebook: {gone.stdout}{gone.stderr}", (2, True), (gone.returncode, "there is no gradebook" in gone.stderr))
    (book.dir / "gradebook.sqlite").unlink(missing_ok=True)
    back = book.run("restore", "saved.sqlite")
    expect("restore: " + back.stderr, 0, back.returncode)
    expect("all is back", rows, book.rows("SELECT * FROM submission"))
    (book.dir / "other.toml").write_text((book.dir / "course.toml").read_text().replace("[grading]", 'gradebook = "other.sqlite"\n[grading]', 1))
    other = subprocess.run([RIDGE, "cluster", "report", "--course", str(book.dir / "other.toml"), "--lab", "01"], capture_output=True, text=True, env=book.env)
    expect("another gradebook on the same folder: " + other.stderr, 2, other.returncode)
    book.remove()


def git(repo, *words, when=None):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    if when:
        env["GIT_COMMITTER_DATE"] = env["GIT_AUTHOR_DATE"] = f"{when} +0000"
    done = subprocess.run(["git", "-C", str(repo), "-c", "user.name=N", "-c", "user.email=n@e", *words], capture_output=True, text=True, env=env)
    expect(f"git {words}: {done.stderr}", 0, done.returncode)
    return done.stdout.strip()


def repositories():
    """What a repository says of itself: its kind of hashes, its attributes, and where else git should look."""
    book = Book("id,name\nsha256,\nhidden,\nborrows,\nlinks,\nworktree,\nplain,\n")
    when = 1_700_000_000

    def made(name, *init, files=None, where=None):
        repo = (where or book.hand_ins) / name
        subprocess.run(["git", "init", "-q", *init, str(repo)], check=True)
        for file, text in (files or {"copy.cu": f"// of {name}\n"}).items():
            (repo / file).write_text(text)
        git(repo, "add", "-A"), git(repo, "commit", "-qm", "x", when=when)
        return repo

    made("sha256", "--object-format=sha256"), made("plain")
    made("hidden", files={"copy.cu": "// of hidden\n", ".gitattributes": "*.cu export-ignore\n"})
    # A neighbour's repository, which this account can read: three ways to lead git there.
    theirs = made("theirs", where=book.dir)
    head = git(theirs, "rev-parse", "HEAD")
    borrows = made("borrows")
    (borrows / ".git/objects/info").mkdir(exist_ok=True)
    (borrows / ".git/objects/info/alternates").write_text(f"{theirs}/.git/objects\n")
    git(borrows, "update-ref", "HEAD", head)
    links = made("links")
    shutil.rmtree(links / ".git/objects"), (links / ".git/objects").symlink_to(theirs / ".git/objects")
    git(links, "update-ref", "HEAD", head)
    worktree = made("worktree")
    (worktree / ".git/commondir").write_text(f"{theirs}/.git\n")
    done = book.intake()
    expect("intake: " + done.stdout + done.stderr, 0, done.returncode)
    owners = book.owners()
    dates = dict(book.rows("SELECT student, handed_in FROM submission"))
    for s in ("sha256", "plain", "hidden"):
        expect(f"{s}: {owners[s]}", ("", f"// of {s}\n", when), (owners[s][1], book.text_of(s), dates[s]))
    for s, word in (("borrows", "alternates"), ("links", "a link, objects"), ("worktree", "commondir")):
        expect(f"{s} is told: {owners[s][1]}", True, word in owners[s][1])
    book.remove()


def limit():
    """submissions_per_day holds in the dropbox, too: the first ones of a day count, also where a student deletes them again."""
    book = Book("id,name\nann,Ann\n", head="[limits]\nsubmissions_per_day = 2\n")
    day = 1_700_006_400  # 2023-11-15T00:00:00Z

    def put(number, when):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as t:
            text = f"// {number}\n".encode()
            info = tarfile.TarInfo("copy.cu")
            info.size = len(text)
            t.addfile(info, io.BytesIO(text))
        stamp = time.strftime("%Y-%m-%dT%H.%M.%SZ", time.gmtime(when))
        path = book.put(f"01_coalescing_ann_{stamp}_{number:012x}.tar.gz", packed.getvalue())
        os.utime(path, (when, when))
        return path

    first, *_ = [put(n, day + 3600 * n) for n in (1, 2, 3)]
    dry = book.intake("--dry-run")
    told = "is hand-in 3 of 2023-11-15, and the course takes 2 a day"
    expect("told before: " + dry.stdout, True, told in dry.stdout)
    done = book.intake()
    expect("the third is told: " + done.stdout + done.stderr, (0, True), (done.returncode, told in done.stdout))
    counts = lambda: book.rows("SELECT content FROM submission WHERE problem = '' ORDER BY handed_in")[-1][0]
    text = lambda: (book.dir / "shared/contents/01_coalescing" / counts() / "copy.cu").read_text()
    expect("the second counts", "// 2\n", text())
    first.unlink()
    put(4, day + 86000)
    done = book.intake()
    expect("deleting does not help: " + done.stdout, ("// 2\n", True), (text(), "is hand-in 4 of 2023-11-15" in done.stdout))
    second = book.hand_ins / "01_coalescing_ann_2023-11-15T02.00.00Z_000000000002.tar.gz"
    os.utime(second, (day + 90000,) * 2)
    done = book.intake("--dry-run")
    expect("nor does a later date of an older one: " + done.stdout, True, told in done.stdout)
    os.utime(second, (day + 7200,) * 2)
    put(5, day + 86400)
    book.intake()
    expect("the next day does", "// 5\n", text())
    expect("again: nothing new", True, ": 0 submissions taken in" in book.intake().stdout)
    book.remove()


{"shapes": shapes, "encodings": encodings, "forms": forms, "history": history, "rosters": rosters, "gradebook": gradebook, "repositories": repositories, "limit": limit}[part]()
print(f"{len(checks)} checks")
