"""llama.cpp built for this machine from the sources of the package llama-cpp-python: it has the instructions that the processor has."""
import importlib.util
import os

from engines import llamacpp_engine


class Engine(llamacpp_engine.Engine):
    @staticmethod
    def path():
        return os.path.join(os.path.dirname(importlib.util.find_spec("llama_cpp").origin), "lib", "libllama.so")
