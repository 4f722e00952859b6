#!/usr/bin/env python3
"""Files of learning management systems in shapes that others published, beyond those that we had assumed: rosters, downloads and
the files that grades are filled into. No Slurm.

Where the shapes were seen (public repositories, November 2026; names and numbers here are our own):
- Canvas gradebooks: a Swedish one with decimal commas and "(läs endast)"; a header with "Root Account" and a quoted title with a comma;
  one without SIS columns; a test student with a login of its own; Canvas's own spec/lib/gradebook_importer_spec.rb.
- Moodle: the header of the grading worksheet, with Group, "Maximum Grade" and "Grade can be changed"; downloads in which blanks became
  underscores, and with a folder for the online text beside the one for files.
- GitHub Classroom: rosters with group_name, identifiers with commas and parentheses, students without an account yet.
- Gradescope: submission_metadata.yml of groups, and a submitter without an address.
"""
import json
from rehearsal import *

GOOD = "// points 50\n"


class Book:
    """A course that never sends a job."""

    def __init__(self, roster, name="roster.csv"):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ridge-samples."))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "RIDGE_", "LC_", "LANG"))}
        (self.dir / "hand-ins").mkdir()
        (self.dir / "course.toml").write_text('name = "Samples"\n[grading]\nsigned = false\n[labs.01]\n')
        (self.dir / name).write_bytes(roster if isinstance(roster, bytes) else roster.encode())
        self.roster = name

    def put(self, name, text=GOOD):
        path = self.dir / "hand-ins" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *words):
        return subprocess.run([RIDGE, "cluster", words[0], "--course", str(self.dir / "course.toml"), *words[1:]], capture_output=True,
                              text=True, env=self.env, cwd=self.dir, timeout=120)

    def intake(self, wanted=0):
        done = self.run("intake", "--lab", "01", "--submissions", "hand-ins", "--roster", self.roster)
        expect("intake: " + done.stdout + done.stderr, wanted, done.returncode)
        return done.stdout

    def grade(self, student, percent):
        done = self.run("override", "--lab", "01", "--student", student, "--percent", str(percent), "--reason", "a test")
        expect("override: " + done.stdout + done.stderr, 0, done.returncode)

    def names(self):
        return [(r["student"], r["name"]) for r in json.loads(self.run("export", "--lab", "01", "--format", "json").stdout)]

    def owners(self):
        with sqlite3.connect(f"file:{self.dir}/gradebook.sqlite?mode=ro", uri=True, timeout=20) as db:
            return {s: p for s, p in db.execute("SELECT student, problem FROM submission ORDER BY COALESCE(handed_in, taken), id")}

    def filled(self, system, text, *more):
        (self.dir / "from.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        done = self.run("export", "--lab", "01", "--format", system, "--from", "from.csv", "-o", "filled.csv", *more)
        expect(f"{system}: {done.stderr}", 0, done.returncode)
        return (self.dir / "filled.csv").read_bytes().decode()

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def canvas():
    swedish = ("Student,ID,SIS User ID,SIS Login ID,Section,Labb 1 (23769),Current Score\n"
               ",,,,,Manual Posting,\n"
               '    Points Possible,,,,,"12,5",(läs endast)\n'
               '"Lind, Åsa",501,asaid,asa@example.edu,HT26,,\n"Holm, Bo",502,boid,bo@example.edu,HT26,,\n"Student, Test",599,,7f3c0a9be1,HT26,,\n')
    book = Book(swedish)
    book.put("lindåsa_501_9001_copy.cu")
    book.intake()
    expect("the test student is none", {"Lind, Åsa", "Holm, Bo"}, {n for _, n in book.names()})
    asa = [s for s, n in book.names() if n == "Lind, Åsa"][0]
    book.grade(asa, 80)
    got = book.filled("canvas", swedish, "--column", "Labb 1")
    expect("of 12,5 points: " + got, swedish.replace("HT26,,\n", "HT26,10,\n", 1), got)
    book.remove()
    # With semicolons, a byte order mark and a comma in a title; more columns in front.
    wide = ('\ufeffStudent;ID;SIS User ID;SIS Login ID;Root Account;Section;"Module 2: Data, Part 1 (201)";Lab 01 (111)\r\n'
            '    Points Possible;;;;;;100,00;50,00\r\n"Quill, Pat";1001;U1;xq1001;x.example.edu;90-01;88,00;\r\n')
    book = Book(wide)
    book.put("quillpat_LATE_1001_77_copy.cu")
    book.intake()
    (student, name), = book.names()
    expect("semicolons", "Quill, Pat", name)
    book.grade(student, 90)
    got = book.filled("canvas", wide, "--column", "Lab 01 (111)")
    expect("one field is filled: " + got, wide.replace("88,00;\r\n", "88,00;45\r\n"), got)
    book.remove()
    # Separators of thousands.
    for most, wanted in (("1,000.00", "900"), ("1.000,00", "900"), ("1 000,00", "900"), ("1\u00a0000", "900"), ("1,000", "900"), ("2,500,000", "2250000"),
                         ("0,500", "0.45"), ("12,50", "11.25"), ("1000", "900")):
        sheet = f'Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (9)\n    Points Possible,,,,,"{most}"\n"Doe, Jane",7,j,jane@example.edu,A,\n'
        book = Book(sheet)
        book.put("doejane_7_77001_copy.cu")
        book.intake()
        (student, _), = book.names()
        book.grade(student, 90)
        got = book.filled("canvas", sheet, "--column", "Lab 1")
        expect(f"of {most} points: {got}", sheet.replace("edu,A,\n", f"edu,A,{wanted}\n"), got)
        book.remove()
    # An account that may not see SIS ids.
    narrow = "Student,ID,Section,Lab 1 (9)\n    Points Possible,,,10\n\"Doe, Jane\",9001,A,\n\"Doe, Jane\",9002,A,\n"
    book = Book(narrow)
    book.put("doejane_9002_77001_copy.cu")
    book.intake()
    expect("by Canvas's number alone", {"9002": ""}, book.owners())
    book.grade("9002", 50)
    got = book.filled("canvas", narrow, "--column", "Lab 1")
    expect("filled by the number: " + got, narrow.replace("9002,A,", "9002,A,5"), got)
    book.remove()


def moodle():
    head = ('Identifier,"Full name","Email address",Status,Group,Grade,"Maximum Grade","Grade can be changed","Last modified (submission)",'
            '"Last modified (grade)","Feedback comments"\n')
    sheet = (head + 'Participant 657737,"Jo Hoy",jo@example.edu,"Submitted for grading","Lab A",,20.00,Yes,"Friday, 20 November 2026, 9:41 AM",-,\n'
             'Participant 657768,"Ka Com",ka@example.edu,"No submission","Lab A",,"20,00",Yes,-,-,\n'
             'Participant 657772,"Ke Wil",ke@example.edu,"Submitted for grading","Lab B",12.00,20.00,No,"Friday, 20 November 2026, 9:41 AM",-,\n')
    book = Book(sheet)
    book.put("Jo Hoy_657737_assignsubmission_file_/copy.cu")
    book.put("Jo Hoy_657737_assignsubmission_onlinetext_/onlinetext.html", "<p>My answer.</p>\n")  # a second folder for the same student
    book.put("Ka_Com_657768_assignsubmission_file_/copy.cu", "// points 60\n")  # some unpackers write no blanks
    book.intake()
    expect("the online text is no hand-in", {"jo@example.edu": "", "ka@example.edu": ""}, book.owners())
    for student in ("jo@example.edu", "ka@example.edu", "ke@example.edu"):
        book.grade(student, 90)
    got = book.filled("moodle", sheet)
    wanted = sheet.replace('"Lab A",,20.00', '"Lab A",18,20.00').replace('"Lab A",,"20,00"', '"Lab A",18,"20,00"')
    expect("of 20 points, and a locked grade stays: " + got, wanted, got)
    expect("--points counts before it", True, '"Lab A",9,20.00' in book.filled("moodle", sheet, "--points", "10"))
    book.remove()


def github():
    book = Book('identifier,github_username,github_id,name,group_name\n"Lab 01, Student Alpha (i02)",alpha-1,900000001,Alex,lambda\n'
                '"Roe, Jane (03)",,,,\n')
    subprocess.run(["git", "init", "-q", str(book.dir / "hand-ins/lab-01-alpha-1")], check=True)
    book.put("lab-01-alpha-1/copy.cu")
    for words in (["add", "."], ["-c", "user.name=N", "-c", "user.email=n@e", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(book.dir / "hand-ins/lab-01-alpha-1"), *words], check=True, env=book.env)
    book.intake()
    expect("identifiers with commas", {"Lab 01, Student Alpha (i02)": ""}, book.owners())
    book.remove()


def gradescope():
    book = Book("id,name,email\n100,Solo,solo@example.edu\n200,One,one@example.edu\n201,Two,two@example.edu\n300,No,no@example.edu\n")
    for name in ("single", "group", "other"):
        book.put(f"submission_{name}/copy.cu", f"// {name}\n")
    book.put("submission_metadata.yml", """submission_single:
  :submitters:
  - :name: Solo Student
    :sid: '100'
    :email: solo@example.edu
submission_group:
  :submitters:
  - :name: Pair One
    :sid: '200'
    :email: one@example.edu
  - :name: Pair Two
    :sid: '201'
    :email: two@example.edu
submission_other:
  :submitters:
  - :name: No Address
    :sid: '300'
""")
    book.intake()
    expect("all have an owner", {"100": "", "200": "", "201": "", "300": ""}, book.owners())
    book.remove()


parts = {"canvas": canvas, "moodle": moodle, "github": github, "gradescope": gradescope}
for part in sys.argv[1:] or parts:
    parts[part]()
print(f"{len(checks)} checks")
