"""What is measured: models, the cases of each, and the inputs of a case. Needs only numpy, so every engine can import it;
floats of 16 bits need ml_dtypes, too, which comes with onnx.

    for feed in cases.inputs("minilm", "b1s128"): ...      a feed is {input name: array}
"""
import os
import zlib

CASES = {
    "minilm": ["b1s16", "b1s37", "b1s128", "b3s201", "b8s128", "b32s64", "stream64"],
    "bert_base": ["b1s128"],
    "vit_tiny": ["b1"],
    "gpt2": ["prefill128"],
    "llama160m": ["prefill128", "decode128", "growing32"],
    "resnet50": ["b1", "b8"],
    "mobilenetv2": ["b1"],
    "superres": ["h64w64", "stream16"],
}
# The cases that are many calls of different sizes; one sample is the whole stream.
STREAMS = {"stream64": "64 sentences, 5 to 256 tokens", "growing32": "32 tokens, past 128 to 159",
           "stream16": "16 images, 32x32 to 96x96"}
COLD = {"llama160m": "decode128"}  # the first case of the others
DECODERS = {"gpt2": (12, 12, 64, 50257), "llama160m": (12, 4, 64, 32000)}  # layers, kv heads, head, vocabulary

# Of images of any height and width, and what they give. SplitSR is counted on ARM only.
IMAGES = {"superres": "image_x2", "splitsr": "image_x4"}
ENCODERS = ("minilm", "bert_base")
# What `weft quantize` has to keep of a model whose quantisers are compared; the others' files have the accuracy that they have, which is
# 0.9849 for ResNet-50. Its calls are of one image, so the sizes that count are said.
BUDGET, BUDGETS = "cosine>=0.99", {"minilm": "cosine>=0.9988", "resnet50": "cosine>=0.9849"}
QUANTISE = {"resnet50": ["--at", "batch=1,8"]}

# What a result may differ from float64: the largest error over the largest magnitude, or the cosine.
# Rounding random weights to 4 bits costs more than it would cost trained ones. Where quantisers are compared, accuracy is measured by itself (accuracy.py).
LIMITS = {"f32": ("error", 1e-4), "half": ("cosine", 0.999), "bf16": ("cosine", 0.999), "int8": ("cosine", 0.9),
          "int4": ("cosine", 0.4), "quantised": ("cosine", -1)}
# An encoder's products of 8 bits: the quantised file itself, computed in floats, has 0.81 to 0.85.
# Random weights of CNNs enlarge what rounding to bf16 changes: OpenVINO has 0.994 and 0.996, Weft 0.996 and 0.998.
ROUGHER = {("minilm", "int8"): ("cosine", 0.75), ("bert_base", "int8"): ("cosine", 0.75), ("resnet50", "half"): ("cosine", 0.99),
           ("mobilenetv2", "half"): ("cosine", 0.99)}
# The floats of models that were exported in 16 bits.
FLOATS = {"model_f16": "float16", "model_bf16": "bfloat16"}


def cold_case(model):
    return COLD.get(model, CASES[model][0])


def tokens(random, batch, seq):
    """Sentences of half to full length, padded; the first one is full."""
    import numpy as np
    lengths = random.integers(max(1, seq // 2), seq + 1, batch)
    lengths[0] = seq
    mask = (np.arange(seq)[None, :] < lengths[:, None]).astype(np.int64)
    ids = random.integers(1000, 30000, (batch, seq)) * mask
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros((batch, seq), np.int64)}


def decoder(random, model, seq, past, batch=1):
    import numpy as np
    layers, heads, size, vocabulary = DECODERS[model]
    feed = {"input_ids": random.integers(0, vocabulary, (batch, seq))}
    for i in range(layers):
        for kind in ("key", "value"):
            feed[f"past_{kind}_{i}"] = random.standard_normal((batch, heads, past, size), np.float32)
    return feed


def image(random, batch, height=224, width=224):
    import numpy as np
    return {"image": random.standard_normal((batch, 3, height, width), np.float32)}


def numbers(case):
    """b3s201 -> [3, 201]"""
    return [int(word) for word in "".join(c if c.isdigit() else " " for c in case).split()]


def inputs(model, case, precision="f32"):
    """The feeds of a case for a file in this precision: one, or many where the case is a stream."""
    feeds = feeds_of(model, case)
    return [narrowed(feed, FLOATS[precision]) for feed in feeds] if precision in FLOATS else feeds


def narrowed(feed, floats):
    """A feed whose floats are of this type."""
    import ml_dtypes  # from which numpy knows bfloat16
    return {name: array.astype(floats) if array.dtype == "float32" else array for name, array in feed.items()}


def feeds_of(model, case):
    import numpy as np
    random = np.random.default_rng(zlib.crc32(f"{model} {case}".encode()))
    sizes = numbers(case)
    if case == "stream64":  # skewed to the short side, as real text is
        lengths = np.clip(np.exp(random.normal(3.6, 0.7, 64)).astype(int), 5, 256)
        return [tokens(random, 1, int(length)) for length in lengths]
    if case == "growing32":
        return [decoder(random, model, 1, past) for past in range(128, 160)]
    if case == "stream16":
        return [image(random, 1, int(h), int(w)) for h, w in random.integers(32, 97, (16, 2))]
    if model in DECODERS:
        return [decoder(random, model, sizes[0], 0) if case.startswith("prefill")
                else decoder(random, model, 1, sizes[0])]
    if model in IMAGES:
        return [image(random, 1, *sizes)]
    return [tokens(random, *sizes) if len(sizes) == 2 else image(random, *sizes)]


def prefix(vocabulary, past):
    """The tokens of a past, for an engine that computes its keys and values itself."""
    return [7 * i % vocabulary for i in range(past)]


def references(folder, model, case, kind="reference"):
    """The first output of every step in float64, as models/make.py wrote it."""
    import numpy as np
    if kind == "tokens" and case.startswith("prefill"):
        kind = "reference"  # without a past there is no difference
    with np.load(os.path.join(folder, f"{model}.{case}.{kind}.npz")) as file:
        return [file[f"step{i}"] for i in range(len(file.files))]


def judge(got, expected, model, precision):
    """{"error", "cosine", "right"}; error is over the largest magnitude of the reference."""
    import numpy as np
    a, b = got.astype(np.float64).ravel(), expected.ravel()
    if got.shape != expected.shape:
        return dict(error=float("inf"), cosine=0.0, right=False)
    error = float(np.abs(a - b).max() / np.abs(b).max())
    cosine = float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-300))
    group = "half" if precision in FLOATS or precision == "half_stored" else precision
    kind, limit = ROUGHER.get((model, group), LIMITS[group])
    right = error <= limit if kind == "error" else cosine >= limit  # a NaN is never right
    return dict(error=error, cosine=cosine, right=bool(right))
