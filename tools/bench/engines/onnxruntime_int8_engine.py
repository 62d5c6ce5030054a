"""ONNX Runtime with weights and activations of 8 bits, beside engines that have weights of 4 bits."""
from engines import FILE_OF, onnxruntime_engine


class Engine(onnxruntime_engine.Engine):
    def __init__(self, work, model, precision, threads):
        super().__init__(work, model, FILE_OF["onnxruntime_int8"], threads)
