"""PyTorch, eager, on the module that the ONNX file was exported from."""


class Engine:
    NAMES = ["torch"]
    compile = None

    def __init__(self, work, model, precision, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.name = torch, model
        self.net = self.open(work, model, precision)

    def open(self, work, model, precision):
        import models
        return models.build(model)

    def bind(self, feed):
        from models.make import arguments
        values, net, mode = arguments(self.name, feed), self.net, self.mode

        def call():
            with mode():
                return net(*values)
        return call

    def mode(self):
        return self.torch.inference_mode()

    def first(self, result):
        return (result[0] if isinstance(result, (tuple, list)) else result).float().numpy()  # numpy knows no bfloat16
