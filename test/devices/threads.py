#!/usr/bin/env python3
"""The example that calls one module from 8 threads does so on a processor and on one GPU: threads.py WEFT CALL_THREADS WORK [DEVICE]"""
import pathlib
import subprocess
import sys

from command import MODEL


def main(weft, call_threads, work, gpu="emulated"):
    work, wrong = pathlib.Path(work), []
    work.mkdir(parents=True, exist_ok=True)
    (work / "model.mlir").write_text(MODEL, encoding="utf-8")

    def call(code, says, *words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if done.returncode != code or says not in done.stdout + done.stderr or len(done.stderr.splitlines()) > 1:
            wrong.append(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")

    call(0, "", weft, "compile", "-q", work / "model.mlir", "-t", "x86:v2,cuda:sm_80", "-o", work / "model.weft")
    for device in ("cpu", gpu, f"{gpu}:0"):
        call(0, f"8 threads made 32 calls on {device}", call_threads, work / "model.weft", 40, device)
    call(1, "there is no device 'nothing'", call_threads, work / "model.weft", 40, "nothing")
    call(2, "usage", call_threads, work / "model.weft", 0)
    for each in wrong:
        print(f"WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
