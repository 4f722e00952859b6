"""Each operator makes the edits that it promises, and leaves alone what it must: run by `ctest -R mutants`."""
import pathlib
import sys
import tempfile
import unittest

import frozen
import operators
import places
import report
from judging import verdict_of
from mutants import Log


def edits(name, line, table=operators.OPERATORS):
    return sorted(line[:at] + new + line[at + len(old):] for at, old, new in table[name](line))


class Operators(unittest.TestCase):
    def test_arithmetic(self):
        self.assertEqual(edits("arithmetic", "x = a + b;"), ["x = a - b;"])
        self.assertEqual(edits("arithmetic", "float* p = &x;"), [])
        self.assertEqual(edits("arithmetic", "return -1;"), [])

    def test_comparison(self):
        self.assertEqual(edits("comparison", "if (i < n)"), ["if (i <= n)"])

    def test_logic(self):
        self.assertEqual(edits("logic", "if (a && b)"), ["if (a || b)"])

    def test_bits(self):
        self.assertEqual(edits("bits", "x = a << 2;"), ["x = a >> 2;"])

    def test_update(self):
        self.assertEqual(edits("update", "sum += x;"), ["sum -= x;", "sum = x;"])

    def test_integers(self):
        self.assertEqual(edits("integers", "int a = 4;"), ["int a = 2;", "int a = 5;"])
        self.assertEqual(edits("integers", "float a = 0.5f;"), [])

    def test_bounds(self):
        self.assertEqual(edits("bounds", "for (; i < n; ++i)"), ["for (; i < (n + 1); ++i)", "for (; i < (n - 1); ++i)"])

    def test_indices(self):
        self.assertEqual(edits("indices", "x = in[i];"), ["x = in[(i) + 1];"])

    def test_barriers(self):
        self.assertEqual(edits("barriers", "  __syncthreads();"), ["  ;"])

    def test_statements(self):
        self.assertEqual(edits("statements", "  x = f(1);"), ["  ;"])
        self.assertEqual(edits("statements", "  int x = f(1);"), [])

    def test_precision(self):
        self.assertEqual(edits("precision", "  double x = 0;"), ["  float x = 0;"])

    def test_extremes(self):
        self.assertEqual(edits("extremes", "x = fmaxf(a, b);"), ["x = fminf(a, b);"])

    def test_conditions(self):
        self.assertEqual(edits("conditions", "if (lane == 0) f();"), ["if (!(lane == 0)) f();"])

    def test_arguments(self):
        self.assertEqual(edits("arguments", "f(a, b);"), ["f(b, a);"])


class Frozen(unittest.TestCase):
    def test_swapped(self):
        text = "  a = 1;  // one\n  f(a);\n    b = 2;"
        found = [(number, new) for _, number, _, new in operators.mutants(text, {"swapped": frozen.OPERATORS["swapped"]})]
        self.assertEqual(found, [(1, "  f(a);\n  a = 1;")])

    def test_members(self):
        self.assertEqual(edits("members", "i = threadIdx.x + v.w;", frozen.OPERATORS), ["i = threadIdx.x + v.z;", "i = threadIdx.y + v.w;"])


class Sources(unittest.TestCase):
    def found(self, text):
        return [new for _, _, _, new in operators.mutants(text, {"comparison": operators.OPERATORS["comparison"]})]

    def test_only_tasks_are_edited(self):
        self.assertEqual(self.found("a < b;\n// TASK(x)\nc < d;  // e < f\n// END(x)\ng < h;"), ["c <= d;  // e < f"])

    def test_code_for_gpus_alone_is_left(self):
        text = "a < b;\n#ifndef RIDGE_SIMT\nc < d;\n#else\ne < f;\n#endif\n#ifdef RIDGE_SIMT\ng < h;\n#else\ni < j;\n#endif"
        self.assertEqual(self.found(text), ["a <= b;", "e <= f;", "g <= h;"])

    def test_every_lab_has_mutants_of_each_judged_file(self):
        for lab in places.labs():
            files = {one["file"] for one in places.mutants_of(lab, operators.OPERATORS)}
            self.assertEqual(files, set(places.tasks_of(lab)))

    def test_a_larger_sample_begins_with_the_smaller_one(self):
        small, large = (places.sample("01_coalescing", operators.OPERATORS, 7, n) for n in (5, 50))
        self.assertEqual([m["key"] for m in small], [m["key"] for m in large][:5])
        self.assertNotEqual([m["key"] for m in small], [m["key"] for m in places.sample("01_coalescing", operators.OPERATORS, 8, 5)])

    def test_keys_are_unique(self):
        for lab in places.labs():
            keys = [m["key"] for table in (operators.OPERATORS, frozen.OPERATORS) for m in places.mutants_of(lab, table)]
            self.assertLess(len(keys) - len(set(keys)), 1 + len(keys) // 20)


class Verdicts(unittest.TestCase):
    def result(self, points, checks, status="failed"):
        return {"outcome": status, "tasks": [{"id": "t", "status": status, "points": points, "max": 10, "checks": checks, "goals": [{"id": "fast"}]}]}

    def test_causes(self):
        def failed(name, message=""):
            return [{"name": name, "status": "failed", "message": message}]
        self.assertEqual(verdict_of({"outcome": "build-failed"}, "t")[:2], ("not built", "build"))
        self.assertEqual(verdict_of(self.result(10, [], "passed"), "t")[0], "survived")
        self.assertEqual(verdict_of(self.result(9, failed("fast")), "t")[:2], ("killed", "goals"))
        self.assertEqual(verdict_of(self.result(0, failed("correct", "out[3]")), "t")[:2], ("killed", "correctness"))
        self.assertEqual(verdict_of(self.result(0, failed("memory", "n 1: race on shared memory")), "t")[:2], ("killed", "sanitizer"))
        self.assertEqual(verdict_of(self.result(0, failed("time-limit")), "t")[:2], ("killed", "time limit"))

    def test_an_interrupted_line_is_judged_again(self):
        with tempfile.TemporaryDirectory() as d:
            (pathlib.Path(d) / "mutants.jsonl").write_text('{"key": "a", "verdict": "killed"}\n{"key": "b", "verdict": "survived", "digest": "1"}\n{"key": "c"')
            log = Log(pathlib.Path(d))
            self.assertEqual([log.needs(k, "1") for k in "abc"], [False, False, True])
            self.assertTrue(log.needs("b", "2"))
            log.lock.close()

    def test_equivalents_are_known_by_their_text(self):
        with tempfile.TemporaryDirectory() as d:
            file = pathlib.Path(d) / "e.toml"
            file.write_text('[[mutant]]\nkind = "equivalent"\nfile = "01_x/a.cu"\nold = "a < b"\nnew = ["a <= b"]\nwhy = "w"\n')
            known = report.Equivalents(file)
            one = dict(lab="01_x", file="a.cu", old="a < b", new="a <= b", occurrence=1)
            self.assertEqual(known.entry(one)["why"], "w")
            self.assertIsNone(known.entry(dict(one, new="a > b")))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
