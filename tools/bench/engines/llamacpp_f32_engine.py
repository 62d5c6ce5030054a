"""llama.cpp with weights in float32, beside engines whose weights are rounded."""
from engines import FILE_OF, llamacpp_engine


class Engine(llamacpp_engine.Engine):
    def __init__(self, work, model, precision, threads):
        super().__init__(work, model, FILE_OF["llamacpp_f32"], threads)
