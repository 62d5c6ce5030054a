"""tools/bench without peers: what counts as a right number, what is reported, and calls through the runtime's C ABI.

    bench_tool.py WEFT LIBRARY FOLDER
"""
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tools", "bench"))

import numpy as np

import bench
import cases
import kernels
import report
import weft_runtime

WEFT, LIBRARY, FOLDER = sys.argv[1:4]

class Judge(unittest.TestCase):
    """A wrong number is never taken for a right one."""

    def setUp(self):
        self.reference = np.linspace(-2, 2, 12).reshape(3, 4)

    def right(self, got, precision="f32", model="resnet50"):
        return cases.judge(got, self.reference, model, precision)["right"]

    def test_exact_and_rounded_results_are_right(self):
        self.assertTrue(self.right(self.reference.astype(np.float32)))

    def test_one_wrong_element_is_found(self):
        got = self.reference.astype(np.float32)
        got[1, 2] += 1e-3
        self.assertFalse(self.right(got))

    def test_nan_is_wrong_in_every_precision(self):
        got = self.reference.astype(np.float32)
        got[0, 0] = math.nan
        for precision in cases.LIMITS:
            self.assertFalse(self.right(got, precision))

    def test_other_shapes_are_wrong(self):
        self.assertFalse(self.right(self.reference.T.astype(np.float32)))

    def test_int8_may_be_coarse_but_not_different(self):
        self.assertTrue(self.right(np.round(self.reference * 8) / 8, "int8"))
        self.assertFalse(self.right(-self.reference, "int8"))

    def test_an_encoder_in_int8_may_be_coarser(self):
        turned = self.reference + 0.7 * np.abs(self.reference)  # a cosine of 0.82
        self.assertFalse(self.right(turned, "int8"))
        self.assertTrue(self.right(turned, "int8", "minilm"))


class Inputs(unittest.TestCase):
    """Inputs are the same in every process, and every case has some."""

    def test_every_case(self):
        for model, names in cases.CASES.items():
            for case in names:
                one, two = cases.inputs(model, case), cases.inputs(model, case)
                self.assertTrue(one)
                for a, b in zip(one, two):
                    self.assertTrue(all(np.array_equal(a[key], b[key]) for key in a), (model, case))

    def test_sizes_are_those_of_the_name(self):
        self.assertEqual(cases.inputs("minilm", "b3s201")[0]["input_ids"].shape, (3, 201))
        self.assertEqual(cases.inputs("superres", "h64w64")[0]["image"].shape, (1, 3, 64, 64))
        past = [feed["past_key_0"].shape[2] for feed in cases.inputs("llama160m", "growing32")]
        self.assertEqual(past, list(range(128, 160)))


class Report(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        self.store = report.Store(FOLDER)
        self.store.note([])

    def put(self, case, name, **result):
        self.store.put("cell", ("minilm", "f32", 1, case, name), result)

    def test_a_written_report_is_read_again_and_added_to(self):
        self.put("b1s16", "weft", ms=2.0, spread=0.01, error=1e-6, right=True)
        self.put("b1s16", "openvino", ms=3.0, spread=0.01, ratio=1.5, right=True)
        self.store.write()
        self.store = report.Store(FOLDER)
        self.put("b1s128", "weft", ms=20.0, spread=0.02, error=1e-6, right=True)
        self.put("b1s128", "onnxruntime", error=0.5, right=False)
        self.store.write()
        with open(os.path.join(FOLDER, "results.md")) as file:
            page = file.read()
        self.assertIn("| b1s16 | 2.00 | 1.0 % |  | 1.50 | openvino 1.50 | 1e-06 |", page)
        self.assertIn("| b1s128 | 20.0 | 2.0 % | wrong |  |  | 1e-06 |", page)
        dots = xml.parse(os.path.join(FOLDER, "ratios.svg")).iter("{http://www.w3.org/2000/svg}title")
        self.assertEqual([dot.text for dot in dots], ["b1s16: openvino 1.50"])

    def test_a_void_cell_of_weft_is_an_error(self):
        self.put("b1s16", "weft", ms=2.0, spread=0.01, right=True)
        self.assertFalse(self.store.wrong("weft"))
        self.put("b1s16", "weft", error=0.5, right=False)
        self.assertTrue(self.store.wrong("weft"))


class FakeProcess:
    """A worker that answers from a list of milliseconds; its numbers become wrong after `turns` questions for time."""

    def __init__(self, ms, turns=100):
        self.ms, self.turns = ms, turns

    def ask(self, op, **question):
        if op == "time":
            self.turns -= 1
            return dict(cpu_ms=[self.ms] * 3, wall_ms=[2 * self.ms] * 3)
        return dict(right=self.turns > 0, error=1e-6)


class Measure(unittest.TestCase):
    def setUp(self):
        self.options = type("Options", (), dict(rounds=7, budget_ms=1))

    def test_a_ratio_is_peer_over_weft(self):
        results = bench.measure(dict(weft=FakeProcess(2.0), openvino=FakeProcess(3.0)), "b1s16", self.options, 1)
        self.assertEqual((results["weft"]["ms"], results["openvino"]["ratio"], results["weft"]["rounds"]), (2.0, 1.5, 7))

    def test_more_threads_are_measured_in_wall_time(self):
        results = bench.measure(dict(weft=FakeProcess(2.0)), "b1s16", self.options, 2)
        self.assertEqual((results["weft"]["ms"], results["weft"]["clock"]), (4.0, "wall_ms"))

    def test_numbers_that_become_wrong_while_measuring_void_the_cell(self):
        results = bench.measure(dict(weft=FakeProcess(2.0), openvino=FakeProcess(1.0, turns=5)), "b1s16", self.options, 1)
        self.assertNotIn("ms", results["openvino"])
        self.assertIn("ms", results["weft"])


class Runtime(unittest.TestCase):
    """The structures of weft_runtime.py are those of runtime.h."""

    def test_a_call_with_allocated_outputs(self):
        os.makedirs(FOLDER, exist_ok=True)
        path = os.path.join(FOLDER, "two.weft")
        subprocess.run([WEFT, "compile", os.path.join(ROOT, "test", "e2e", "two.mlir"), "-o", path], check=True)
        model = weft_runtime.Model(LIBRARY, path, 1)
        self.assertEqual((model.inputs, model.outputs), (["a", "b", "c"], ["y"]))
        random = np.random.default_rng(1)
        a, b, c = (random.standard_normal(shape, np.float32) for shape in ((5, 24), (24, 7), (7,)))
        result, = model.bind([a, b, c], model.allocate([a, b, c]))()
        self.assertTrue(cases.judge(result, a.astype(np.float64) @ b + c, "minilm", "f32")["right"])
        with self.assertRaisesRegex(RuntimeError, "dimension 0"):
            model.allocate([a, b[1:], c])


class Products(unittest.TestCase):
    """Single products: ratios of medians, and a peer that failed leaves its cells out of the mean."""

    def setUp(self):
        seconds = {"128x64x32": {"weft": [2e-6, 1e-6, 3e-6], "mkl": [4e-6, 4e-6, 4e-6]},
                   "1x64x32": {"weft": [1e-6] * 3, "mkl": [math.nan] * 3}}
        self.rows = kernels.rows_of(seconds, {"128x64x32": [0.5, 0.4, 0.6], "1x64x32": [0.9]})

    def test_rows(self):
        self.assertEqual(self.rows[0]["ratios"], {"mkl": 2})
        self.assertAlmostEqual(self.rows[0]["gflops"], 2 * 128 * 64 * 32 / 2e3)
        self.assertEqual(self.rows[0]["share"], 0.5)
        self.assertTrue(math.isnan(self.rows[1]["ratios"]["mkl"]))

    def test_table(self):
        lines = kernels.table(self.rows).splitlines()
        self.assertEqual(lines[0], "| m x k x n | GFLOP/s | of peak | mkl |")
        self.assertEqual(lines[2], "| 128x64x32 | 262.1 | 50 % | 2.00 |")
        self.assertEqual(lines[-1], "| geometric mean | | | 2.00 |")

    def test_sizes_of_weft_and_here_are_the_same(self):
        with open(os.path.join(ROOT, "tools", "weft", "compiler_half", "KernelBenchCommand.cpp")) as file:
            listed = file.read().split("kSizes[] = {", 1)[1].split("};", 1)[0]
        there = ["x".join(part.split(", ")) for part in re.findall(r"\{(\d+, \d+, \d+)\}", listed)]
        self.assertEqual(kernels.SIZES.split(","), there)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
