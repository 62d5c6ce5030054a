#!/usr/bin/env python3
"""MiniLM whose ranks have parts of weights and gather them before use: gathered.py WEFT WORK

A rank reads its part of them, sends (t-1)/t of their bytes and what the caller gets of its part of the batch, keeps no more than one of
them in memory, computes with the kernels of one rank, and gives its results. Needs the folder that tools/fetch-model prints in
WEFT_TEST_MODEL.
"""

import json
import os
import re
import subprocess
import sys

from meshes import bytes_split, weft

RANKS = 2
BATCH, SEQ, HIDDEN = 4, 7, 384
LARGEST = 384 * 1536 * 4  # of the weights that are gathered


def schedules(described):
    return {kernel["name"].rsplit("_", 1)[0] for kernel in described["kernels"]}


def facts(program, path):
    described = json.loads(weft(program, "inspect", path, "--json"))
    text = weft(program, "inspect", path, "--at", f"batch={BATCH},seq={SEQ}")
    sent = re.search(r"^sent .* over dp: (\d+) B", text, re.M)
    arena = re.search(r"^memory .*arena = (\d+)", text, re.M)
    return described, int(sent[1]) if sent else 0, int(arena[1])


def main(program, work):
    model = os.environ.get("WEFT_TEST_MODEL", "")
    if not os.path.isdir(model):
        print("SKIPPED: WEFT_TEST_MODEL names no folder; tools/fetch-model prints one")
        return 77
    os.makedirs(work, exist_ok=True)
    alone, parts, expected = (os.path.join(work, name) for name in ["alone.weft", "parts.weft", "expected.npz"])
    weft(program, "compile", "-q", model, "-o", alone)
    weft(program, "compile", "-q", model, "-o", parts, "--ranks", str(RANKS), "--plan", "fsdp")
    (one, _, arena_alone), (several, sent, arena) = (facts(program, path) for path in [alone, parts])
    findings = []
    others = bytes_split(model) * (RANKS - 1) // RANKS
    results = BATCH // RANKS * (SEQ + 1) * HIDDEN * 4 * (RANKS - 1)
    read, whole = int(several["functions"][0]["weights_read"]), one["weight_bytes"]
    print(f"{RANKS} ranks: each reads {read} bytes of {whole}, sends {sent}, and has {arena} bytes of values (one rank: {arena_alone})")
    if whole - read != others:
        findings.append(f"a rank reads {whole - read} bytes less than all, not {others}")
    if sent != others + results:
        findings.append(f"a rank sends {sent} bytes, not {others} of weights and {results} of results")
    if arena > arena_alone + LARGEST + 4096:
        findings.append(f"a rank has {arena} bytes of values, one rank {arena_alone}: more than one weight is there at a time")
    if several["weight_bytes"] != whole:
        findings.append(f"{several['weight_bytes']} bytes of weights are stored")
    if schedules(several) - schedules(one):
        findings.append(f"kernels are {schedules(several)}, those of one rank {schedules(one)}")
    size = ["--dim", f"batch={BATCH}", "--dim", f"seq={SEQ}", "-q"]
    weft(program, "run", alone, *size, "--output", expected)
    for transport in ["threads", "shm"]:
        done = subprocess.run([program, "run", parts, *size, "--ranks", str(RANKS), "--transport", transport, "--expect", expected,
                               "--tol", "5e-5"], capture_output=True, text=True)
        if done.returncode:
            findings.append(f"by {transport}: {done.stderr}")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
