"""OpenVINO's CPU plugin on the ONNX file, held to float32 but in half precision: left alone it may choose bfloat16. What NNCF quantised runs as
it comes, with the best units of the processor."""
import numpy as np

from engines import NNCF, onnx_file


class Engine:
    NAMES = ["openvino"]
    compile = None

    def __init__(self, work, model, precision, threads):
        import openvino
        self.library = openvino
        core = openvino.Core()
        options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1}
        if precision not in ("half", *NNCF):
            options["INFERENCE_PRECISION_HINT"] = "f32"
        self.model = core.compile_model(core.read_model(onnx_file(work, model, precision)), "CPU", options)
        self.inputs = [port.get_any_name() for port in self.model.inputs]

    def bind(self, feed):
        request = self.model.create_infer_request()
        tensor = lambda array: self.library.Tensor(np.ascontiguousarray(array), shared_memory=bool(array.size))
        keep = {name: tensor(feed[name]) for name in self.inputs}

        def call():
            for name, value in keep.items():
                request.set_tensor(name, value)
            request.infer()
            return request
        return call

    def first(self, request):
        return np.array(request.get_output_tensor(0).data)
