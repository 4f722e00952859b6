#!/usr/bin/env python3
"""Writes docs/emulator_api.md: which of CUDA's functions the emulator has. What exists is read from CUDA's headers, what is there
from the emulator's; support.toml says what is partly there, and why the rest is not.

  page.py            writes the page
  page.py --check    exit 1 where the page is not what would be written, 77 without CUDA's headers
  page.py --calls F  writes a program that calls every function that the page calls supported, with CUDA's own signatures
"""
import argparse
import os
import re
import sys
import tomllib
from pathlib import Path

import headers

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGE = ROOT / "docs/emulator_api.md"
OURS = HERE.parent / "include"
CUDA_OPTIONS = ["-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-D__CUDA_ARCH__=900",
                "-D__CUDA_ARCH_LIST__=900"]


def normal(name):
    """cublasSgemm_v2 and cublasSgemm_v2_64 are cublasSgemm to their callers."""
    if re.match("cu[A-Z]", name):
        return re.sub(r"_v[2-9]$", "", name)  # the driver API's header has macros of the old names
    return re.sub(r"_v2$", "", re.sub(r"_64$", "", name)) if name.startswith(("cublas", "cuda")) else name


def cuda_include():
    for place in [os.environ.get("CUDA_HOME"), "/usr/local/cuda", "/usr/lib/cuda", "/usr"]:
        if place and (Path(place) / "include/crt/device_functions.h").exists():
            return Path(place) / "include"
    return None


def sources(include, names):
    return "".join(f"#include <{n}>\n" for n in names if (include / n).exists())


class Page:
    def __init__(self, cuda):
        with open(HERE / "support.toml", "rb") as f:
            self.data = tomllib.load(f)
        compiler = os.environ.get("CXX", "g++").split()
        entry = self.data["include"]
        text, _ = headers.preprocess(compiler, sources(cuda, entry), CUDA_OPTIONS + [f"-I{cuda}", f"-I{cuda}/cccl"])
        self.version = re.search(r"#define CUDART_VERSION\s+(\d+)", (cuda / "cuda_runtime_api.h").read_text()).group(1)
        root = str(cuda) + "/"
        self.cuda = [f for f in headers.read(text, lambda p: p.startswith(root) and "/cccl/" not in p)]
        for f in self.cuda:
            f.header = f.header[len(root):]
        text, macros = headers.preprocess(compiler, sources(OURS, entry), [f"-I{OURS}", "-DRIDGE_PAGE"])
        mine = headers.read(text)
        self.mine = {f.name for f in mine} | set(macros)
        self.reasons = [(re.compile(r["names"]), r["why"]) for r in self.data["not"]]
        self.partly = self.data["partly"]
        self.problems = []
        self.sections = [self.section(s, cuda) for s in self.data["section"]]
        known = {n for s in self.sections for n in s["all"]}
        self.problems += [f"support.toml: partly: CUDA has no {n}" for n in self.partly if n not in known]

    def section(self, s, cuda):
        keep, drop = re.compile(s.get("names", ".")), re.compile(s.get("without", r"(?!)"))
        members = s.get("members", {})
        names, signatures = {}, {}
        if "files" in s:  # a library of classes: one header each
            for path in sorted(cuda.glob(s["files"])):
                names[s["prefix"] + path.stem] = None
            names.update({s["prefix"] + n: None for n in s.get("more", [])})
            names = {n: None for n in names if keep.search(n) and not drop.search(n)}
        for f in self.cuda:
            if f.header not in s.get("headers", []):
                continue
            owner, _, member = f.name.rpartition("::")
            if owner and owner not in members:
                continue
            name = f"{members[owner]}::{member}" if owner else normal(f.name)
            if not keep.search(name) or drop.search(name) or (not owner and name.startswith("_") and not name.startswith("__")):
                continue
            names[name] = None
            signatures.setdefault(name, []).append(f)
        state = {n: self.state(n, s) for n in sorted(names, key=str.lower)}
        return {"title": s["title"], "note": s.get("note", ""), "all": state, "signatures": signatures}

    def state(self, name, section):
        # A file's class is there when the data says so; it has no signature to compare.
        declared = name in self.mine or name in section.get("supported", [])
        if name in self.partly:
            if not declared and "files" not in section:
                self.problems.append(f"support.toml: partly: the emulator does not declare {name}")
            return "partly", self.partly[name]
        for pattern, why in self.data.get("refused", {}).items():
            if re.fullmatch(pattern, name):
                return "not", why
        if declared:
            return "yes", ""
        for pattern, why in self.reasons:
            if pattern.fullmatch(name):
                return "not", why
        self.problems.append(f"support.toml: no reason why {name} is missing ({section['title']})")
        return "not", "?"

    def text(self):
        out = [self.data["head"].strip().replace("VERSION", f"{int(self.version) // 1000}.{int(self.version) % 1000 // 10}"), ""]
        out += ["| part | supported | partly | not |", "|---|--:|--:|--:|"]
        for s in self.sections:
            count = [sum(1 for v in s["all"].values() if v[0] == k) for k in ("yes", "partly", "not")]
            anchor = re.sub(r"[^\w\- ]", "", s["title"].lower()).replace(" ", "-")
            out.append(f"| [{s['title']}](#{anchor}) | {count[0]} | {count[1]} | {count[2]} |")
        for s in self.sections:
            out += ["", f"## {s['title']}", ""]
            if s["note"]:
                out += [s["note"], ""]
            yes = [f"`{n}`" for n, v in s["all"].items() if v[0] == "yes"]
            if yes:
                out += ["**Supported:** " + ", ".join(yes) + ".", ""]
            part = [(n, v[1]) for n, v in s["all"].items() if v[0] == "partly"]
            if part:
                out += ["| partly | how |", "|---|---|"] + [f"| `{n}` | {w} |" for n, w in part] + [""]
            groups = {}
            for n, v in s["all"].items():
                if v[0] == "not":
                    groups.setdefault(v[1], []).append(f"`{n}`")
            if groups:
                out += ["| not | reason |", "|---|---|"] + [f"| {', '.join(n)} | {w} |" for w, n in groups.items()] + [""]
            if out[-1] == "":
                out.pop()
        return "\n".join(out) + "\n"

    def calls(self):
        """One function for each signature; those of templates are for the programs in tests/simt to call."""
        out = ["// Made by runtime/simt/api_page/page.py: calls of what docs/emulator_api.md calls supported."]
        out += [f"#include <{n}>" for n in self.data["include"] if (OURS / n).exists() and n != "nccl.h"]
        out += [self.data["calls"]["prologue"]]
        without = re.compile(self.data["calls"]["without"])
        number, skip = 0, [re.compile(p) for p in self.data["calls"]["skip"]]
        templates, done = {}, set()
        for s in self.sections:
            for name, overloads in s["signatures"].items():
                if s["all"][name][0] != "yes":
                    continue
                for f in overloads:
                    if f.template or "::" in name or any(p.fullmatch(name) for p in skip):
                        templates.setdefault(name, f)
                        continue
                    if without.search(f.parameters + f.scope):
                        continue
                    call = self.call(f, name, number)
                    body = call.split("(", 1)[1]
                    if (name, body) in done or re.search(r"_64$", f.name):
                        continue
                    done.add((name, body))
                    out.append(call + f"  // {f.header}")
                    number += 1
            for name, v in s["all"].items():
                if v[0] == "yes" and name not in s["signatures"]:
                    templates.setdefault(name, None)
        called = {n for n, _ in done}
        out.append("int main() { return 0; }")
        return "\n".join(out) + "\n", sorted(t for t in templates if t not in called)

    def call(self, f, name, number):
        parameters, arguments, depth, piece = [], [], 0, ""
        for c in f.parameters + ",":
            depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(c, 0)
            if c != "," or depth:
                piece += c
                continue
            p, piece = piece.split("=")[0].strip(), ""
            if p in ("", "void"):
                continue
            if p == "...":
                continue
            m = re.search(r"\(\s*(?:\w+\s*)?\*\s*(\w+)\s*\)", p) or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", p)
            named = m and m.group(1) not in ("int", "char", "float", "double", "unsigned", "long", "short", "void") and \
                len(re.findall(r"\w+", re.sub(r"\b(?:const|volatile|struct|enum|__restrict__)\b", "", p))) > 1
            if not named:
                p, argument = f"{p} a{len(arguments)}", f"a{len(arguments)}"
            else:
                argument = m.group(1)
            parameters.append(p)
            arguments.append(argument)
        scope = f"{f.scope}::" if f.scope and not f.scope.startswith("std") else ""
        use = f"{scope}{name}({', '.join(arguments)})"
        return f"__host__ __device__ void call{number}({', '.join(parameters)}) {{ (void){use}; }}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--calls", metavar="FILE")
    options = parser.parse_args()
    cuda = cuda_include()
    if cuda is None:
        print("the headers of a CUDA Toolkit are not here (CUDA_HOME says where)")
        return 77
    page = Page(cuda)
    for p in page.problems:
        print(p)
    if page.problems:
        return 1
    if options.calls:
        program, rest = page.calls()
        Path(options.calls).write_text(program)
        seen = "".join(p.read_text() for p in (ROOT / "tests/simt").rglob("*.c*") if p.is_file())
        missing = [n for n in rest if not re.search(rf"\b{n.split('::')[-1]}\b", seen)]
        for n in missing:
            print(f"called supported, but no program in tests/simt uses it: {n}")
        return 1 if missing else 0
    text = page.text()
    if not options.check:
        PAGE.write_text(text)
        return 0
    if not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.relative_to(ROOT)} is not up to date: run {Path(__file__).relative_to(ROOT)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
