"""What people hand in when they were asked for a folder of four files: each form takes the files that a student meant (name ->
text) and a place, and leaves an entry there. `None` as its points: it cannot be graded, and is told; else it earns what the files
are worth."""
import io, os, pathlib, subprocess, tarfile, zipfile

GRADED, TOLD = True, None


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)
    return out.getvalue()


def tarred(files, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        for name, text in files.items():
            data = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def folder(files, at):
    for name, data in files.items():
        put(at / name, data)


def each(change):
    """A folder whose texts are saved in another way."""
    return lambda files, at: folder({name: change(text) for name, text in files.items()}, at)


def named(rename):
    return lambda files, at: folder({rename(name): text for name, text in files.items()}, at)


def archive(suffix, make):
    return lambda files, at: put(at.parent / (at.name + suffix), make(files))


def windows(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, text in files.items():
            info = zipfile.ZipInfo("Abgabe\\" + name)
            info.create_system = 0
            z.writestr(info, text)
    return out.getvalue()


def instead(name, data):
    return lambda files, at: folder({**files, name: data}, at)


def linked(files, at):
    folder({("mine.txt" if name == "copy.cu" else name): text for name, text in files.items()}, at)
    (at / "copy.cu").symlink_to("mine.txt")


def read_only(files, at):
    folder(files, at)
    for file in at.iterdir():
        file.chmod(0o400)
    at.chmod(0o500)


CLOSED = []  # folders that belong to another account, once all others belong to the instructor


def closed(files, at):
    folder(files, at)
    CLOSED.append(at)


def repository(files, at):
    folder(files, at)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=N", "-c", "user.email=n@example.edu", "commit", "-qm", "x"]):
        stamp = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
        subprocess.run(["git", "-C", str(at), *words], check=True, env={**os.environ, **stamp})


def stem(name):
    return name.rsplit(".", 1)[0]


FORMS = {
    "a folder": (folder, GRADED),
    "byte order marks": (each(lambda t: b"\xef\xbb\xbf" + t.encode()), GRADED),
    "UTF-16 LE": (each(lambda t: b"\xff\xfe" + t.encode("utf-16-le")), GRADED),
    "UTF-16 BE": (each(lambda t: b"\xfe\xff" + t.encode("utf-16-be")), GRADED),
    "UTF-16 without a mark": (each(lambda t: t.encode("utf-16-le")), GRADED),
    "CRLF": (each(lambda t: t.replace("\n", "\r\n").encode()), GRADED),
    "Latin-1 comments": (each(lambda t: b"// gr\xf6\xdfe\n" + t.encode()), GRADED),
    "a zip": (archive(".zip", zipped), GRADED),
    "a zip in a zip": (archive(".zip", lambda f: zipped({"lab.zip": zipped({"lab/" + n: t for n, t in f.items()})})), GRADED),
    "a tar.gz": (archive(".tar.gz", lambda f: tarred({"lab/" + n: t for n, t in f.items()}, "w:gz")), GRADED),
    "a tar.xz": (archive(".tar.xz", lambda f: tarred(f, "w:xz")), GRADED),
    "a zip of macOS": (archive(".zip", lambda f: zipped({**{"lab/" + n: t for n, t in f.items()}, "lab/.DS_Store": b"\0\0\0\1Bud1",
                       **{"__MACOSX/lab/._" + n: b"\0\5\x16\7" for n in f}})), GRADED),
    ".DS_Store and ._files": (lambda f, at: folder({**f, ".DS_Store": b"\0\0\0\1Bud1", "._copy.cu": b"\0\5\x16\7"}, at), GRADED),
    "a zip of Windows": (archive(".zip", windows), GRADED),
    "names of another script": (archive(".zip", lambda f: zipped({"Лабораторная 1/课程/" + n: t for n, t in f.items()})), GRADED),
    "nested folders": (named(lambda n: "home/me/ridge/work/" + n), GRADED),
    "another lab's folder": (named(lambda n: "02_reduction/" + n), GRADED),
    "a folder for each task": (named(lambda n: stem(n) + "/" + n), GRADED),
    "copy (1).cu": (named(lambda n: stem(n) + " (1).cu"), GRADED),
    "copy-1.cu": (named(lambda n: stem(n) + "-1.cu"), GRADED),
    "copy.cu.txt": (named(lambda n: n + ".txt"), GRADED),
    "COPY.CU": (named(str.upper), GRADED),
    "extra files": (instead("notes.txt", "x"), GRADED),
    "a report of 5 MB": (archive(".zip", lambda f: zipped({**f, "report.pdf": bytes(5 << 20)})), GRADED),
    "read-only files": (read_only, GRADED),
    "a repository": (repository, GRADED),
    "a rar called zip": (archive(".zip", lambda f: b"Rar!\x1a\x07\x01\0" + os.urandom(300)), TOLD),
    "a 7z called zip": (archive(".zip", lambda f: b"7z\xbc\xaf\x27\x1c" + os.urandom(300)), TOLD),
    "a zip cut in half": (archive(".zip", lambda f: zipped(f)[:900]), TOLD),
    "a zero byte": (lambda f, at: folder({**f, "copy.cu": f["copy.cu"] + "\0"}, at), TOLD),
    "a source of 5 MB": (lambda f, at: folder({**f, "copy.cu": f["copy.cu"] + "//" + "x" * (5 << 20)}, at), TOLD),
    "a link": (linked, TOLD),
    "copy_final.cu": (lambda f, at: folder({("copy_final.cu" if n == "copy.cu" else n): t for n, t in f.items()}, at), TOLD),
    "two that could count": (lambda f, at: folder({**f, "copy-1.cu": "// older\n"}, at), TOLD),
    "a folder that can't be read": (closed, TOLD),
    "an empty folder": (lambda f, at: at.mkdir(), TOLD),
}

LOOSE = {  # of single files, as LMSs hand them on
    "as asked": (lambda n: n, str.encode), "byte order marks": (lambda n: n, lambda t: b"\xef\xbb\xbf" + t.encode()),
    "UTF-16": (lambda n: n, lambda t: t.encode("utf-16")), "COPY.CU": (str.upper, str.encode), "copy.cu.txt": (lambda n: n + ".txt", str.encode),
    "copy (1).cu": (lambda n: stem(n) + " (1).cu", str.encode), "copy-2.cu": (lambda n: stem(n) + "-2.cu", str.encode),
    "CRLF": (lambda n: n, lambda t: t.replace("\n", "\r\n").encode())}
