"""llama.cpp on a GGUF file of the same weights (models/gguf_file.py): float32, or Q8_0 as int8.

Its cache cannot be given keys and values, so with a past it holds those of the tokens cases.prefix(); models/make.py wrote
the answers that belong to them.
"""
import ctypes

import numpy as np

from engines import gguf_file


class Engine:
    NAMES = ["llama_cpp"]
    REFERENCE = "tokens"
    compile = None

    def __init__(self, work, model, precision, threads):
        import llama_cpp
        self.library = library = llama_cpp
        self.silent = library.llama_log_callback(lambda *line: None)
        library.llama_log_set(self.silent, None)
        library.llama_backend_init()
        self.model = library.llama_model_load_from_file(gguf_file(work, model, precision).encode(),
                                                        library.llama_model_default_params())
        options = library.llama_context_default_params()
        options.n_ctx, options.n_batch, options.n_ubatch = 1024, 512, 512
        options.n_threads, options.n_threads_batch, options.no_perf = threads, threads, True
        self.context = library.llama_init_from_model(self.model, options)
        self.vocabulary = library.llama_vocab_n_tokens(library.llama_model_get_vocab(self.model))
        self.cached = 0  # tokens in the cache

    def decode(self, tokens):
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        if self.library.llama_decode(self.context, self.library.llama_batch_get_one(array, len(tokens))):
            raise RuntimeError("llama_decode failed")
        self.cached += len(tokens)

    def bind(self, feed):
        from cases import prefix
        tokens, past = [int(token) for token in feed["input_ids"][0]], feed["past_key_0"].shape[2]

        def call():
            if self.cached != past:
                self.library.llama_memory_seq_rm(self.library.llama_get_memory(self.context), 0, past, -1)
                self.cached = min(self.cached, past)
                if self.cached < past:
                    self.decode(prefix(self.vocabulary, past)[self.cached:])
            self.decode(tokens)
            return self.library.llama_get_logits_ith(self.context, -1)
        return call

    def first(self, logits):
        return np.ctypeslib.as_array(logits, (self.vocabulary,)).copy()[None, None]
