"""examples/firmware: a static program without a heap or libraries, whose scores are the artifact's, bit for bit.

    firmware_test.py WEFT TARGET FOLDER EMULATOR COMPILER...     as embedded_test.py
"""
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "..", "..", "examples", "firmware")
WEFT, TARGET, FOLDER, EMULATOR = sys.argv[1:5]
COMPILER, EMULATOR = sys.argv[5:], [word for word in EMULATOR.split(";") if word]
WEFT_RUN = os.environ.get("WEFT_TEST_RUN", WEFT).split(";")


def text_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    os.makedirs(FOLDER, exist_ok=True)
    model, artifact = os.path.join(FOLDER, "keywords.onnx"), os.path.join(FOLDER, "keywords.weft")
    text_of(sys.executable, os.path.join(EXAMPLE, "keywords.py"), model)
    text_of("sh", os.path.join(EXAMPLE, "build.sh"), WEFT, model, TARGET, FOLDER, *COMPILER)
    firmware = os.path.join(FOLDER, "firmware")
    for line in text_of("llvm-nm-19", "--undefined-only", firmware).splitlines():
        sys.exit("the program needs something: " + line)
    if "INTERP" in text_of("llvm-readelf-19", "-lW", firmware):
        sys.exit("the program is not static")
    text_of(WEFT, "compile", "-q", model, "-t", TARGET, "-o", artifact)
    mfcc = (np.arange(490) % 37).astype(np.float32) / np.float32(16) - np.float32(1)
    np.savez(os.path.join(FOLDER, "in.npz"), mfcc=mfcc.reshape(1, 1, 49, 10))
    text_of(*EMULATOR, *WEFT_RUN, "run", artifact, "-i", "@" + os.path.join(FOLDER, "in.npz"), "-o", os.path.join(FOLDER, "out.npz"), "-q")
    scores = np.load(os.path.join(FOLDER, "out.npz"))["scores"].ravel()
    expected = [f"{bits:08x}" for bits in scores.view(np.uint32)] + [f"word {int(np.argmax(scores)):02d}"]
    printed = text_of(*EMULATOR, firmware).split("\n")[:-1]
    if printed != expected:
        sys.exit(f"the program prints {printed} instead of {expected}")
    print(f"{len(scores)} scores agree bit for bit; {expected[-1]}")


main()
