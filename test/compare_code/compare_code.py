"""tools/compare-code: a compiler is the same as itself, and whatever is changed in a record of it is reported.

    compare_code.py WEFT FOLDER
"""
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEFT, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "lib" / "compare_code"))

import answers
import elf
import suite_constants

TARGET = "x86:v3"
OTHER = "0123456789abcdef"  # a hash
LAYERS, REFUSED = "layers", "refused"
LIST = f"""{LAYERS}\t{ROOT}/test/e2e/verbs/data/layers.mlir
two\t{ROOT}/test/e2e/two.mlir\t--dim\tn=8
cache\t{ROOT}/test/e2e/verbs/data/cache.mlir\t--in-place
{REFUSED}\t{ROOT}/test/e2e/verbs/data/cache.mlir\t--in-place=nothing
"""


def compare_code(*arguments):
    """Exit code and both outputs."""
    command = [sys.executable, ROOT / "tools" / "compare-code", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def record(path, models):
    return compare_code("--record", path, WEFT, "--models", models, "--targets", TARGET, "--answers")


class Records(unittest.TestCase):
    """Everything is compiled once; what a changed compiler would make is written into a copy of its record."""

    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        cls.list, cls.old, cls.new = FOLDER / "models.txt", FOLDER / "old.json", FOLDER / "new.json"
        cls.list.write_text(LIST)
        code, text = record(cls.old, cls.list)
        assert code == 0, text
        cls.content = json.loads(cls.old.read_text())

    def setUp(self):
        self.changed = copy.deepcopy(self.content)
        self.layers = self.changed["models"][LAYERS]["targets"][TARGET]

    def compare(self, *more):
        self.new.write_text(json.dumps(self.changed))
        return compare_code(self.old, self.new, *more)

    def assertReported(self, piece, text):
        code, output = self.compare()
        self.assertEqual(code, 3, output)
        self.assertIn(f"different: {piece}, 1\n  {LAYERS}  {TARGET}: {text}", output)

    def test_a_compiler_is_the_same_as_itself(self):
        code, output = compare_code(self.old, WEFT, "--models", self.list, "--targets", TARGET, "--answers")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"target +models +compiled +refused +identical +explained +different\n"
                                 rf"{TARGET} +4 +3 +1 +4 +0 +0\n$")

    def test_a_changed_byte_of_a_kernel(self):
        kernel = min(self.layers["code"])
        size, digest = self.layers["code"][kernel]
        self.layers["code"][kernel] = [size, OTHER]
        self.assertReported("code", f"{kernel}: {size} B {digest} -> {size} B {OTHER}\n")

    def test_a_kernel_of_another_name_is_listed_once_per_side(self):
        for piece in ("kernels", "code", "work"):
            self.layers[piece]["weft_k_other"] = self.layers[piece].pop(min(self.layers[piece]))
        code, output = self.compare()
        self.assertEqual(code, 3, output)
        self.assertIn("different: kernels, 2\n", output)
        self.assertIn("weft_k_other: only in NEW", output)
        self.assertNotIn("different: code", output)

    def test_a_changed_formula(self):
        self.layers["formulas"]["main.arena"] = OTHER
        self.assertReported("formulas", "main.arena: ")

    def test_a_changed_name_in_the_manifest(self):
        self.layers["manifest"]["producer"] = "weft 0.2.0"
        self.assertReported("manifest", "producer: weft 0.1.0 -> weft 0.2.0")

    def test_bytes_that_no_piece_has(self):
        self.layers["file"][""][1] = OTHER
        self.assertReported("file", "differs, though no other piece does")

    def test_a_refusal_in_other_words(self):
        self.changed["models"][REFUSED]["targets"][TARGET]["outcome"][""] = "exit 1: error: no"
        code, output = self.compare()
        self.assertEqual(code, 3, output)
        self.assertRegex(output, rf"different: outcome, 1\n  {REFUSED}  {TARGET}: exit 1: error.* -> exit 1: error: no\n")

    def test_nothing_is_said_of_a_model_that_took_too_long(self):
        for content in (self.content, self.changed):
            self.assertEqual(list(content["models"][REFUSED]["targets"][TARGET]), ["outcome"])
        self.changed["models"][REFUSED]["targets"][TARGET]["outcome"][""] = "not done within 600 s"
        self.new.write_text(json.dumps(self.changed))
        self.assertEqual(compare_code(self.new, self.new)[0], 3)

    def test_host_code_that_grows_needs_two_reasons(self):
        size, _ = self.layers["host"][""]
        self.layers["host"][""] = [size + 16, OTHER]
        reasons = FOLDER / "reasons.txt"
        reasons.write_text("# why\nhost lay* one loop is unrolled\n")
        code, output = self.compare("--expect", reasons)
        self.assertEqual(code, 3, output)
        self.assertIn(f"explained: host, 1\n  {LAYERS}", output)
        self.assertIn(f"different: larger, 1\n  {LAYERS}  {TARGET}: code of the host: {size} -> {size + 16} B", output)
        reasons.write_text(reasons.read_text() + "larger * it is faster\n")
        self.assertEqual(self.compare("--expect", reasons)[0], 0)

    def test_host_code_that_differs_must_answer_the_same(self):
        size, _ = self.layers["host"][""]
        self.layers["host"][""] = [size, OTHER]
        del self.layers["answers"]
        code, output = self.compare()
        self.assertIn("different: answers, 1\n", output)
        self.assertIn("not compared: both sides need --answers", output)

    def test_a_reason_for_nothing_is_an_error(self):
        reasons = FOLDER / "reasons.txt"
        reasons.write_text("code lay* it was slow\ncode other* of models that are not compared\n")
        code, output = self.compare("--expect", reasons)
        self.assertEqual(code, 3, output)
        self.assertTrue(output.endswith("explains nothing: code lay* it was slow\n"), output)

    def test_a_record_goes_on_where_it_was_interrupted(self):
        self.changed["models"].pop("two")
        self.layers["manifest"]["producer"] = "kept"
        self.new.write_text(json.dumps(self.changed))
        self.assertEqual(record(self.new, self.list)[0], 0)
        models = json.loads(self.new.read_text())["models"]
        self.assertEqual(models["two"], self.content["models"]["two"])
        self.assertEqual(models[LAYERS]["targets"][TARGET]["manifest"]["producer"], "kept")

    def test_a_record_of_another_compiler_is_not_added_to(self):
        self.changed["compiler"] = OTHER
        self.new.write_text(json.dumps(self.changed))
        code, output = record(self.new, self.list)
        self.assertEqual((code, output.splitlines()[0]),
                         (1, f"error: {self.new}: was recorded with another compiler, or with other options"))

    def test_what_cannot_be_read_is_said(self):
        self.new.write_text("[]")
        self.assertEqual(compare_code(self.new, self.old)[1].splitlines()[0], f"error: {self.new}: is no record")
        self.list.with_name("wrong.txt").write_text("only a name\n")
        code, output = record(FOLDER / "third.json", FOLDER / "wrong.txt")
        self.assertEqual((code, output), (1, f"error: {FOLDER}/wrong.txt:1: a name and a path, separated by a tab, are needed\n"))


WEIGHTS = """weft.weight @w from "below/w.bin" at 0 bytes 16 : !weft.tensor<[4], f32>
weft.weight @v from "\\22#v" at 4 bytes 16 : !weft.tensor<[4], f32>
func.func @main(%x: !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %w = weft.constant @w -> !weft.tensor<[4], f32>
  %v = weft.constant @v -> !weft.tensor<[4], f32>
  %0 = weft.mul %x, %w : (!weft.tensor<[n, 4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[n, 4], f32>
  %1 = weft.add %0, %v : (!weft.tensor<[n, 4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[n, 4], f32>
  return %1 : !weft.tensor<[n, 4], f32>
}
{-# external_resources: { weft_weights: { _$22$23v: "000000000000803f0000004000004040000080c0" } } #-}
"""


class ThroughPlan(unittest.TestCase):
    """A compiler whose plans are changed between print and read."""

    @classmethod
    def setUpClass(cls):
        cls.folder = FOLDER.with_name(FOLDER.name + "-plans")
        shutil.rmtree(cls.folder, ignore_errors=True)
        (cls.folder / "below").mkdir(parents=True)
        (cls.folder / "below" / "w.bin").write_bytes(bytes(range(16)))
        (cls.folder / "weights.mlir").write_text(WEIGHTS)
        cls.list = cls.folder / "models.txt"
        cls.list.write_text(f"{LIST}weights\t{cls.folder}/weights.mlir\n")

    def compare(self, models, change=""):
        """`change`: a script of sed."""
        path = self.folder / "weft"
        path.write_text("#!/bin/bash\nset -o pipefail\ncase \"$*\" in\n"
                        f"  *--stop-after*) '{WEFT}' \"$@\" | sed '{change}' ;;\n  *) exec '{WEFT}' \"$@\" ;;\nesac\n")
        path.chmod(0o755)
        return compare_code("--through-plan", WEFT, path, "--models", models, "--targets", TARGET)

    def assertReported(self, change, text):
        code, output = self.compare(self.folder / "weights.mlir", change)
        self.assertEqual(code, 3, output)
        self.assertIn(text, output)

    def test_plans_are_compiled_to_the_same_once_they_were_read(self):
        code, output = self.compare(self.list)
        self.assertEqual(code, 0, output)
        self.assertRegex(output, rf"\n{TARGET} +5 +4 +1 +5 +0 +0\n$")

    def test_a_plan_that_cannot_be_read(self):
        self.assertReported("s/plan.return/plan.back/", "compiled -> exit 1: error[W0201]: MODEL:")

    def test_a_weight_that_the_text_does_not_have(self):
        self.assertReported("/^{-#/,$d", "compiled -> exit 1: error[W0204]: MODEL: weight 'v': ")

    def test_a_plan_that_prints_differently(self):
        self.assertReported("1i // of a model",
                            "compiled -> its plan prints differently: line 1 is '// of a model', and 'module")

    def test_a_plan_that_says_other_than_what_was_compiled(self):
        self.assertReported("s/0000803F/00000040/", "different: weights, 1\n")

    def test_a_record_has_no_plans(self):
        code, output = compare_code("--through-plan", WEFT, "other.json")
        self.assertEqual(code, 2)
        self.assertIn("error: --through-plan asks a command, and 'other.json' is a record\n", output)


class Objects(unittest.TestCase):
    """The code of an object is what is mapped and what that refers to."""

    @classmethod
    def setUpClass(cls):
        folder = FOLDER.with_name(FOLDER.name + "-objects")
        subprocess.run([WEFT, "compile", ROOT / "test" / "e2e" / "two.mlir", "-t", TARGET, "-o", folder / "two.weft", "-q",
                        "--save-temps", folder], check=True)
        cls.host = (folder / "weft_host.o").read_bytes()
        cls.sections = elf.sections_of(cls.host)

    def with_flipped(self, at):
        return self.host[:at] + bytes([self.host[at] ^ 1]) + self.host[at + 1:]

    def place(self, wanted):
        return next(section.offset for section in self.sections if wanted(section) and section.size)

    def test_every_byte_of_code_counts(self):
        at = self.place(lambda section: section.flags & elf.EXECUTABLE)
        self.assertNotEqual(elf.code_of(self.with_flipped(at)), elf.code_of(self.host))

    def test_what_code_refers_to_counts(self):
        at = self.place(lambda section: section.kind == elf.RELA)
        self.assertNotEqual(elf.code_of(self.with_flipped(at)), elf.code_of(self.host))

    def test_the_descriptor_is_left_out_when_asked(self):
        symbol = next(each for each in elf.symbols_of(self.sections) if each[0] == "weft_descriptor")
        changed = self.with_flipped(self.sections[symbol[1]].offset + symbol[2])
        self.assertNotEqual(elf.code_of(changed), elf.code_of(self.host))
        self.assertEqual(elf.code_of(changed, "weft_descriptor"), elf.code_of(self.host, "weft_descriptor"))

    def test_what_is_no_object_is_refused(self):
        for data in (b"", b"MZ", self.host[:100]):
            with self.assertRaises(elf.Malformed):
                elf.code_of(data)


class Suite(unittest.TestCase):
    """A case's small operands are what a model has as constants, but never all of its inputs."""

    def constants(self, **shapes):
        folder = FOLDER.with_name(FOLDER.name + "-suite")
        (folder / "case").mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(folder / "case" / "set_0.npz", "w") as data:
            for i, shape in enumerate(shapes.values()):
                header = repr(dict(descr="<i8", fortran_order=False, shape=shape)).encode()
                data.writestr(f"i{i}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        lines = ["case\tname\tcase", *(f"input\t{name}\tint64" for name in shapes), "sets\t1"]
        (folder / "manifest.txt").write_text("\n".join(lines))
        case, = suite_constants.read(folder / "manifest.txt")
        return [option.partition("=")[0] for option in case.constants(folder / "constants")[1::2]]

    def test_axes_and_scalars_are_constants(self):
        self.assertEqual(self.constants(x=(2, 3), axes=(2,), k=()), ["axes", "k"])

    def test_long_operands_are_none(self):
        self.assertEqual(self.constants(x=(2, 3), y=(17,)), [])

    def test_a_case_of_small_operands_only_stays_as_it_is(self):
        self.assertEqual(self.constants(x=(3,), y=(3,)), [])


class Sizes(unittest.TestCase):
    def test_sizes_are_what_the_symbol_may_be(self):
        symbol = dict(min=2, max=24, multiple=8)
        self.assertEqual([answers.allowed(symbol, size) for size in (1, 19, 100)], [8, 24, 24])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
