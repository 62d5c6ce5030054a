"""What the benchmark keeps between runs: models, float64 answers and artifacts, in the cache (or in WEFT_BENCH_DIR)."""
import hashlib
import json
import os
import subprocess

import cases
import engines
import environment
import processes

HERE = environment.HERE


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
    script, sentences = (os.path.join(HERE, name) for name in ("quantise.py", "sentences.py"))
    key, stamp = key + digest(script, sentences), os.path.join(work, "models", f"{model}.{precision}.json")
    if not fresh(stamp, key):
        if model in cases.ENCODERS:
            subprocess.run([environment.python("torch"), sentences, environ(work)["WEFT_BENCH_MINILM"],
                            os.path.join(work, "models", "sentences.npz")], check=True)
        subprocess.run([environment.python("onnxruntime"), script, os.path.join(work, "models"), model, precision], check=True,
                       env=environ(work))
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
