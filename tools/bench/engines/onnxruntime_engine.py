"""ONNX Runtime on the ONNX file, inputs and outputs bound once."""
import numpy as np

from engines import onnx_file


class Engine:
    NAMES = ["onnxruntime"]
    compile = None

    def __init__(self, work, model, precision, threads):
        import onnxruntime
        self.library = onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(onnx_file(work, model, precision), options, ["CPUExecutionProvider"])
        self.inputs = [value.name for value in self.session.get_inputs()]

    def bind(self, feed):
        binding, session = self.session.io_binding(), self.session
        keep = [self.library.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(feed[name])) for name in self.inputs]
        for name, value in zip(self.inputs, keep):
            binding.bind_ortvalue_input(name, value)
        for value in session.get_outputs():
            binding.bind_output(value.name, "cpu")

        def call(keep=keep):
            session.run_with_iobinding(binding)
            return binding
        return call

    def first(self, binding):
        return binding.get_outputs()[0].numpy()
