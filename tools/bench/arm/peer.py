"""One engine calls one model so many times; runs in the emulated Python of make-peers.

    peer.py ENGINE MODEL FEED.npz OUTPUT CALLS RESULT.npy

The result is the output of the last call; after each, a mark is set for what counts instructions (instructions.c). What an engine converts a model to lies beside it.
"""
import contextlib
import os
import sys

import numpy as np

MARK = 0x77656674


def onnxruntime(model, feed, output):
    import onnxruntime as engine
    options = engine.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = engine.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run([output], feed)[0]


def openvino(model, feed, output):
    import openvino as engine
    # Else it may compute in f16.
    options = {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    core = engine.Core()
    read = core.read_model(model)
    read.reshape({name: list(array.shape) for name, array in feed.items()})
    compiled = core.compile_model(read, "CPU", options)
    return lambda: compiled(feed)[output]


def mnn(model, feed, output):
    from MNN.tools import mnnconvert
    import MNN.expr
    import MNN.nn
    converted = os.path.join(os.path.dirname(sys.argv[-1]), os.path.basename(model) + ".mnn")
    if not os.path.exists(converted):
        sys.argv = ["mnnconvert", "-f", "ONNX", "--modelFile", model, "--MNNModel", converted, "--bizCode", "weft"]
        mnnconvert.main()
    manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
    module = MNN.nn.load_module_from_file(converted, list(feed), [output], runtime_manager=manager)

    def call():
        given = []
        for array in feed.values():
            isInteger = array.dtype == np.int64  # of which it has 32 bits
            var = MNN.expr.placeholder(list(array.shape), MNN.expr.NCHW, MNN.expr.int if isInteger else MNN.expr.float)
            var.write(array.astype(np.int32) if isInteger else array)
            given.append(var)
        return np.array(MNN.expr.convert(module.onForward(given)[0], MNN.expr.NCHW).read())

    return call


def llamacpp(model, feed, _):
    """A file of Q4_0; logits of the last token only."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from engines import llamacpp_engine
    llamacpp_engine.gguf_file = lambda *_: model
    if "LLAMACPP" in os.environ:
        llamacpp_engine.Engine.path = staticmethod(lambda: os.environ["LLAMACPP"])
    engine = llamacpp_engine.Engine("", "", "int4", 1)
    call = engine.bind(feed)
    return lambda: engine.first(call())


def main():
    engine, model, feed, output, calls, result = sys.argv[1:]
    call = {"onnxruntime": onnxruntime, "openvino": openvino, "mnn": mnn, "llamacpp": llamacpp}[engine](model, dict(np.load(feed)), output)
    for _ in range(int(calls)):
        answer = call()
        with contextlib.suppress(ProcessLookupError):
            os.getpgid(MARK)
    np.save(result, answer)


main()
