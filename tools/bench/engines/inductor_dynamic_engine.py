"""torch.compile(dynamic=True): compiled at the first call, with sizes as symbols as far as the tracer keeps them, frozen weights."""
from engines import torch_engine

MOST_PROGRAMS = 100  # then a call fails instead of running eagerly


class Engine(torch_engine.Engine):
    DYNAMIC = True

    def open(self, work, model, precision):
        import torch._dynamo.config
        import torch._inductor.config
        torch._inductor.config.freezing = True
        torch._dynamo.config.recompile_limit = MOST_PROGRAMS
        torch._dynamo.config.fail_on_recompile_limit_hit = True
        return self.torch.compile(super().open(work, model, precision), dynamic=self.DYNAMIC, fullgraph=True)

    def mode(self):
        return self.torch.no_grad()  # what freezing asks for
