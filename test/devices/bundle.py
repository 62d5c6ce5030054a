#!/usr/bin/env python3
"""A folder that checks a real GPU on a machine with a driver and nothing else:

    bundle.py make FOLDER COMPILER COMMAND FILE...     COMPILER is the weft that compiles, COMMAND the one that is copied, with its plug-ins and run_ptx
    bundle.py check FOLDER                             runs it with the emulated GPU, and sees that what cannot run is said in one line
    bundle.py read RESULTS.json                        what run.sh wrote, as tests; the last line is 'N passed, N failed'
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
MOST_BYTES = 60 << 20
TARGETS = "cuda:sm_80,sm_90a"
# Not bit for bit: approximations of real GPUs, and sums in another order. Shares of the scale.
TOLERANCES = {"decoder": 1e-2}
TOLERANCE = 1e-4
LEFT_OUT = {"minilm", "minilm_weights", "minilm_compute"}  # whose weights alone are more than a bundle may have
SCHEMA = "weft.gpu-bundle/1"


def sizes_text(sizes):
    return "_".join(f"{name}{size}" for name, size in sizes.items())


def add_case(name, case, tools, folder):
    """Lines of cases.txt: name, artifact, inputs, expected outputs, tolerance."""
    import whole_models as models
    import numpy as np

    weft, work = tools
    os.makedirs(work, exist_ok=True)
    trial = models.Trial(weft, work, case, TARGETS)
    shutil.copy(trial.artifact, folder / f"{name}.weft")
    for sizes in case.sizes:
        call = f"{name}_{sizes_text(sizes)}"
        expected = trial.arrays("eval", case.reference(work), "-i", trial.inputs(sizes))
        np.savez(folder / f"{call}.out.npz", **{key: value.astype(np.float32) for key, value in expected.items()})
        trial.inputs(sizes, np.float16)
        shutil.copy(os.path.join(work, "in.npz"), folder / f"{call}.in.npz")
        scale = max([1.0, *(float(np.abs(value).max(initial=0)) for value in expected.values())])
        yield f"{call} {name}.weft {call}.in.npz {call}.out.npz {TOLERANCES.get(name, TOLERANCE) * scale:.3g}"


def make(folder, compiler, command, *others):
    sys.path[:0] = [str(HERE), str(HERE / "instructions")]
    import programs
    import whole_models as models

    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("bin", "models"):
        (folder / part).mkdir(parents=True)
    shutil.copy(HERE / "run.sh", folder / "run.sh")
    subprocess.run(["strip", "-o", folder / "bin" / "weft", command], check=True)
    for other in others:
        subprocess.run(["strip", "--strip-unneeded", "-o", folder / "bin" / os.path.basename(other), other], check=True)
    programs.write(folder / "instructions")
    subprocess.run([folder / "bin" / "run_ptx", "emulated", folder / "instructions", "write"], check=True, stdout=subprocess.DEVNULL)
    lines = []
    for name, case in models.CASES.items():
        if name not in LEFT_OUT:
            lines += add_case(name, case, (os.path.abspath(compiler), str(folder) + ".work"), folder / "models")
    (folder / "cases.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shutil.rmtree(str(folder) + ".work")
    total = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {len(lines)} calls, {total / 2**20:.1f} MiB")
    if total > MOST_BYTES:
        print(f"WRONG: a bundle has at most {MOST_BYTES >> 20} MiB")
    return total > MOST_BYTES


def run(folder, *words, options=""):
    environment = {"PATH": os.environ["PATH"], "WEFT_EMULATED": options}  # nothing else of this machine is needed
    return subprocess.run(["sh", f"{folder}/run.sh", *words], capture_output=True, text=True, check=False, env=environment)


def needs(folder):
    """Libraries that a machine must have."""
    for file in sorted(pathlib.Path(folder, "bin").iterdir()):
        for line in subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout.splitlines():
            if "(NEEDED)" in line:
                yield file.name, line.split("[")[1].rstrip("]")


def check(folder):
    wrong = [f"{file} needs {library}" for file, library in needs(folder) if library.split(".so")[0] not in
             ("libc", "libm", "libdl", "libpthread", "librt", "ld-linux-x86-64")]
    results = f"{folder}.json"
    done = run(folder, "--device", "emulated", "--output", results)
    if done.returncode or read(results):
        wrong.append(f"the emulated GPU: {done.returncode}\n{done.stdout}{done.stderr}")
    refused = run(folder, "--device", "emulated:3", "--output", results + ".none")
    if refused.returncode != 4 or len(refused.stderr.splitlines()) != 1 or os.path.exists(results + ".none"):
        wrong.append(f"a device that is not there: {refused.returncode}\n{refused.stdout}{refused.stderr}")
    failed = run(folder, "--device", "emulated", "--output", results + ".bad", options="instructions=5000")
    with open(results + ".bad", encoding="utf-8") as file:
        bad = [case for case in json.load(file)["cases"] if case["exit"]]
    if failed.returncode != 1 or not bad or "more than 5000 instructions" not in bad[0]["said"]:
        wrong.append(f"calls that fail: {failed.returncode}\n{failed.stdout}{failed.stderr}")
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        cases = results["cases"]
        if results["schema"] != SCHEMA or not cases or results["calls"] != len(cases):
            raise ValueError("is not what run.sh writes, or not all of it")
        bad = [case for case in cases if case["exit"]]
    except (OSError, ValueError, KeyError, TypeError) as why:
        print(f"error: {path}: {why}\n0 passed, 1 failed")
        return 1
    print(f"{results['gpu'] or results['device']}, runtime {results['weft']}")
    for case in bad:
        print(f"FAILED: {case['name']}: {case['said']}")
    print(f"{len(cases) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit({"make": make, "check": check, "read": read}[sys.argv[1]](*sys.argv[2:]))
