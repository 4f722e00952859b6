#!/usr/bin/env python3
"""Registers of a thread as the emulator estimates them, beside nvcc's, for the kernels of the reference solutions.

    python3 benchmarks/simt/registers.py [--arch sm_90] [--out registers.json]

Needs nvcc on PATH and a built tree. Each source is compiled by both compilers; kernels are matched by their mangled
names. The estimate lies in the records of the object's sections `ridge_blocks` (runtime/simt/src/device/block_record.hpp).
"""
import argparse
import json
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = 64  # bytes of a BlockRecord
REGISTERS_AT = 52  # of its member `registers`
R_X86_64_64 = 1


def sections(elf):
    """(name, type, offset, size, link, info) of each section."""
    at, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    raw = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]
    base = raw[names][4]
    text = lambda n: elf[base + n:elf.index(b"\0", base + n)].decode()
    return [(text(s[0]), s[1], s[4], s[5], s[6], s[7]) for s in raw]


def estimates(path):
    """Mangled function name -> registers, from an object that `ridge cc -c` wrote."""
    elf = path.read_bytes()
    all_sections = sections(elf)
    found = {}
    for name, kind, offset, size, link, info in all_sections:
        if kind != 4 or all_sections[info][0] != "ridge_blocks":  # SHT_RELA
            continue
        records = all_sections[info][2]
        symbols, strings = all_sections[link][2], all_sections[all_sections[link][4]][2]
        for at in range(offset, offset + size, 24):
            place, what, _ = struct.unpack_from("<QQq", elf, at)
            if place % RECORD != 0 or what & 0xFFFFFFFF != R_X86_64_64:
                continue
            label, = struct.unpack_from("<I", elf, symbols + (what >> 32) * 24)
            symbol = elf[strings + label:elf.index(b"\0", strings + label)].decode()
            found[symbol], = struct.unpack_from("<I", elf, records + place + REGISTERS_AT)
    return found


def nvcc_registers(source, includes, arch, folder):
    """Mangled kernel name -> registers; empty where nvcc does not build the source."""
    run = subprocess.run(["nvcc", f"-arch={arch}", "-std=c++20", "-O3", "-Xptxas", "-v", "-c", str(source), "-o",
                          str(folder / "nvcc.o"), *includes], capture_output=True, text=True)
    if run.returncode != 0:
        return {}
    pattern = r"Compiling entry function '(\w+)'.*?Used (\d+) registers"
    return {name: int(n) for name, n in re.findall(pattern, run.stderr, re.S)}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--arch", default="sm_90")
    options.add_argument("--out", type=pathlib.Path)
    o = options.parse_args()
    rows, left_out = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for source in sorted(ROOT.glob("solutions/*/*.cu")):
            lab = ROOT / "labs" / source.parent.name
            includes = [f"-I{lab}", f"-I{ROOT / 'runtime'}", f"-I{ROOT / 'runtime/collectives/mpi/include'}"]
            gpu = nvcc_registers(source, includes, o.arch, folder)
            built = subprocess.run([str(ROOT / "build/bin/ridge"), "cc", "-c", str(source), "-o",
                                    str(folder / "ridge.o"), *includes], capture_output=True, text=True)
            if not gpu or built.returncode != 0:
                left_out.append(str(source.relative_to(ROOT)))
                continue
            here = estimates(folder / "ridge.o")
            seen = {r["kernel"] for r in rows}  # headers of runtime/nn are in several files
            rows += [{"file": str(source.relative_to(ROOT)), "kernel": name, "nvcc": n, "estimate": here[name]}
                     for name, n in sorted(gpu.items()) if name in here and name not in seen]
    if not rows:
        sys.exit("no kernel was built by both compilers: is nvcc on PATH, and `ridge` built?")
    ratios = sorted(r["estimate"] / r["nvcc"] for r in rows)
    summary = {"kernels": len(rows), "median ratio": round(statistics.median(ratios), 2),
               "least": round(ratios[0], 2), "most": round(ratios[-1], 2),
               "within a quarter": sum(0.8 <= r <= 1.25 for r in ratios)}
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1]
    result = {"nvcc": version, "arch": o.arch, "summary": summary, "left out": left_out, "kernels": rows}
    if o.out:
        o.out.write_text(json.dumps(result, indent=1) + "\n")
    for r in rows:
        print(f"{r['nvcc']:4d} {r['estimate']:4d}  {r['file']}  {r['kernel'][:60]}")
    print(summary, "left out:", *left_out)


if __name__ == "__main__":
    main()
