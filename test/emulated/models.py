"""One file for all levels of ARM, per model: compiled here, called as several processors, compared with ONNX Runtime.

    models.py WEFT EMULATOR ARM_WEFT FOLDER     WEFT compiles; "EMULATOR ARM_WEFT run …" calls; files go to FOLDER
"""
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

from small_models import MODELS

# Which variant of a file each processor must take. Code for vectors of one length is wrong for all others.
PROCESSORS = {"cortex-a72": "arm:v8", "neoverse-n1": "arm:v8.2", "max,sme=off,sve=off": "arm:v8.6",
              "max,sme=off,sve128=on,sve256=off,sve512=off": "arm:v9", "max,sme=off,sve256=on,sve512=off": "arm:sve256",
              "max,sme=off,sve512=on": "arm:sve512", "a64fx": "arm:sve512"}
LONGER = "max,sme=off,sve512=on"  # than 256 bits
TOLERANCE = 2e-4


def check_choice(artifact, processor, tools):
    _, emulator, arm_weft, _ = tools
    chosen = subprocess.run([*emulator, arm_weft, "inspect", artifact], env={**os.environ, "QEMU_CPU": processor}, capture_output=True,
                            text=True)
    if f"{PROCESSORS[processor]}  (used here)" not in chosen.stdout:
        sys.exit(f"{artifact} as {processor} does not take {PROCESSORS[processor]}:\n{chosen.stdout}")


def check_model(name, made, tools):
    model, calls = made
    weft, emulator, arm_weft, folder = tools
    path, artifact = f"{folder}/{name}.onnx", f"{folder}/{name}.weft"
    onnx.save(model, path)
    subprocess.run([weft, "compile", "-q", path, "-t", "arm:v8,v8.2,v8.6,v9,sve256,sve512", "-o", artifact], check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for i, feeds in enumerate(calls):
        np.savez(f"{folder}/in.npz", **feeds)
        np.savez(f"{folder}/out.npz", y=session.run(None, feeds)[0])
        for processor in PROCESSORS:
            environment = {**os.environ, "QEMU_CPU": processor}
            command = [*emulator, arm_weft, "run", artifact, "-i", f"@{folder}/in.npz", "--expect", f"@{folder}/out.npz", "--tol",
                       str(TOLERANCE)]
            run = subprocess.run(command, env=environment, capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"{name}, call {i}, as {processor}:\n{run.stdout}{run.stderr}")
            if i == 0:  # who takes which is decided when the file is opened
                check_choice(artifact, processor, tools)
    print(f"{name}: {len(calls)} calls as {len(PROCESSORS)} processors agree with ONNX Runtime")


def check_length(model, tools):
    """A file for vectors of one length only is refused by a processor whose are longer, in one line."""
    weft, emulator, arm_weft, folder = tools
    path, artifact = f"{folder}/short.onnx", f"{folder}/short.weft"
    onnx.save(model, path)
    subprocess.run([weft, "compile", "-q", path, "-t", "arm:sve256", "-o", artifact], check=True)
    run = subprocess.run([*emulator, arm_weft, "run", artifact], env={**os.environ, "QEMU_CPU": LONGER}, capture_output=True, text=True)
    lines = run.stderr.splitlines()
    if run.returncode != 4 or "sve-256-bits" not in lines[0] or "--target arm:sve512" not in lines[1]:
        sys.exit(f"vectors of another length are not refused ({run.returncode}):\n{run.stdout}{run.stderr}")


def main():
    weft, emulator, arm_weft, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    tools = weft, emulator.split(";"), arm_weft, folder
    for name, make in MODELS:
        check_model(name, make(), tools)
    check_length(MODELS[0][1]()[0], tools)


main()
