"""The engines that are compared, one file each, imported only in the process that runs it.

A file has a class `Engine`:
    NAMES            what is imported before it is loaded (its time counts as import)
    compile(work, model, precision)     class method; ahead of time, writes artifact(...), a file or a folder; what it returns is
                     kept with the results. None: not needed
    __init__(work, model, precision, threads)
    bind(feed)       a function without arguments that runs one call on these arrays and returns a handle
    first(handle)    the first output of that call as an array
    STATIC           optional: true when it has a program per set of sizes, and so no cell for streams
    REFERENCE        optional: "tokens" when it is judged by the answers that make.py wrote under that name
Its precision is kind(name, precision): the measured one names the group of cells, and an engine may stand there with another.
"""
import importlib
import os
import re

from cases import ENCODERS

# engine: the requirements file of its environment, None for one of tools/test-env
ENGINES = {
    "weft": "base",
    "weft_f32": "base",
    "weft_small": "base",
    "weft_stored": "base",
    "weft_f16": "base",
    "weft_bf16": "base",
    "onnxruntime": "onnxruntime",
    "onnxruntime_int8": "onnxruntime",
    "onnxruntime_dynamic": "onnxruntime",
    "onnxruntime_f32": "onnxruntime",
    "onnxruntime_f16": "onnxruntime",
    "onnxruntime_bf16": "onnxruntime",
    "openvino": "openvino",
    "openvino_f32": "openvino",
    "openvino_nncf": "openvino",
    "openvino_nncf_transformer": "openvino",
    "torch": "torch",
    "aotinductor": "torch",
    "inductor_dynamic": "torch",
    "inductor_static": "torch",
    "iree": "iree",
    "iree_static": "iree",
    "tvm": "tvm",
    "llamacpp": "llamacpp",
    "llamacpp_f32": "llamacpp",
    "llamacpp_f16": "llamacpp",
    "llamacpp_bf16": "llamacpp",
    "llamacpp_native": "llamacpp_native",
    "llamacpp_native_f16": "llamacpp_native",
    "llamacpp_native_bf16": "llamacpp_native",
}
# Engines that stand beside those of a group with a precision of their own: the engine, and that precision.
BESIDE = {
    "weft_f32": ("weft", "f32"),
    "weft_small": ("weft", "small"),
    "weft_stored": ("weft", "half_stored"),
    "weft_f16": ("weft", "model_f16"),
    "weft_bf16": ("weft", "model_bf16"),
    "onnxruntime_int8": ("onnxruntime", "int8"),
    "onnxruntime_dynamic": ("onnxruntime", "dynamic"),
    "onnxruntime_f32": ("onnxruntime", "f32"),
    "onnxruntime_f16": ("onnxruntime", "model_f16"),
    "onnxruntime_bf16": ("onnxruntime", "model_bf16"),
    "openvino_f32": ("openvino", "f32"),
    "openvino_nncf": ("openvino", "nncf"),
    "openvino_nncf_transformer": ("openvino", "nncf_transformer"),
    "llamacpp_f32": ("llamacpp", "f32"),
    "llamacpp_f16": ("llamacpp", "f16"),
    "llamacpp_bf16": ("llamacpp", "bf16"),
    "llamacpp_native_f16": ("llamacpp_native", "f16"),
    "llamacpp_native_bf16": ("llamacpp_native", "bf16"),
}
LLAMACPP = ("llamacpp", "llamacpp_native")
# Who stands beside `weft quantize`: files that other tools made of the same model with the same calls.
QUANTISERS = ("weft_small", "onnxruntime_int8", "onnxruntime_dynamic", "openvino_nncf", "openvino_nncf_transformer")
FOR_ENCODERS = ("onnxruntime_dynamic", "openvino_nncf_transformer", "weft_small")  # what their documentation advises for others is the calibrated form

DEFAULT = ["onnxruntime", "openvino", "aotinductor", "inductor_dynamic", "inductor_static", "iree", "tvm", *LLAMACPP, *BESIDE]
PRECISIONS = {
    "f32": [name for name in ENGINES if name not in BESIDE],
    # The engine rounds the f32 file to 16 bits as it likes; the others stand beside it.
    "half": ["weft", "openvino", "aotinductor", *(name for name in BESIDE if name not in QUANTISERS)],
    "bf16": ["weft", *LLAMACPP, "llamacpp_f32"],  # of weights
    "int8": ["weft", "onnxruntime", "openvino", *LLAMACPP],
    "int4": ["weft", "onnxruntime", "onnxruntime_int8", "openvino", *LLAMACPP],  # of weights
    "quantised": ["weft", "weft_f32", "onnxruntime_f32", *QUANTISERS],
}
ONNX_OF = {"f32": "", "half": "", "half_stored": "", "bf16": "", "f16": "", "quantised": "", "small": ""}  # the endings of precisions whose file is not named after them
ROUNDED_TO = {"half": "bf16", "half_stored": "bf16", "bf16": "bf16", "model_bf16": "bf16", "f16": "f16", "model_f16": "f16"}
NNCF = ("nncf", "nncf_transformer", "nncf_int4")
UNITS = {"bf16": {"avx512_bf16", "amx_bf16"}, "f16": {"avx512_fp16", "amx_fp16"}}  # flags of processors that multiply such numbers
SUFFIX = {"weft": ".weft", "aotinductor": ".pt2", "iree": ".vmfb", "iree_static": ".programs",
          "tvm": ".programs"}


def base(name):
    """The engine that a name stands for: weft of weft_f32."""
    return BESIDE[name][0] if name in BESIDE else name


def kind(name, precision):
    """The precision that the engine of this name has in a group."""
    return BESIDE[name][1] if name in BESIDE else precision


def load(name):
    return importlib.import_module(f"engines.{base(name)}_engine").Engine


def missing_unit(name, precision, flags):
    """What the processor lacks for a cell of the group in half precision, or None."""
    element = ROUNDED_TO.get(kind(name, precision)) if precision == "half" else None
    return f"no unit for {element} here" if element and not UNITS[element] & flags else None


def why(error):
    """An exception as one line, files without their folders; what engines raise themselves needs no name of its kind."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    line = re.sub(r"\S+/(?=[^/\s]+\.onnx\b)", "", line)
    return f"{type(error).__name__}: {line[:300]}".removeprefix("RuntimeError: ")


def supports(name, model, precision):
    if base(name) in LLAMACPP and model != "llama160m":
        return False
    if precision == "quantised" and name in FOR_ENCODERS and model not in ENCODERS:
        return False
    return name in PRECISIONS[precision]


def onnx_file(work, model, precision):
    """Or, of NNCF, OpenVINO's own form."""
    if precision in NNCF:
        return os.path.join(work, "models", f"{model}.{precision}.xml")
    return os.path.join(work, "models", model + ONNX_OF.get(precision, "." + precision) + ".onnx")


def gguf_file(work, model, precision):
    return os.path.join(work, "models", f"{model}.{precision}.gguf")


def artifact(work, name, model, precision):
    """What the engine writes ahead of time, or None."""
    suffix = SUFFIX.get(name)
    return suffix and os.path.join(work, "artifacts", f"{model}.{precision}.{name}{suffix}")


def read_by(work, name, model, precision):
    """The file that the engine loads."""
    name, precision = base(name), kind(name, precision)
    if name in LLAMACPP:
        return gguf_file(work, model, precision)
    return artifact(work, name, model, precision) or onnx_file(work, model, precision)
