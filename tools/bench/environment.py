"""Python environments of the engines, made once in the cache, each of its own.

    environment.python("openvino")      the interpreter that has it
"""
import functools
import hashlib
import os
import subprocess

import engines

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("WEFT_CACHE_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "weft")


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


@functools.cache
def python(name):
    if name == "base":
        return tool("test-env")
    if name == "torch":
        return tool("test-env", "torch")
    wanted = os.path.join(HERE, "requirements", name + ".txt")
    with open(wanted, "rb") as file:
        key = hashlib.sha256(file.read()).hexdigest()[:12]
    folder = os.path.join(CACHE, f"venv-bench-{name}-{key}")
    interpreter = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "complete")):
        print(f"installing {name} into {folder}", flush=True)
        for command in ([base(), "-m", "venv", "--clear", folder], [interpreter, "-m", "pip", "install", "--quiet", "-r", wanted]):
            if subprocess.run(command).returncode:
                raise SystemExit(f"error: {name} cannot be installed\n  hint: --peers without it measures the others")
        open(os.path.join(folder, "complete"), "w").close()
    return interpreter


def versions(names):
    """{engine: version} of the packages named like the engines."""
    packages = {"iree": "iree-base-runtime", "tvm": "apache-tvm", "llamacpp": "xllamacpp"}
    found = {}
    for name in dict.fromkeys(map(engines.base, names)):
        package = packages.get(engines.ENGINES[name], engines.ENGINES[name])
        if name != "weft":
            code = f"import importlib.metadata as m; print(m.version({package!r}))"
            done = subprocess.run([python(engines.ENGINES[name]), "-c", code], capture_output=True, text=True)
            found[name] = done.stdout.strip()
    return found
