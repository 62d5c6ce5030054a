"""torch.compile(dynamic=False): compiled at the first call with new sizes, frozen weights."""
from engines import inductor_dynamic_engine


class Engine(inductor_dynamic_engine.Engine):
    DYNAMIC = False
    STATIC = True
