"""The downloads of four systems in the shapes that they have, each with a roster that the system exports."""
import csv, io
from unicodedata import normalize
from forms import *

NAMES = [("Jürgen Élise Zoë Søren Łukasz Þóra".split(), "Müller Núñez Dvořák Åberg Şahin Gonçalves".split()),
         ("Αλέξανδρος Ελένη Γιώργος Μαρία Ιάσων Χαρά".split(), "Παπάς Νικολάου Ιωάννου Σταύρου Δήμου Ρήγας".split()),
         ("Ирина Фёдор Ольга Андрей Юлия Сергей".split(), "Петрова Соловьёв Кузнецов Зайцев Чайковский Щукина".split()),
         ("小明 伟 芳 娜 秀英 敏".split(), "王 李 张 刘 陈 杨".split()),
         ("أحمد فاطمة يوسف ليلى عمر هدى".split(), "علي حسن إبراهيم سالم ناصر خليل".split()),
         ("민준 서연 지훈 하은 도윤 수아".split(), "김 이 박 최 정 강".split())]


def person(i):
    """First and last name; all different up to 216, in six scripts."""
    firsts, lasts = NAMES[i % 6]
    return firsts[(i // 6) % 6], lasts[(i // 36) % 6]


def flat(*words):
    return "".join(c for c in "".join(words).lower() if c.isalnum())


def written(name, i):
    """Every second file was named by macOS."""
    return normalize("NFD" if i % 2 else "NFC", name)


def loose(i):
    keys = list(LOOSE)
    return LOOSE[keys[i % len(keys)]], keys[i % len(keys)]


def csv_text(rows):
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def canvas(dir, students, late):
    """doejane_4711_815_copy.cu; students: number -> (id, files). Returns the gradebook export and the form of each."""
    rows, used = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 1: 01_coalescing (815)", "Other (9)"],
                  ["    Points Possible", "", "", "", "", "50", "10"]], {}
    for i, (id, files) in students.items():
        first, last = person(i)
        rows.append([f"{last}, {first}", str(9000 + i), f"SIS{i}", id, "S", "", "7"])
        head = written(flat(last, first), i) + ("_LATE" if i in late else "") + f"_{9000 + i}_{70000 + i}_"
        if i % 5 == 0:
            put(dir / (head + "lab 01.zip"), zipped({"work/" + n: t for n, t in files.items()}))
            used[i] = "zip"
            continue
        (name, text), used[i] = loose(i)
        for n, t in files.items():
            put(dir / (head + name(n)), text(t))
    return csv_text(rows), used


def moodle(dir, students):
    rows, used = [["Identifier", "Full name", "ID number", "Email address", "Grade", "Feedback comments"]], {}
    for i, (id, files) in students.items():
        full = " ".join(person(i))
        rows.append([f"Participant {5000 + i}", full, id, f"{id}@example.edu", "", ""])
        head = written(full, i) + f"_{5000 + i}_assignsubmission_file"
        if i % 4 == 0:
            put(dir / (head + "_") / "Übung 1.zip", zipped({**{"Übung/" + n: t for n, t in files.items()}, "__MACOSX/._x": "x"}))
            used[i] = "zip in the folder"
            continue
        (name, text), used[i] = loose(i)
        for n, t in files.items():
            put(dir / (head + ("_" if i % 4 == 1 else "")) / name(n) if i % 4 < 3 else dir / f"{head}_{name(n)}", text(t))
    return csv_text(rows), used


def gradescope(dir, groups):
    """groups: number -> (ids, files)"""
    text = "---\n"
    for i, (ids, files) in groups.items():
        folder({("sub/" + n if i % 2 else n): t for n, t in files.items()}, dir / f"submission_{i}")
        text += f"submission_{i}:\n  :submitters:\n"
        for id in ids:
            text += f"  - :name: \"{' '.join(person(i))}\"\n    :sid: '{id}'\n    :email: {id.upper()}@EXAMPLE.EDU\n"
        text += "  :created_at: 2026-11-20 10:00:00.000000000 Z\n  :score: 0.0\n  :status: processed\n"
    put(dir / "submission_metadata.yml", text)


def github(dir, students):
    rows = [["identifier", "github_username", "github_id", "name"]]
    for i, (id, files) in students.items():
        rows.append([id, f"octo-{i}" if i % 2 else f"octo-{i}-cat", str(i), " ".join(person(i))])
        repository(files, dir / f"lab-01-{rows[-1][1]}")
    return csv_text(rows)
