"""torch.export and AOTInductor: PyTorch's compiler ahead of time, symbolic shapes, frozen weights; in half precision under autocast."""
from engines import artifact, torch_engine


class Engine(torch_engine.Engine):
    @classmethod
    def compile(cls, work, model, precision):
        import torch
        import torch._inductor.config
        import models
        from models.make import arguments, signature
        torch._inductor.config.freezing = True
        net, (feed, shapes, _) = models.build(model), signature(model)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=precision == "half"):
            program = torch.export.export(net, arguments(model, feed), dynamic_shapes=shapes)
            torch._inductor.aoti_compile_and_package(program, package_path=artifact(work, "aotinductor", model, precision))

    def open(self, work, model, precision):
        return self.torch._inductor.aoti_load_package(artifact(work, "aotinductor", model, precision))
