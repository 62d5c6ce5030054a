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
import unittest.mock
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tools", "bench"))

import numpy as np

import accuracy
import alone
import bench
import cases
import engines
import environment
import files
import kernels
import plot
import processes
import rank_collectives
import rank_overlap
import rank_plans
import rank_steps
import report
import weft_runtime

WEFT, LIBRARY, FOLDER = sys.argv[1:4]

class Ranks(unittest.TestCase):
    """Collectives are measured by one loop that looks at results."""

    def test_ratios_are_taken_within_rounds(self):
        row = dict(samples=dict(weft=[1.0, 4.0, 3.0], slow=[2.0, 2.0, 6.0]))
        self.assertEqual(rank_collectives.ratio(row, "weft", "slow"), 0.5)
        self.assertIsNone(rank_collectives.ratio(row, "weft", "absent"))
        self.assertAlmostEqual(rank_collectives.mean([0.5, 2.0]), 1.0)

    def test_ranks_wait_at_pipes_and_answer(self):
        options = unittest.mock.Mock(ranks=2, rounds=2)
        with unittest.mock.patch.object(rank_collectives, "SIZES", [1 << 10, 1 << 16]), \
                unittest.mock.patch.dict(os.environ, WEFT_BENCH_BUILD=os.path.dirname(os.path.dirname(LIBRARY))):
            rows = rank_collectives.measure(options, [])
        self.assertEqual([(row["kind"], row["bytes"]) for row in rows],
                         [(kind, size) for kind in rank_collectives.KINDS for size in (1 << 10, 1 << 16)])
        for row in rows:
            self.assertEqual([len(row["samples"][name]) for name in rank_collectives.WEFT], [2, 2])
            self.assertGreater(min(min(samples) for samples in row["samples"].values()), 0)


class Rounds(unittest.TestCase):
    """What is compared is measured while the machine stays as it is, which the first way says."""

    def taken(self, slow, count=2):
        """Rounds of a machine that takes 1.5 times as long for some calls, by their number."""
        calls = []

        def seconds_of(way):
            calls.append(way)
            return {"alone": 1.0, "both": 3.0}[way] * (1.5 if len(calls) in slow else 1)

        return alone.rounds(count, ["alone", "both"], seconds_of, 1.0), calls

    def test_a_round_begins_and_ends_with_the_first_way(self):
        samples, calls = self.taken(slow=[])
        self.assertEqual(samples, dict(alone=[1.0, 1.0], both=[3.0, 3.0]))
        self.assertEqual(calls, ["alone", "both", "alone"] * 2)

    def test_a_round_in_which_the_machine_changed_is_taken_again(self):
        samples, calls = self.taken(slow=[1, 3, 4])  # the first begins slow, the second ends so, in both ways
        self.assertEqual(samples, dict(alone=[1.0, 1.0], both=[3.0, 3.0]))
        self.assertEqual(calls, ["alone"] + ["alone", "both", "alone"] * 3)

    def test_a_machine_that_is_another_gives_no_rounds(self):
        samples, _ = self.taken(slow=range(100))
        self.assertEqual(samples, dict(alone=[], both=[]))

    def test_a_cell_of_a_machine_that_changed_says_so(self):
        times = dict(part=0.5, link="1GB/s,5us", exchange_seconds=1e-3, product_seconds=2e-3, unfused_seconds=3e-3, fused_seconds=2.1e-3, parts_seconds=2e-3, exposed_seconds=1e-4, exchanging_seconds=1e-3)
        product = dict(times, product="BERT-base up", exchange="gather", rows=512)
        step = dict(times, program="MiniLM", sent=dict(bytes=1 << 20, messages=8))
        for bench, row in ((rank_overlap, product), (rank_steps, step)):
            self.assertNotIn("unsteady", bench.line(dict(row, steady=True)))
            self.assertIn("(unsteady)", bench.line(dict(row, steady=False)))

    def test_what_an_exchange_costs_is_compared_within_rounds(self):
        samples = dict(product=[1.0, 2.0, 3.0], unfused=[1.5, 2.5, 4.0], fused=[1.1, 2.4, 3.1])
        made = rank_overlap.summary(samples, "product")
        self.assertAlmostEqual(made["exposed_seconds"], 0.1)  # not 2.4 - 2
        self.assertAlmostEqual(made["exchanging_seconds"], 0.5)
        self.assertEqual((made["product_seconds"], made["fused_seconds"], made["parts_seconds"]), (2.0, 2.4, None))


class Plans(unittest.TestCase):
    def test_plans_that_are_one_file_are_not_compared(self):
        row = dict(model="minilm", case="b8s128", samples=dict(auto=[1.0, 1.1], tp=[2.0, 2.2]), found=["dp"])
        self.assertEqual(rank_plans.line(row), "| minilm | b8s128 | 1050.00 | 0.50 | - | found |")


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

    def test_half_precision_may_round_but_not_turn(self):
        self.assertTrue(self.right(np.round(self.reference * 64) / 64, "half"))
        self.assertFalse(self.right(self.reference + 0.2, "half"))


class Accuracy(unittest.TestCase):
    """What a quantised file is worth, on calls that no tool saw."""

    def test_calls_are_read_with_their_answers(self):
        os.makedirs(FOLDER, exist_ok=True)
        path = os.path.join(FOLDER, "judged.npz")
        np.savez(path, **{"0000/x": np.ones(3), "0000/answer": np.zeros(2), "0001/x": np.full(3, 2.0), "0001/answer": np.ones(2)})
        calls = list(accuracy.judged(path))
        self.assertEqual([list(feed) for feed, _ in calls], [["x"], ["x"]])
        self.assertEqual([answer.sum() for _, answer in calls], [0, 2])

    def test_sentences_are_compared_by_their_neighbours(self):
        lines = [np.array(line, float) for line in ([1, 0, 0], [1, 0.1, 0], [0, 0, 1], [0, 0.2, 1])]
        found = accuracy.of("minilm", lines, lines)
        self.assertAlmostEqual(found["worst"], 1)
        self.assertEqual((found["same"], found["calls"]), (1, 4))
        turned = [lines[0], np.array([0, 0.1, 1.0]), lines[2], lines[3]]
        found = accuracy.of("minilm", turned, lines)
        self.assertEqual(found["same"], 0.25)  # of what was turned, and of the two that it is now near to, it changed
        self.assertLess(found["worst"], 0.1)

    def test_an_embedding_is_the_mean_over_tokens(self):
        self.assertEqual(accuracy.line("minilm", np.array([[[1.0, 2.0], [3.0, 6.0]]])).tolist(), [2, 4])
        self.assertEqual(accuracy.line("resnet50", np.array([[1.0, 2.0]])).tolist(), [1, 2])


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

    def test_a_model_in_16_bits_takes_floats_in_16_bits(self):
        feed, = cases.inputs("gpt2", "prefill128", "model_bf16")
        self.assertEqual((feed["past_key_0"].dtype.name, feed["input_ids"].dtype.name), ("bfloat16", "int64"))
        self.assertEqual(cases.inputs("resnet50", "b1", "model_f16")[0]["image"].dtype.name, "float16")


class Engines(unittest.TestCase):
    """An engine that stands beside another is the same code with another precision."""

    def test_who_is_who(self):
        self.assertEqual((engines.base("weft_bf16"), engines.kind("weft_bf16", "half")), ("weft", "model_bf16"))
        self.assertEqual((engines.base("openvino"), engines.kind("openvino", "half")), ("openvino", "half"))
        self.assertTrue(engines.read_by("work", "onnxruntime_f16", "minilm", "half").endswith("minilm.model_f16.onnx"))
        self.assertTrue(engines.read_by("work", "openvino_f32", "minilm", "half").endswith("minilm.onnx"))
        self.assertTrue(engines.read_by("work", "llamacpp_native_f16", "llama160m", "half").endswith("llama160m.f16.gguf"))

    def test_every_engine_has_a_file_and_a_colour(self):
        folder = os.path.join(ROOT, "tools", "bench", "engines")
        for name in list(engines.ENGINES)[1:]:
            self.assertTrue(os.path.exists(os.path.join(folder, engines.base(name) + "_engine.py")), name)
            self.assertIn(name, plot.COLOURS)

    def test_a_reason_names_files_without_folders(self):
        self.assertEqual(engines.why(ValueError("Load model from /some/models/vit.onnx failed: node '/head/Add'\nmore")),
                         "ValueError: Load model from vit.onnx failed: node '/head/Add'")

    def test_a_processor_without_a_unit(self):
        lacks = lambda name, flags, precision="half": engines.missing_unit(name, precision, flags)
        self.assertEqual(lacks("weft", {"avx2"}), "no unit for bf16 here")
        self.assertEqual(lacks("onnxruntime_f16", {"avx512_bf16"}), "no unit for f16 here")
        self.assertIsNone(lacks("weft", {"amx_bf16"}))
        self.assertIsNone(lacks("openvino_f32", set()))
        self.assertIsNone(lacks("weft", set(), "f32"))

    def test_an_engine_that_cannot_be_installed_has_the_reason_in_its_cells(self):
        def missing(name):
            raise environment.Missing(f"{name} cannot be installed: no matching distribution")
        os.makedirs(os.path.join(FOLDER, "models"), exist_ok=True)
        open(os.path.join(FOLDER, "models", "minilm.onnx"), "w").close()
        with unittest.mock.patch("environment.python", missing):
            self.assertEqual(files.compiled(FOLDER, "openvino", "minilm", "half", 1),
                             dict(failed="openvino cannot be installed: no matching distribution"))


class Report(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        self.store = report.Store(FOLDER)
        self.store.note([])

    def put(self, case, name, precision="f32", **result):
        self.store.put("cell", ("minilm", precision, 1, case, name), result)

    def test_a_written_report_is_read_again_and_added_to(self):
        self.put("b1s16", "weft", ms=2.0, spread=0.01, error=1e-6, right=True)
        self.put("b1s16", "openvino", ms=3.0, spread=0.01, ratio=1.5, right=True)
        self.store.write()
        self.store = report.Store(FOLDER)
        self.put("b1s128", "weft", ms=20.0, spread=0.02, error=1e-6, right=True)
        self.put("b1s128", "onnxruntime", error=0.5, right=False)
        page = self.page()
        self.assertIn("| b1s16 | 2.00 | 1.0 % |  | 1.50 | openvino 1.50 | 1e-06 |", page)
        self.assertIn("| b1s128 | 20.0 | 2.0 % | wrong |  |  | 1e-06 |", page)
        self.assertIn("- onnxruntime, all-MiniLM-L6-v2, f32, b1s128: wrong: error 5e-01 of the largest magnitude", page)
        self.assertEqual(self.marks(), ["b1s16: openvino 1.50"])

    def page(self):
        self.store.write()
        with open(os.path.join(FOLDER, "results.md")) as file:
            return file.read()

    def marks(self):
        marks = xml.parse(os.path.join(FOLDER, "ratios.svg")).iter("{http://www.w3.org/2000/svg}title")
        return [mark.text for mark in marks]

    def test_shares_of_the_peak_and_programs_for_one_size(self):
        self.put("b1s16", "weft", ms=2.0, spread=0.01, error=1e-6, right=True, of_peak=0.685, limit="multiply")
        self.put("b1s16", "tvm", ms=200.0, spread=0.01, ratio=100.2, right=True, static=True)
        self.put("stream64", "weft", ms=20.0, spread=0.02, error=1e-6, right=True, of_peak=0.4, limit="read")
        self.put("stream64", "tvm", failed="it has no program for that")
        page = self.page()
        self.assertIn("| b1s16 | 2.00 | 1.0 % | 68 % | 100.20† | tvm 100.20 | 1e-06 |", page)
        self.assertIn("| 20.0 | 2.0 % | 40 % (read) | fails |  | 1e-06 |", page)
        self.assertIn("- tvm, all-MiniLM-L6-v2, f32, stream64: it has no program for that\n", page)

    def test_a_far_peer_does_not_squeeze_the_picture(self):
        self.put("b1s16", "weft", ms=2.0, spread=0.01, right=True)
        self.put("b1s16", "openvino", ms=3.0, spread=0.01, ratio=1.5, right=True)
        self.page()
        alone = self.places()
        self.put("b1s16", "tvm", ms=200.0, spread=0.01, ratio=100.2, right=True)
        self.page()
        self.assertEqual(self.marks(), ["b1s16: openvino 1.50", "b1s16: tvm 100.20"])
        self.assertEqual(self.places()[-1], alone[-1])  # the dot of openvino; dots of the legend come first

    def places(self):
        dots = xml.parse(os.path.join(FOLDER, "ratios.svg")).iter("{http://www.w3.org/2000/svg}circle")
        return [dot.get("cx") for dot in dots]

    def test_half_precision_has_a_line_per_engine(self):
        self.put("b1s16", "weft", "half", ms=1.0, spread=0.01, error=2e-3, cosine=0.99997, right=True, lacks="no unit for bf16 here")
        self.put("b1s16", "weft_f32", "half", ms=1.8, spread=0.01, ratio=1.8, error=1e-7, cosine=1.0, right=True)
        self.put("b1s16", "onnxruntime_bf16", "half", failed="it has no Add in bf16")
        page = self.page()
        self.assertIn("## all-MiniLM-L6-v2, half precision, 1 thread", page)
        self.assertIn("| b1s16 | weft | 1.00 | 1.0 % |  | 2e-03 | 3e-05 | no unit for bf16 here |", page)
        self.assertIn("| b1s16 | weft_f32 | 1.80 | 1.0 % | 1.80 | 1e-07 | 0e+00 |  |", page)
        self.assertIn("| b1s16 | onnxruntime_bf16 | fails |  |  |  |  |  |", page)
        self.assertIn("- onnxruntime_bf16, all-MiniLM-L6-v2, half, b1s16: it has no Add in bf16\n", page)

    def test_quantisers_have_accuracy_beside_time(self):
        self.put("b1s16", "weft", "quantised", ms=1.0, spread=0.01, right=True)
        self.put("b1s16", "openvino_nncf", "quantised", ms=3.0, spread=0.01, ratio=3.0, right=True)
        self.put("b1s16", "onnxruntime_int8", "quantised", ms=2.0, spread=0.01, ratio=2.0, right=True)
        near = dict(cosine=0.99899, worst=0.99701, same=0.9671, calls=800)
        self.store.put("accuracy", ("minilm", "quantised", "weft"), near)
        self.store.put("accuracy", ("minilm", "quantised", "openvino_nncf"), dict(near, made_s=12.3))
        self.store.put("compile", ("minilm", "quantised", "weft"), dict(compile_s=45.2, file_mb=60.7))
        page = self.page()
        self.assertIn("## all-MiniLM-L6-v2, quantisers, 1 thread", page)
        self.assertIn("| weft | 0.99899 | 0.9970 | 96.7% | 60.7 | 45 | 1.00 |  |", page)
        self.assertIn("| openvino_nncf | 0.99899 | 0.9970 | 96.7% |  | 12 | 3.00 | 3.00 |", page)
        self.assertIn("| onnxruntime_int8 |  |  |  |  |  | no accuracy |  |", page)

    def test_memory_load_and_size(self):
        self.store.put("compile", ("minilm", "f32", "weft"), dict(compile_cpu_s=3.25, file_mb=92.4, code_mb=0.4))
        self.store.put("cold", ("minilm", "f32", "weft"), dict(import_cpu_s=0.0, load_cpu_s=0.002, first_cpu_s=0.01, libraries_mb=0.1,
                                                               peak_mb=95.0, largest_mb=120.4, start_s=0.0123, start_cpu_s=0.0101))
        self.assertIn("| all-MiniLM-L6-v2 | weft | 3.2 | 92 | 0.002 | 0.010 | 12 (10) | 95 | 120 | 0.5 |", self.page())

    def test_the_largest_case_is_one_call(self):
        self.assertEqual([report.largest_case(model) for model in ("minilm", "resnet50", "superres")], ["b32s64", "b8", "h64w64"])

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


ECHO = """
import json, os, sys, time
print(json.dumps(dict(pid=os.getpid())), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    if question["case"] == "hang":
        os.fork() or time.sleep(60)
        time.sleep(60)
    if question["case"] == "crash":
        os.abort()
    print(json.dumps(dict(pid=os.getpid())), flush=True)
"""


class Limits(unittest.TestCase):
    """An engine that hangs or crashes loses the case it was asked about, and nothing else."""

    def setUp(self):
        self.process = processes.Process([sys.executable, "-c", ECHO], 5, dict(os.environ))
        self.addCleanup(self.process.end)

    def test_it_hangs(self):
        first = self.process.ask("prepare", case="b1s16")["pid"]
        self.assertEqual(self.process.ask("prepare", case="hang"), dict(failed="no answer within 5 s"))
        self.assertEqual(self.process.ask("time", case="b1s16"), dict(failed="the process ended"))
        self.assertNotEqual(self.process.ask("prepare", case="b1s16")["pid"], first)

    def test_it_crashes(self):
        self.assertEqual(self.process.ask("prepare", case="crash"), dict(failed="the process ended by SIGABRT"))
        self.assertIn("pid", self.process.ask("prepare", case="b1s16"))

    def test_one_that_never_loads_is_not_started_again(self):
        process = processes.Process([sys.executable, "-c", "import sys; sys.exit(5)"], 20, dict(os.environ))
        self.assertEqual(process.ask("prepare", case="b1s16"), dict(failed="the process ended with 5"))
        process.end()


class Measure(unittest.TestCase):
    def setUp(self):
        self.options = type("Options", (), dict(rounds=7, budget_ms=1))

    def test_a_ratio_is_peer_over_weft(self):
        results = bench.measure(dict(weft=FakeProcess(2.0), openvino=FakeProcess(3.0)), "b1s16", self.options, 1)
        self.assertEqual((results["weft"]["ms"], results["openvino"]["ratio"], results["weft"]["rounds"]), (2.0, 1.5, 7))

    def test_more_threads_are_measured_in_wall_time(self):
        results = bench.measure(dict(weft=FakeProcess(2.0)), "b1s16", self.options, 2)
        self.assertEqual((results["weft"]["ms"], results["weft"]["clock"]), (4.0, "wall_ms"))

    def test_who_takes_seconds_has_fewer_turns(self):
        results = bench.measure(dict(weft=FakeProcess(2.0), tvm=FakeProcess(3000.0)), "b1s16", self.options, 1)
        self.assertEqual((results["weft"]["rounds"], results["tvm"]["rounds"], results["tvm"]["ratio"]), (7, bench.LONG_ROUNDS, 1500))

    def test_who_fails_while_measuring_keeps_the_reason(self):
        class Failing(FakeProcess):
            def ask(self, op, **question):
                self.turns -= op == "time"
                return dict(failed=f"reason {self.turns}") if self.turns < 3 else super().ask(op, **question)
        results = bench.measure(dict(weft=FakeProcess(2.0), iree=Failing(1.0, turns=6)), "b1s16", self.options, 1)
        self.assertRegex(results["iree"]["failed"], "reason")
        self.assertNotIn("ms", results["iree"])
        self.assertIn("ms", results["weft"])

    def test_shares_of_the_peak(self):
        results = dict(weft=dict(ms=2.0), iree=dict(failed="no"))
        weft = type("Weft", (), dict(ask=lambda self, op, case: dict(limit="multiply", amount=1e9)))()
        bench.add_shares(weft, "b1s16", 2, results, dict(multiply=1e12, read=1e9))
        self.assertEqual(results, dict(weft=dict(ms=2.0, of_peak=0.25, limit="multiply"), iree=dict(failed="no")))

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
        with open(os.path.join(ROOT, "tools", "weft", "compile_verbs", "KernelBenchCommand.cpp")) as file:
            listed = file.read().split("kSizes[] = {", 1)[1].split("};", 1)[0]
        there = ["x".join(part.split(", ")) for part in re.findall(r"\{(\d+, \d+, \d+)\}", listed)]
        self.assertEqual(kernels.SIZES.split(","), there)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
