"""Writes the cases of the installed onnx package's backend test suite as files that onnx_suite_test reads.

    python export_cases.py FOLDER KIND... [--skip MANIFEST]

FOLDER gets one folder per case, KIND/NAME/model.onnx with set_0.npz, set_1.npz, …, and FOLDER/manifest.txt. A data set
has members i0, i1, … and o0, o1, … in the order of the manifest. Element types that .npy lacks travel as `weft run`
stores them: bfloat16 as uint16, floats of 8 bits and fewer as uint8, integers of 4 and 2 bits as int8 or uint8, one per
byte.

The manifest has one record per case; fields are separated by tabs:

    case       NAME    FOLDER        name is VERSION/KIND/NAME; FOLDER is relative to the manifest
    key        HASH                  equal for cases with equal graphs; a graph has the name of its case
    opset      N                     of the default domain
    operator   NAME                  the one under test
    operators  NAME,NAME,…           all of the graph, without those inside functions
    tolerance  RTOL    ATOL
    input      NAME    TYPE          tensors: ONNX's name of the element type; then what --constant may replace
    output     NAME    TYPE
    sets       N
    edge       REASON                why the data cannot be given as tensors; then there are no sets

--skip leaves out the cases whose key is in another manifest: the newer package has corrected some data.
"""
import argparse
import hashlib
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

BITS = {TensorProto.BFLOAT16: np.uint16}
BITS.update({getattr(TensorProto, name): np.uint8
             for name in ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0",
                          "FLOAT6E2M3", "FLOAT6E3M2")
             if hasattr(TensorProto, name)})
PACKED = {getattr(TensorProto, name): (bits, signed)
          for name, bits, signed in (("UINT4", 4, False), ("INT4", 4, True), ("FLOAT4E2M1", 4, False),
                                     ("UINT2", 2, False), ("INT2", 2, True))
          if hasattr(TensorProto, name)}
COMPLEX = (TensorProto.COMPLEX64, TensorProto.COMPLEX128)
# Data of 1.16 that later releases corrected; the operator's next version, which only adds element types, has the right ones.
CORRECTED = {"1.16.2/node/test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True"}
PLUMBING = {"Constant", "Identity"}


def type_name(element):
    return TensorProto.DataType.Name(element).lower()


def values_of(tensor):
    """A TensorProto as an array that .npy can hold."""
    element, shape = tensor.data_type, tuple(tensor.dims)
    if element in PACKED:
        bits, signed = PACKED[element]
        data = np.frombuffer(tensor.raw_data, np.uint8) if tensor.HasField("raw_data") \
            else np.array(tensor.int32_data, np.int64).astype(np.uint8)
        per_byte = 8 // bits
        values = np.stack([(data >> (bits * i)) & (2 ** bits - 1) for i in range(per_byte)], axis=-1).reshape(-1)
        values = values[:int(np.prod(shape, dtype=np.int64))].astype(np.int16)
        if signed:
            values = np.where(values >= 2 ** (bits - 1), values - 2 ** bits, values)
        return values.astype(np.int8 if signed else np.uint8).reshape(shape)
    if element in BITS:
        kind = BITS[element]
        data = np.frombuffer(tensor.raw_data, kind) if tensor.HasField("raw_data") \
            else np.array(tensor.int32_data, np.int64).astype(kind)
        return data.reshape(shape)
    return numpy_helper.to_array(tensor)


def edge_reason(value_info):
    """Why an input or output is not a tensor that .npy can hold, or None."""
    kind = value_info.type.WhichOneof("value")
    if kind != "tensor_type":
        return (kind or "unknown").removesuffix("_type")
    element = value_info.type.tensor_type.elem_type
    if element == TensorProto.STRING:
        return "string"
    return "complex" if element in COMPLEX else None


def load(case):
    """The model, and its data sets as lists of TensorProto; None for sets of other things."""
    if case.model is not None:
        sets = case.data_sets

        def tensors(values):
            return [value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value))
                    for value in values]

        return case.model, lambda: [(tensors(i), tensors(o)) for i, o in sets]
    folder = pathlib.Path(case.model_dir)

    def read(path):
        tensor = TensorProto()
        tensor.ParseFromString(path.read_bytes())
        return tensor

    def sets():
        result = []
        for data in sorted(folder.glob("test_data_set_*"), key=lambda p: int(p.name.rsplit("_", 1)[1])):
            lists = []
            for part in ("input", "output"):
                files = sorted(data.glob(part + "_*.pb"), key=lambda p: int(p.stem.rsplit("_", 1)[1]))
                lists.append([read(path) for path in files])
            result.append(tuple(lists))
        return result

    return onnx.load(folder / "model.onnx"), sets


def operators_of(graph, into):
    for node in graph.node:
        name = node.op_type if node.domain in ("", "ai.onnx") else node.domain + "::" + node.op_type
        into.append(name)
        for attribute in node.attribute:
            for each in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                operators_of(each, into)
    return into


def operator_under_test(name, operators):
    """The one that the name of the case contains; the longest when there are several, the first when there are none."""
    plain = name.replace("_", "").lower()
    named = [op for op in operators if op.split("::")[-1].lower() in plain]
    others = [op for op in operators if op not in PLUMBING]
    return max(named, key=len) if named else (others or operators or ["none"])[0]


def model_inputs(model, count):
    """The inputs that data sets give: initializers are inputs, too, in old models."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    free = [value for value in model.graph.input if value.name not in initialized]
    return free if count is None or len(free) == count else list(model.graph.input)[:count]


def key_of(model):
    """Of the meaning: the version of the file format and the producer do not count."""
    digest = hashlib.sha256(model.graph.SerializeToString(deterministic=True))
    for opset in sorted((opset.domain, opset.version) for opset in model.opset_import):
        digest.update(repr(opset).encode())
    for function in model.functions:
        digest.update(function.SerializeToString(deterministic=True))
    return digest.hexdigest()[:32]


class Exporter:
    def __init__(self, folder, skipped):
        self.folder, self.skipped, self.lines, self.left_out = folder, skipped, [], 0
        self.tested = {}  # operator under test by name of the case

    def operator(self, name, operators):
        whole = name.split("_expanded")[0]
        if whole == name or whole not in self.tested:
            return operator_under_test(name, operators)
        return self.tested[whole]

    def export(self, kind, case):
        model, load_sets = load(case)
        reasons = [edge_reason(value) for value in list(model.graph.input) + list(model.graph.output)]
        reason = next((each for each in reasons if each), None)
        sets = [] if reason else [([values_of(t) for t in i], [values_of(t) for t in o]) for i, o in load_sets()]
        operators = sorted(set(operators_of(model.graph, [])))
        operator = self.tested[case.name] = self.operator(case.name, operators)
        key = key_of(model)
        if key in self.skipped or f"{onnx.__version__}/{kind}/{case.name}" in CORRECTED:
            self.left_out += 1
            return
        place = self.folder / kind / case.name
        place.mkdir(parents=True, exist_ok=True)
        (place / "model.onnx").write_bytes(model.SerializeToString())
        for i, (inputs, outputs) in enumerate(sets):
            members = {f"i{k}": array for k, array in enumerate(inputs)}
            members.update({f"o{k}": array for k, array in enumerate(outputs)})
            np.savez(place / f"set_{i}.npz", **members)
        opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
        write = lambda *fields: self.lines.append("\t".join(str(field) for field in fields))
        write("case", f"{onnx.__version__}/{kind}/{case.name}", f"{kind}/{case.name}")
        write("key", key)
        write("opset", opset)
        write("operator", operator)
        write("operators", ",".join(operators))
        write("tolerance", case.rtol, case.atol)
        for value in model_inputs(model, len(sets[0][0]) if sets else None):
            write("input", value.name, type_name(value.type.tensor_type.elem_type))
        for value in model.graph.output:
            write("output", value.name, type_name(value.type.tensor_type.elem_type))
        write("sets", len(sets))
        if reason:
            write("edge", reason)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--skip", type=pathlib.Path)
    options = parser.parse_args()
    skipped = set()
    if options.skip:
        skipped = {line.split("\t")[1] for line in options.skip.read_text().splitlines() if line.startswith("key\t")}
    exporter = Exporter(options.folder, skipped)
    for kind in options.kinds:
        cases = load_model_tests(kind=kind)
        for case in sorted(cases, key=lambda case: (case.name.find("_expanded") >= 0, case.name)):
            exporter.export(kind, case)
    (options.folder / "manifest.txt").write_text("\n".join(exporter.lines) + "\n")
    print(f"{onnx.__version__}: {sum(line.startswith('case') for line in exporter.lines)} cases, "
          f"{exporter.left_out} known already")


main()
