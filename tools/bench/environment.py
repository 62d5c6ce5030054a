"""Python environments of the engines, made once in the cache, each of its own.

    environment.python("openvino")      the interpreter that has it
"""
import contextlib
import functools
import hashlib
import os
import subprocess

import engines

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What builds from source are told: to take all instructions of this machine, and to leave out what reads images. llama.cpp's tiles of
# bytes end with a segmentation fault on a file of Q4_0, so it is built without them.
BUILD = {"llamacpp_native": dict(CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF", CFLAGS="-mno-amx-int8", CXXFLAGS="-mno-amx-int8")}
CACHE = os.environ.get("WEFT_CACHE_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "weft")


class Missing(RuntimeError):
    """An engine that cannot be installed here."""


def tool(*command):
    """The last line that one of the project's tools prints."""
    done = subprocess.run([os.path.join(ROOT, "tools", command[0]), *command[1:]], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[-1]


def base():
    """The first interpreter that can make environments; Debian splits that into python3-venv."""
    for candidate in (os.environ.get("WEFT_PYTHON"), "/usr/bin/python3", "python3"):
        if candidate and not subprocess.run([candidate, "-c", "import venv, ensurepip"], capture_output=True).returncode:
            return candidate
    raise SystemExit("error: no Python that can make virtual environments was found\n  hint: tools/setup installs python3-venv")


def install(folder, wanted):
    """Why it fails, or None."""
    name = os.path.splitext(os.path.basename(wanted))[0]
    print(f"installing {name} into {folder}", flush=True)
    for command in ([base(), "-m", "venv", "--clear", folder],
                    [os.path.join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", "-r", wanted]):
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **BUILD.get(name, {})))
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith(("ERROR: ", "error: "))]
            return f"{name} cannot be installed: {lines[0][7:] if lines else f'exit {done.returncode}'}"
    open(os.path.join(folder, "complete"), "w").close()


@functools.cache
def made(name):
    """The interpreter of an environment of requirements/, and why there is none."""
    wanted = os.path.join(HERE, "requirements", name + ".txt")
    with open(wanted, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:12]
    folder = os.path.join(CACHE, f"venv-bench-{name}-{key}")
    is_there = os.path.exists(os.path.join(folder, "complete"))
    return os.path.join(folder, "bin", "python"), None if is_there else install(folder, wanted)


def python(name):
    if name == "base":
        return tool("test-env")
    if name == "torch":
        return tool("test-env", "torch")
    interpreter, reason = made(name)
    if reason:
        raise Missing(reason)
    return interpreter


def versions(names):
    """{engine: version} of the packages named like the engines, of those that are installed."""
    packages = {"iree": "iree-base-runtime", "tvm": "apache-tvm", "llamacpp": "xllamacpp", "llamacpp_native": "llama-cpp-python"}
    found = {}
    for name in dict.fromkeys(map(engines.base, names)):
        package = packages.get(engines.ENGINES[name], engines.ENGINES[name])
        with contextlib.suppress(Missing):
            if name != "weft":
                found[name] = version(python(engines.ENGINES[name]), package)
    if any(engines.kind(name, "quantised") in engines.NNCF for name in names):
        with contextlib.suppress(Missing):
            found["nncf"] = version(python("nncf"), "nncf")
    return found


def version(interpreter, package):
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([interpreter, "-c", code], capture_output=True, text=True).stdout.strip()


def flags():
    """What the processor can do, in the words of Linux."""
    with open("/proc/cpuinfo") as file:
        return set(next((line.split(":")[1].split() for line in file if line.startswith("flags")), []))
