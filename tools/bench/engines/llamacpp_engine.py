"""llama.cpp on a GGUF file of the same weights (models/gguf_file.py): F32, F16, BF16, Q8_0 as int8, Q4_0 as int4.

Through the C functions in the library of the package xllamacpp. That build knows AVX2 only: ggml reports its instructions, and
no other backend comes with it. Its cache cannot be given keys and values, so with a past it holds those of the tokens
cases.prefix(); models/make.py wrote the answers that belong to them. The cache is in float16 and attention is llama.cpp's choice, but for
F32, where neither rounds. Its threads are those of OpenMP: they stay between calls, and wait awake for a while, as other engines' do.
"""
import ctypes as c
import glob
import importlib.util
import os

import numpy as np

from engines import gguf_file

CONTEXT = 1024  # tokens
F32, F16 = 0, 1  # of ggml's types
AUTOMATIC = 2**32 - 1  # flash attention


class Parameters(c.Structure):
    """Parameters by value. More bytes than any version has: defaults are written into it, and who reads it reads the front."""
    _fields_ = [("words", c.c_uint32 * 256)]


class Batch(c.Structure):
    _fields_ = [("count", c.c_int32), ("tokens", c.c_void_p), ("embeddings", c.c_void_p), ("positions", c.c_void_p),
                ("sequences", c.c_void_p), ("sequence_ids", c.c_void_p), ("logits", c.c_void_p)]


Log = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)
SIGNATURES = {
    "llama_log_set": (None, Log, c.c_void_p),
    "llama_model_default_params": (Parameters,),
    "llama_context_default_params": (Parameters,),
    "llama_model_load_from_file": (c.c_void_p, c.c_char_p, Parameters),
    "llama_init_from_model": (c.c_void_p, c.c_void_p, Parameters),
    "llama_set_n_threads": (None, c.c_void_p, c.c_int32, c.c_int32),
    "llama_model_get_vocab": (c.c_void_p, c.c_void_p),
    "llama_vocab_n_tokens": (c.c_int32, c.c_void_p),
    "llama_n_ctx": (c.c_uint32, c.c_void_p),
    "llama_batch_get_one": (Batch, c.c_void_p, c.c_int32),
    "llama_decode": (c.c_int32, c.c_void_p, Batch),
    "llama_get_logits_ith": (c.POINTER(c.c_float), c.c_void_p, c.c_int32),
    "llama_get_memory": (c.c_void_p, c.c_void_p),
    "llama_memory_seq_rm": (c.c_bool, c.c_void_p, c.c_int32, c.c_int32, c.c_int32),
}


def library(path):
    loaded = c.CDLL(path)
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


class Engine:
    NAMES = []
    REFERENCE = "tokens"
    compile = None

    @staticmethod
    def path():
        return glob.glob(os.path.join(os.path.dirname(importlib.util.find_spec("xllamacpp").origin), "*.so"))[0]

    def __init__(self, work, model, precision, threads):
        self.lib = lib = library(self.path())
        self.silent = Log(lambda *line: None)
        lib.llama_log_set(self.silent, None)
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(gguf_file(work, model, precision).encode(), lib.llama_model_default_params())
        if not self.model:
            raise RuntimeError("the GGUF file cannot be loaded")
        options = lib.llama_context_default_params()
        words = options.words
        if [*words[:3], words[13], *words[26:28]] != [512, 2048, 512, AUTOMATIC, F16, F16]:
            raise RuntimeError("this version of llama.cpp has other parameters")
        words[0] = CONTEXT
        if precision == "f32":
            words[13], words[26], words[27] = 0, F32, F32  # no flash attention, which rounds; keys and values of the cache
        self.context = lib.llama_init_from_model(self.model, options)
        if not self.context or lib.llama_n_ctx(self.context) != CONTEXT:
            raise RuntimeError("no context of this size can be made")
        lib.llama_set_n_threads(self.context, threads, threads)
        self.vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))
        self.cached = 0  # tokens in the cache

    def decode(self, tokens):
        if self.lib.llama_decode(self.context, self.lib.llama_batch_get_one(tokens, len(tokens))):
            raise RuntimeError("llama_decode failed")
        self.cached += len(tokens)

    def bind(self, feed):
        from cases import prefix
        make = lambda numbers: (c.c_int32 * len(numbers))(*numbers)
        tokens, past = make([int(token) for token in feed["input_ids"][0]]), feed["past_key_0"].shape[2]
        before, self.cached = prefix(self.vocabulary, past), -1  # what lies in the cache belongs to another case

        def call():
            if self.cached != past:
                self.cached = max(0, min(self.cached, past))
                self.lib.llama_memory_seq_rm(self.lib.llama_get_memory(self.context), 0, self.cached, -1)
                if self.cached < past:
                    self.decode(make(before[self.cached:]))
            self.decode(tokens)
            return self.lib.llama_get_logits_ith(self.context, -1)
        return call

    def walk(self, sequence, past):
        """The logits behind each token of a sequence that follows the first `past`."""
        make = lambda numbers: (c.c_int32 * len(numbers))(*map(int, numbers))
        self.lib.llama_memory_seq_rm(self.lib.llama_get_memory(self.context), 0, 0, -1)
        self.decode(make(sequence[:past]))
        steps = []
        for token in sequence[past:]:
            self.decode(make([token]))
            steps.append(self.first(self.lib.llama_get_logits_ith(self.context, -1))[0, 0])
        self.cached = -1
        return np.stack(steps)

    def first(self, logits):
        return np.ctypeslib.as_array(logits, (self.vocabulary,)).copy()[None, None]
