"""Writes FOLDER/llama160m.KIND.gguf with llama.cpp's own quantiser: q4_0, q4_k_m, q6_k, q8_0. Runs in the environment of llamacpp_native.

    python narrow_gguf.py FOLDER
"""
import ctypes
import os
import sys

import llama_cpp

KINDS = {"q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0, "q4_k_m": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M,
         "q6_k": llama_cpp.LLAMA_FTYPE_MOSTLY_Q6_K, "q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0}

llama_cpp.llama_backend_init()
for kind, number in KINDS.items():
    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype = number
    source, target = (os.path.join(sys.argv[1], f"llama160m.{name}.gguf").encode() for name in ("f32", kind))
    if llama_cpp.llama_model_quantize(source, target, ctypes.byref(options)):
        sys.exit(f"error: {kind} cannot be made")
