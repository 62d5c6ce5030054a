#!/usr/bin/env python3
"""Exports an architecture, compiles it once per exporter, and compares every shape with float64: run.py WEFT NAME WORK [EXPORTER]

'fixed' is the exporter for one size, whose models compute with what symbols would hide: masks, tables of positions, sizes.
run.py --listed NAME... says whether these are all that the registry has.

Exports and answers are kept in $WEFT_CACHE_DIR (default ~/.cache/weft), named after the hash of what makes them.
refused.txt lists what Weft is known to refuse; an entry that passes is an error, so that the list only shrinks.
"""

import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import types

import registry

SKIPPED = 77  # SKIP_RETURN_CODE in CMakeLists.txt
MOST = 1e-4  # of the largest element of an output
MOST_COMPILER_MEMORY = "300MiB"  # beside the mapped model
MOST_PLANNING = 0.5  # of the time of a compilation: nested sizes once took 57 s of 69


def cache():
    return os.path.join(os.environ.get("WEFT_CACHE_DIR") or os.path.expanduser("~/.cache/weft"), "architectures")


def described():
    """What the registry says without its modules, which take PyTorch seconds to load: kept like exports are."""
    digest = hashlib.sha256()
    for source in sorted(glob.glob(os.path.join(registry.FOLDER, "*.py"))):
        with open(source, "rb") as file:
            digest.update(file.read())
    path = os.path.join(cache(), f"registry-{digest.hexdigest()[:12]}.json")
    if not os.path.exists(path):
        for old in glob.glob(os.path.join(cache(), "registry-*.json")):
            os.remove(old)
        entries = {name: dict(exporters=e.exporters, outputs=e.outputs, sizes=e.sizes, key=e.key())
                   for name, e in registry.load().items()}
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump(entries, file)
        os.replace(file.name, path)
    with open(path, encoding="utf-8") as file:
        return {name: types.SimpleNamespace(name=name, **entry) for name, entry in json.load(file).items()}


def exported(entry, exporter):
    """The folder with the model and its answers, made when it is not there."""
    mine = os.path.join(cache(), f"{entry.name}-{exporter}-{entry.key}")
    if os.path.exists(os.path.join(mine, "complete")):
        return mine
    for old in glob.glob(os.path.join(cache(), f"{entry.name}-{exporter}-*")):
        shutil.rmtree(old)
    result = subprocess.run([sys.executable, os.path.join(registry.FOLDER, "export.py"), entry.name, exporter, mine],
                            capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{entry.name}: torch cannot export this with '{exporter}': {result.stderr.strip().splitlines()[-1]}")
    return mine


def weft(*arguments):
    """What a command says when it fails, else nothing."""
    result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    return f"exit {result.returncode}: {result.stderr.strip()[:1500]}" if result.returncode else ""


def judge(name, got, want):
    """A finding about one output, or nothing, and its difference."""
    import numpy

    if got.shape != want.shape:
        return f"{name} has shape {got.shape}, not {want.shape}", 0
    if want.dtype.kind != "f":
        wrong = int((got != want).sum())
        return (f"{name}: {wrong} of {want.size} integers differ" if wrong or got.dtype != want.dtype else ""), 0
    if got.dtype != numpy.float32:
        return f"{name} has elements of type {got.dtype}", 0
    if want.size == 0:
        return "", 0
    difference = float(numpy.abs(got.astype(numpy.float64) - want).max() / max(numpy.abs(want).max(), 1e-30))
    return ("" if difference <= MOST else f"{name} differs by {difference:.3g} of its scale"), difference


def compile_within_bounds(program, model, artifact):
    """Findings: that it fails, or takes more memory or planning than any model should."""
    limits = ["--limit", f"memory={MOST_COMPILER_MEMORY}"]
    result = subprocess.run([program, "compile", model, "--output", artifact, "--verbose", *limits],
                            capture_output=True, text=True)
    if result.returncode:
        return [f"compile: exit {result.returncode}: {result.stderr.strip()[-1500:]}"]
    seconds = {phase: float(took) for phase, took in re.findall(r"^  (\w+) .* ([0-9.]+) s$", result.stderr, re.MULTILINE)}
    share = seconds["plan"] / sum(seconds.values())
    return [f"planning takes {share:.0%} of the compilation"] if share > MOST_PLANNING else []


def compare(program, entry, exporter, folder, work):
    """Findings, each a sentence."""
    import numpy

    artifact = os.path.join(work, f"{entry.name}-{exporter}.weft")
    findings = compile_within_bounds(program, os.path.join(folder, "model.onnx"), artifact)
    if not os.path.exists(artifact):
        return findings
    for index, at in enumerate(entry.sizes[:1] if exporter == registry.FIXED else entry.sizes):
        out = os.path.join(work, f"{entry.name}-{exporter}.npz")
        shape = ", ".join(f"{name} = {size}" for name, size in at.items())
        if failure := weft(program, "run", artifact, "--input", f"@{folder}/{index}-in.npz", "--output", out):
            findings.append(f"{shape}: {failure}")
            continue
        with numpy.load(out) as got, numpy.load(f"{folder}/{index}-out.npz") as want:
            judged = [judge(name, got[name], want[name]) for name in entry.outputs]
        findings += [f"{shape}: {finding}" for finding, _ in judged if finding]
        print(f"{exporter:<12}{shape:<40} {max(difference for _, difference in judged):.1e}", flush=True)
    os.remove(artifact)
    return findings


def refused():
    """{(name, exporter): reason} of refused.txt."""
    with open(os.path.join(registry.FOLDER, "refused.txt"), encoding="utf-8") as file:
        lines = [line.split(maxsplit=2) for line in file if line.strip() and not line.startswith("#")]
    return {(name, exporter): reason.strip() for name, exporter, reason in lines}


def main(program, name, work, only=None):
    os.makedirs(work, exist_ok=True)
    os.makedirs(cache(), exist_ok=True)
    entry = described()[name]
    failures = 0
    for exporter in [only] if only else entry.exporters:
        reason = refused().get((name, exporter))
        findings = compare(program, entry, exporter, exported(entry, exporter), work)
        for finding in findings if not reason else []:
            print(f"WRONG: {exporter}: {finding}")
        if reason and findings:
            print(f"{exporter}: refused as listed: {reason}")
        elif reason:
            print(f"WRONG: {exporter} passes, but refused.txt lists it: {reason}")
        failures += bool(findings) != bool(reason)
    sys.exit(1 if failures else 0)


def check_listed(names):
    """The lists of CMakeLists.txt and refused.txt against the registry."""
    every = registry.load()
    wrong = [f"{name} is in the registry, but not in CMakeLists.txt" for name in every if name not in names]
    wrong += [f"{name} is in CMakeLists.txt, but not in the registry" for name in names if name not in every]
    wrong += [f"refused.txt lists {name} {exporter}, which is not tested" for name, exporter in refused()
              if name not in every or exporter not in every[name].exporters]
    print("\n".join(wrong) or f"{len(every)} architectures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--listed"]:
        check_listed(sys.argv[2:])
    main(*sys.argv[1:])
