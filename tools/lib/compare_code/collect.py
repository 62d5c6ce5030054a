"""One part of what tools/collect-models lists: collect.py LISTS PART ARGUMENT...

LISTS/PART.txt gets a line per model. What no other tool keeps goes to LISTS/PART. The interpreter is the one that the makers of
the part's models need.
"""
import pathlib
import sys

import suite_constants

ROOT = pathlib.Path(__file__).resolve().parents[3]
RANDOM_SEEDS = range(1, 105)  # those of test/differential/models/CMakeLists.txt
# What a model of the benchmark is compiled with, by its precision.
BENCH_OPTIONS = {"f32": [[], ["--weights", "bf16"]], "int8": [[]], "int4": [[], ["--accuracy", "bytes"]]}


def use(*folders):
    """Modules of these folders can be imported."""
    sys.path[:0] = [str(ROOT / folder) for folder in folders]


def with_options(name, path, *options):
    """A row whose name says how the model is compiled."""
    return "+".join([name, "=".join(options).lstrip("-")] if options else [name]), path, *options


def text(folder, checkpoint):
    """Programs of the tree, also in place where an input can grow, and a checkpoint."""
    for top in ("examples", "test"):
        for path in sorted((ROOT / top).rglob("*.mlir")):
            yield with_options(str(path.relative_to(ROOT)), path)
            yield with_options(str(path.relative_to(ROOT)), path, "--in-place")
    yield pathlib.Path(checkpoint).name, checkpoint


def cases(folder, suite):
    """The cases of all manifests below a folder: as they are, and with the contents of their small operands."""
    for manifest in sorted(pathlib.Path(suite).glob("*/manifest.txt")):
        for case in suite_constants.read(manifest):
            yield case.name, case.folder / "model.onnx"
            if constants := case.constants(folder / case.name):
                yield case.name + "+constants", case.folder / "model.onnx", *constants


def own(folder):
    use("test/onnx_suite")
    import own_cases

    sys.argv[1:] = [str(folder / "cases")]
    own_cases.main()
    yield from cases(folder, folder / "cases")


def random(folder):
    use("test/differential/models")
    import onnx
    import random_models

    for seed in RANDOM_SEEDS:
        graph = random_models.grow(seed)
        path = folder / f"seed-{seed}.onnx"
        onnx.save(graph.model()[0], path)
        yield path.stem, path, *([] if graph.fast else ["--accuracy", "exact"])


def architectures(folder):
    """What torch cannot export is said and left out."""
    use("test/e2e/architectures")
    import run

    pathlib.Path(run.cache()).mkdir(parents=True, exist_ok=True)
    for entry in run.described().values():
        for exporter in entry.exporters:
            try:
                yield f"{entry.name}-{exporter}", pathlib.Path(run.exported(entry, exporter)) / "model.onnx"
            except SystemExit as failure:
                print(failure, file=sys.stderr)


def bench(folder):
    use("tools/bench")
    import cases as measured
    import engines
    import files

    work = files.folder()
    for model in measured.CASES:
        more = [["--in-place"]] if model in measured.DECODERS else [] if model in measured.ENCODERS else [["--accuracy", "exact"]]
        for precision, variants in BENCH_OPTIONS.items():
            files.make(work, model, precision, [])
            for options in variants + more:
                yield with_options(f"{model}.{precision}", engines.onnx_file(work, model, precision), *options)


MAKERS = {"text": text, "suite": cases, "own": own, "random": random, "architectures": architectures, "bench": bench}


def main(lists, part, *arguments):
    folder = pathlib.Path(lists) / part
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["\t".join([f"{part}/{name}", str(path), *options]) for name, path, *options in MAKERS[part](folder, *arguments)]
    unfinished = folder.with_suffix(".unfinished")
    unfinished.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    unfinished.replace(folder.with_suffix(".txt"))
    print(f"{len(rows)} models in {folder.with_suffix('.txt')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
