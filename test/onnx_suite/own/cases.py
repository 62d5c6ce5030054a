"""What a case is, and what cases are made of."""
import zlib

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

NAMES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.float16): "float16",
         np.dtype(ml_dtypes.float8_e8m0fnu): "float8e8m0",
         np.dtype(bool): "bool", np.dtype(np.uint8): "uint8", np.dtype(np.int8): "int8", np.dtype(np.int32): "int32", np.dtype(np.int64): "int64"}
CASES = []


def case(make):
    CASES.append((make.__name__, make))
    return make


def info(name, array, dims):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)


def model_of(nodes, inputs, outputs, opset, constants=()):
    graph = helper.make_graph(nodes, "case", inputs, outputs,
                              [numpy_helper.from_array(array, name) for name, array in constants])
    domains = {"": opset, "com.microsoft": 1}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in domains.items()], ir_version=10)


def node(op, inputs="x", outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def draw(seed, dims):
    return np.random.RandomState(seed & 0xFFFFFFFF).random_sample(dims)


def seed_of(output):
    """Of a node without a seed."""
    return zlib.crc32(output.encode())


def stored(array):
    """As .npy can hold it."""
    return array.view(np.uint8) if array.dtype == ml_dtypes.float8_e8m0fnu else array


class Case:
    """Nodes, the dimensions of inputs by name, data sets of inputs, and how a set's outputs follow (None: the reference)."""

    def __init__(self, nodes, dims, sets, expected=None, opset=22, constants=(), outputs=("y",), tolerance=(1e-6, 1e-7),
                 results=None):
        self.sets, self.tolerance, self.outputs = sets, tolerance, outputs
        inputs = [info(name, sets[0][name], dims[name]) for name in dims]
        declare = lambda arrays: [info(name, array, [None] * array.ndim) for name, array in zip(outputs, arrays)]
        if expected is None:
            loose = model_of(nodes, inputs, [helper.make_empty_tensor_value_info(name) for name in outputs], opset,
                             constants)
            reference = ReferenceEvaluator(loose)
            expected = lambda feeds: reference.run(None, feeds)
        self.expected = [[np.asarray(each, order="C") for each in expected(feeds)] for feeds in sets]
        self.model = model_of(nodes, inputs, declare(self.expected[0]), opset, constants)

    def write(self, folder, name, lines):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, place / "model.onnx")
        for k, (feeds, results) in enumerate(zip(self.sets, self.expected)):
            members = {f"i{i}": stored(array) for i, array in enumerate(feeds.values())}
            members.update({f"o{i}": stored(array) for i, array in enumerate(results)})
            np.savez(place / f"set_{k}.npz", **members)
        operators = ",".join(sorted({each.op_type for each in self.model.graph.node}))
        lines.append(f"case\tweft/{name}\t{name}")
        lines.append(f"operators\t{operators}")
        lines.append(f"tolerance\t{self.tolerance[0]}\t{self.tolerance[1]}")
        lines += [f"input\t{key}\t{NAMES[array.dtype]}" for key, array in self.sets[0].items()]
        lines += [f"output\t{key}\t{NAMES[array.dtype]}" for key, array in zip(self.outputs, self.expected[0])]
        lines.append(f"sets\t{len(self.sets)}")


def reals(*dims, element=np.float32, seed=5):
    return np.random.RandomState(seed).standard_normal(dims).astype(element)


SIZES = [(0, 3), (1, 1), (2, 17), (40, 30)]
LENGTHS = [(0, 3), (1, 1), (2, 17)]


def contrib(op, inputs, outputs="y", **attributes):
    """A dash stands for an input that is left out."""
    result = node(op, inputs, outputs, domain="com.microsoft", **attributes)
    result.input[:] = ["" if name == "-" else name for name in result.input]
    return result
