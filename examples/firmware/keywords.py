"""Writes a network of the size that spots keywords on microcontrollers, with weights of noise: keywords.py FILE.onnx

    mfcc f32[1, 1, 49, 10] -> convolution 10x4, four times depthwise 3x3 and 1x1, 64 channels, mean, 12 scores
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

CHANNELS, WORDS = 64, 12


def network():
    random, nodes, weights = np.random.default_rng(12), [], []

    def weight(*dims):
        name = f"w{len(weights)}"
        noise = random.normal(0, 1 / np.sqrt(max(1, np.prod(dims[1:]))), dims)
        weights.append(onnx.numpy_helper.from_array(noise.astype(np.float32), name))
        return name

    def add(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def conv(x, filters, channels, kernel, **attributes):
        return add("Relu", add("Conv", x, weight(filters, channels, *kernel), weight(filters), **attributes))

    x = conv("mfcc", CHANNELS, 1, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1])
    for _ in range(4):
        x = conv(x, CHANNELS, 1, (3, 3), group=CHANNELS, pads=[1] * 4)
        x = conv(x, CHANNELS, CHANNELS, (1, 1))
    x = add("Gemm", add("Flatten", add("GlobalAveragePool", x)), weight(CHANNELS, WORDS), weight(WORDS))
    nodes.append(helper.make_node("Softmax", [x], ["scores"], axis=1))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "keywords", [info("mfcc", TensorProto.FLOAT, [1, 1, 49, 10])],
                              [info("scores", TensorProto.FLOAT, [1, WORDS])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    onnx.save(network(), sys.argv[1])
