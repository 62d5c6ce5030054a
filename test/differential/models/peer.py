"""ONNX Runtime on the CPU, without its optimiser."""
import numpy as np
import onnx
import onnxruntime
from onnx import AttributeProto, TensorProto, helper, numpy_helper

#: Opsets of the models: those that exporters wrote, and rather newer ones, which have more operators.
OPSETS = (9, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 20, 21, 22, 23, 24, 24, 23)
TYPE_NAMES = {np.dtype(np.float16): "float16", np.dtype(np.float32): "float", np.dtype(np.float64): "double",
              np.dtype(bool): "bool", **{np.dtype(name): name for name in
                                         ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}}
WIDENED = (TensorProto.FLOAT, TensorProto.FLOAT16)
#: Attributes that name an element type.
TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")

onnxruntime.set_default_logger_severity(4)


class Refused(Exception):
    """ONNX Runtime does not run it."""


def model_of(graph, opset):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)],
                             ir_version=8 if opset <= 17 else 10)


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # its binding has a class for each status, without a common one
        raise Refused(str(problem)) from None


def run(session, feeds):
    try:
        return session.run(None, feeds)
    except Exception as problem:
        raise Refused(str(problem)) from None


def info(name, array, dims=None):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                         [None] * array.ndim if dims is None else dims)


def piece_model(nodes, read, outputs, tensors, opset):
    """What is constant stays so: some kernels ask for that."""
    constants = [numpy_helper.from_array(each.native[0], each.name) for each in read if each.constant]
    inputs = [info(each.name, each.native[0]) for each in read if not each.constant]
    graph = helper.make_graph(nodes, "piece", inputs, [onnx.ValueInfoProto(name=name) for name in outputs],
                              constants + list(tensors))
    return model_of(graph, opset)


def run_piece(nodes, read, outputs, tensors, opset, sizes):
    """Each output at each size, in its own types, and in double precision where ONNX Runtime can."""
    model = piece_model(nodes, read, outputs, tensors, opset)
    session = session_of(model)
    fed = [each for each in read if not each.constant]
    native = [run(session, {each.name: each.native[at] for each in fed}) for at in range(sizes)]
    try:
        twin = session_of(widened(model))
        wide = [run(twin, {each.name: each.wide[at] for each in fed}) for at in range(sizes)]
    except Refused:  # the same kernels on numbers that were computed in double until here
        wide = [run(session, {each.name: each.wide[at].astype(each.element) for each in fed}) for at in range(sizes)]
    return [[np.asarray(result[i]) for result in native] for i in range(len(outputs))], \
           [[np.asarray(result[i], np.float64 if result[i].dtype.kind == "f" else None) for result in wide]
            for i in range(len(outputs))]


def widened(model):
    """Double in the place of every float and float16."""
    twin = onnx.ModelProto()
    twin.CopyFrom(model)
    widen_graph(twin.graph)
    return twin


def widen_graph(graph):
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type in WIDENED:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            widen_attribute(attribute)


def widen_attribute(attribute):
    if attribute.type == AttributeProto.GRAPH:
        widen_graph(attribute.g)
    elif attribute.type == AttributeProto.TENSOR:
        widen_tensor(attribute.t)
    elif attribute.name in TYPE_ATTRIBUTES and attribute.i in WIDENED:
        attribute.i = TensorProto.DOUBLE


def widen_tensor(tensor):
    if tensor.data_type in WIDENED:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
