"""What the benchmark keeps between runs: models, float64 answers and artifacts, in the cache (or in WEFT_BENCH_DIR)."""
import hashlib
import json
import os
import subprocess
import time

import cases
import engines
import environment
import processes

HERE = environment.HERE
QUANTISED = ("quantised", "small")  # kinds that Weft makes with the calls
SENTENCES = 928  # 128 to calibrate with, and 800 others


def folder():
    work = os.environ.get("WEFT_BENCH_DIR") or os.path.join(environment.CACHE, "bench")
    for part in ("models", "artifacts"):
        os.makedirs(os.path.join(work, part), exist_ok=True)
    return work


def environ(work, threads=1):
    values = dict(OMP_NUM_THREADS=str(threads), TVM_NUM_THREADS=str(threads), TORCHINDUCTOR_CACHE_DIR=os.path.join(work, "inductor"),
                  WEFT_BENCH_BUILD=os.environ.get("WEFT_BENCH_BUILD", os.path.join(environment.ROOT, "build", "release")),
                  CXX=os.environ.get("CXX", "g++"))
    if "WEFT_BENCH_MINILM" not in os.environ:
        os.environ["WEFT_BENCH_MINILM"] = environment.tool("fetch-model")
    return dict(os.environ, **values)


def worker(work, name, model, precision, threads, *more):
    python = environment.python(engines.ENGINES[name])
    return [python, os.path.join(HERE, "worker.py"), name, model, precision, str(threads), work, *more]


def digest(*paths):
    value = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            value.update(file.read())
    return value.hexdigest()


def fresh(stamp, key):
    if not os.path.exists(stamp):
        return False
    with open(stamp) as file:
        return json.load(file)["key"] == key


def keep(stamp, key, **what):
    with open(stamp, "w") as file:
        json.dump(dict(what, key=key), file)


def make(work, model, precision, names):
    """The ONNX file and the float64 answers, unless they are there and their sources unchanged."""
    models = os.path.join(work, "models")
    sources = [os.path.join(HERE, "models", name) for name in sorted(os.listdir(os.path.join(HERE, "models")))
               if name.endswith(".py")] + [os.path.join(HERE, "cases.py")]
    key, stamp = digest(*sources), os.path.join(models, model + ".json")
    if not fresh(stamp, key):
        script = os.path.join(HERE, "models", "make.py")
        subprocess.run([environment.python("torch"), script, models, model], check=True, env=environ(work, os.cpu_count()))
        keep(stamp, key)
    used = [name for name in names if engines.supports(name, model, precision)]
    if any(engines.base(name) in engines.LLAMACPP for name in used):
        gguf(work, model, key)
    for kind in dict.fromkeys([precision, *(engines.kind(name, precision) for name in used)]):
        if kind in cases.FLOATS:
            export(work, model, kind, key)
        elif kind not in engines.ONNX_OF:
            quantise(work, model, kind, key)
        if kind == "quantised":
            write_calls(work, model, key)


def export(work, model, precision, key):
    """The ONNX file with the same weights in 16 bits."""
    models = os.path.join(work, "models")
    stamp = os.path.join(models, f"{model}.{precision}.json")
    if not fresh(stamp, key):
        script = os.path.join(HERE, "models", "make.py")
        subprocess.run([environment.python("torch"), script, models, model, precision], check=True, env=environ(work, os.cpu_count()))
        keep(stamp, key)


def gguf(work, model, key):
    script = os.path.join(HERE, "models", "gguf_file.py")
    key, stamp = key + digest(script), os.path.join(work, "models", f"{model}.gguf.json")
    if not fresh(stamp, key):
        packages = os.path.join(os.path.dirname(os.path.dirname(environment.python("llamacpp"))), "lib")
        packages = os.path.join(packages, next(os.scandir(packages)).name, "site-packages")
        subprocess.run([environment.python("torch"), script, os.path.join(work, "models"), model], check=True,
                       env=dict(environ(work), GGUF_PATH=packages))
        keep(stamp, key)


def quantise(work, model, precision, key):
    tool, name = ("nncf", "nncf_file.py") if precision in engines.NNCF else ("onnxruntime", "quantise.py")
    script = os.path.join(HERE, name)
    if model not in cases.DECODERS:
        write_calls(work, model, key)
    key, stamp = key + digest(script, os.path.join(HERE, "calls.py"), os.path.join(HERE, "sentences.py")), os.path.join(work, "models", f"{model}.{precision}.json")
    if not fresh(stamp, key):
        begin = time.perf_counter()
        subprocess.run([environment.python(tool), script, os.path.join(work, "models"), model, precision], check=True,
                       env=environ(work))
        keep(stamp, key, made_s=round(time.perf_counter() - begin, 1))


def write_calls(work, model, key):
    """What quantisers are calibrated with, and what their files are judged by."""
    script, sentences = (os.path.join(HERE, name) for name in ("calls.py", "sentences.py"))
    models, key = os.path.join(work, "models"), key + digest(script, sentences)
    stamp = os.path.join(models, model + ".calls.json")
    if not fresh(stamp, key):
        if model in cases.ENCODERS:
            subprocess.run([environment.python("torch"), sentences, environ(work)["WEFT_BENCH_MINILM"],
                            os.path.join(models, "sentences.npz"), str(SENTENCES)], check=True)
        subprocess.run([environment.python("onnxruntime"), script, models, model], check=True, env=environ(work))
        keep(stamp, key)


def engine_sources(name):
    """The files of which an engine consists here: an ahead-of-time program is as old as they are."""
    folder = os.path.join(HERE, "engines")
    more = {"iree_static": ["iree_engine.py", "per_shape.py"], "tvm": ["per_shape.py"]}
    packages = [os.path.join(HERE, "requirements", name.split("_")[0] + ".txt")] if engines.SUFFIX.get(name) else []
    return [os.path.join(folder, file) for file in [name + "_engine.py", *more.get(name, [])]] + list(filter(os.path.exists, packages))


def compiled(work, name, model, precision, limit, again=False):
    """What the ahead-of-time step of an engine says; it runs when the model, the engine or Weft's compiler changed."""
    name, precision = engines.base(name), engines.kind(name, precision)
    stamp = os.path.join(work, "artifacts", f"{model}.{precision}.{name}.json")
    sources = [engines.onnx_file(work, model, precision), *engine_sources(name)]
    if name == "weft":
        build = environ(work)["WEFT_BENCH_BUILD"]
        sources += [os.path.join(build, *path) for path in (("bin", "weft"), ("bin", "libweft_tool.so"), ("bin", "libweft_compiler.so"))
                    if os.path.exists(os.path.join(build, *path))]
        if precision in QUANTISED:
            sources += [os.path.join(work, "models", model + ".calls.json"), os.path.join(HERE, "cases.py")]
    key = digest(*sources)
    if again or not fresh(stamp, key):
        try:
            command = worker(work, name, model, precision, 1, "compile")
        except environment.Missing as missing:
            return dict(failed=str(missing))
        result = processes.one_answer(command, limit, environ(work, os.cpu_count()))
        if result.get("failed", "").startswith(processes.TOO_LATE):
            return result  # the next run tries again
        keep(stamp, key, **result)
    with open(stamp) as file:
        result = json.load(file)
    result.pop("key")
    return result


def made_seconds(work, name, model, precision):
    """Seconds that quantising took, of a file that a peer's tool made; None for others."""
    stamp = os.path.join(work, "models", f"{model}.{engines.kind(name, precision)}.json")
    if not os.path.exists(stamp):
        return None
    with open(stamp) as file:
        return json.load(file).get("made_s")
