#!/usr/bin/env python3
"""Fails on an #include that goes against the arrows of the tree, and on a path of somebody's machine in a committed file.

  dialects/symbolic <- dialects/weft <- passes <- targets/common <- targets/cpu <- targets/x86, targets/arm, targets/cuda <- compiler <- tools
  between the rooms of each: the rows of ALLOWED; a room without a row and rows in a circle are findings, too
  runtime knows only itself, in rooms: include <- base <- cpu <- open <- call, and cpu <- group <- mpi; everybody above may use runtime/include; examples use runtime/include and compiler/include

    test/lint/layering.py [ROOT]      exit 0: clean; 1: prints file:line, the include, and the rule
    test/lint/layering.py --self-test
"""
import os
import re
import subprocess
import sys

# A part may include from itself and from the parts listed here; a longer name is looked at before its parent. Every folder of
# five sources or more has a row.
RUNTIME, COMPILER = "runtime/include", "compiler/include"
GPU = "runtime/plugins/emulated"
SYMBOLIC, WEFT = "dialects/symbolic", "dialects/weft"
INTERFACES, OPS, CODE, REFERENCE = "dialects/weft/interfaces", "dialects/weft/ops", "dialects/weft/code", "dialects/weft/reference"
RANKS = "dialects/weft/ranks"
# Rooms of the dialect hold parts of the same classes: Weft.h puts their headers together, and each may include it. Of the facets of an
# operator, code and reference semantics know its declaration; neither knows the other.
DECLARED = [SYMBOLIC, WEFT, INTERFACES, "dialects/weft/types", OPS]
DIALECT = DECLARED + [REFERENCE]
MATCH, CPU, MACHINES, SCHEDULES = "targets/common/match", "targets/cpu", "targets/cpu/machine", "targets/cpu/schedules"
TARGETS = DIALECT + ["dialects/plan", "passes/cost", "targets/common"]
SCHEDULING = TARGETS + [MATCH, CPU, MACHINES, SCHEDULES]
READERS, ONNX, MODEL = "compiler/import/readers", "compiler/import/onnx", "compiler/model"
CLI, LINK, TRIALS, TOOL_MODEL = "tools/weft/cli", "tools/weft/link", "tools/weft/trials", "tools/weft/model"
TOOL = [CLI, TOOL_MODEL, MODEL, COMPILER, RUNTIME] + DIALECT
ALLOWED = {
    SYMBOLIC: [],
    WEFT: DIALECT + [RANKS],
    INTERFACES: DECLARED,
    "dialects/weft/types": DECLARED,
    OPS: DECLARED,
    CODE: DECLARED,
    REFERENCE: DECLARED,
    RANKS: DECLARED,
    "dialects/plan": DIALECT,
    "passes/cost": DIALECT + ["dialects/plan"],
    "passes/graph": DIALECT + ["passes/quant", "passes/kernel"],
    "passes/quant": DIALECT + ["passes/kernel"],
    "passes/parallel": DIALECT + [RANKS, "dialects/plan", "passes/cost", "passes/quant"],
    "passes/kernel": DIALECT + ["passes/cost"],
    "passes/plan": DIALECT + ["dialects/plan", "passes/cost", "passes/kernel", RUNTIME],
    "targets/common": DIALECT + ["dialects/plan", "passes/cost"],
    MATCH: TARGETS,
    MACHINES: [],
    CPU: TARGETS + [MACHINES, "targets/cpu/math"],
    "targets/cpu/math": [MACHINES],
    SCHEDULES: TARGETS + [CPU, MACHINES],
    "targets/cpu/schedules/tile": SCHEDULING + [CODE],
    "targets/cpu/schedules/product": SCHEDULING + ["targets/cpu/schedules/tile"],
    "targets/cpu/schedules/window": SCHEDULING + ["targets/cpu/schedules/tile"],
    "targets/cpu/schedules/winograd": SCHEDULING + ["targets/cpu/schedules/tile"],
    "targets/cpu/schedules/line": SCHEDULING,
    "targets/cpu/schedules/general": SCHEDULING,
    "targets/arm": SCHEDULING,
    "targets/x86": SCHEDULING,
    # Mathematical functions and the way to LLVM stand in targets/cpu, but know no processor.
    "targets/cuda": TARGETS + [MATCH, CPU, MACHINES],
    "targets/cuda/schedules": TARGETS + [MATCH, "targets/cuda"],
    "targets": ["targets/common", "targets/arm", "targets/cuda", "targets/x86"],
    COMPILER: [],
    MODEL: [READERS, COMPILER, RUNTIME, "dialects/plan"] + DIALECT,
    READERS: [],
    "compiler/import/text": [READERS, MODEL, COMPILER] + DIALECT,
    "compiler/import/builder": [MODEL, COMPILER] + DIALECT,
    "compiler/import/checkpoint": [READERS, COMPILER],
    "compiler/import/onnx/file": [READERS, COMPILER],
    "compiler/import/onnx/graph": [READERS, "compiler/import/onnx/file", MODEL, COMPILER] + DIALECT,
    "compiler/import/onnx/operators": ["compiler/import/onnx/graph"] + DIALECT,
    ONNX: [READERS, "compiler/import/onnx/file", "compiler/import/onnx/graph", "compiler/import/onnx/operators",
           "compiler/import/text", COMPILER] + DIALECT,
    "compiler/machine": [READERS],
    "compiler/hardware": [READERS, MODEL, "passes/quant", "targets/common", COMPILER] + DIALECT,
    "compiler/tuning": [READERS, "passes/cost", "targets/common", RUNTIME],
    "compiler/plan": [MODEL, "dialects/plan", "passes/cost", "passes/plan", "targets/common", RUNTIME] + DIALECT,
    "compiler/host": ["compiler/plan", "dialects/plan", "passes/cost", RUNTIME] + DIALECT,
    "compiler/artifact": [MODEL, "dialects/plan", "compiler/plan", "compiler/host", "targets/common", RUNTIME] + DIALECT,
    "compiler/embed": [MODEL, "dialects/plan", "compiler/plan", "compiler/host", "compiler/artifact", "targets/common", COMPILER, RUNTIME] + DIALECT,
    "compiler/eval": [MODEL, "dialects/plan"] + DIALECT,
    "compiler/reduce": [MODEL, READERS, "compiler/import/onnx/file", "compiler/import/onnx/graph", COMPILER] + DIALECT,
    "compiler/quantize/propose": [COMPILER],
    "compiler/quantize": [MODEL, READERS, "compiler/quantize/propose", "compiler/hardware", "compiler/import/onnx/file", "compiler/reduce", "compiler/tuning", "passes/quant", "targets/common", COMPILER, RUNTIME] + DIALECT,
    "compiler/driver": ["targets/common", MODEL, READERS, ONNX, "compiler/import/text", "compiler/import/checkpoint", "compiler/plan", "compiler/host",
                        "compiler/artifact", "compiler/embed", "compiler/machine", "compiler/tuning", "dialects/plan", "passes/cost", "passes/graph", "passes/quant", "passes/parallel", "passes/kernel",
                        "passes/plan", COMPILER] + DIALECT,
    RUNTIME: [],
    "runtime/src/base": [RUNTIME],
    "runtime/src/cpu": ["runtime/src/base", RUNTIME],
    "runtime/src/group": ["runtime/src/base", "runtime/src/cpu", RUNTIME],
    "runtime/src/open": ["runtime/src/base", "runtime/src/cpu", RUNTIME],
    "runtime/src/call": ["runtime/src/base", "runtime/src/cpu", "runtime/src/group", "runtime/src/open", RUNTIME],
    # Plug-ins are libraries of their own, which link the runtime in.
    "runtime/mpi": ["runtime/src/base", "runtime/src/cpu", "runtime/src/group", RUNTIME],
    # Of the emulated GPU: text <- code <- run <- ops <- device. Decoders are what instructions know of what runs them.
    GPU: [RUNTIME],
    GPU + "/text": [],
    GPU + "/code": [GPU + "/text"],
    GPU + "/run": [GPU + "/code", GPU + "/text"],
    GPU + "/ops": [GPU + "/run", GPU + "/code", GPU + "/text"],
    GPU + "/device": [GPU, "runtime/plugins", GPU + "/run", GPU + "/code", GPU + "/text", RUNTIME],
    # What all plug-ins for one kind of code say alike.
    "runtime/plugins": [],
    "runtime/plugins/cuda": ["runtime/plugins", "runtime/src/base", RUNTIME],
    # The command runs artifacts without the compiler, so only its compiler half may know one.
    CLI: [LINK, RUNTIME],
    # A transport around the runtime's, as a plug-in is one beside them.
    LINK: ["runtime/src/base", "runtime/src/cpu", "runtime/src/group", RUNTIME],
    # What 'weft tune' and a remote of its have in common.
    TRIALS: [CLI, RUNTIME],
    "tools/weft/verbs": [CLI, TRIALS, RUNTIME],
    "tools/weft": [CLI, TRIALS, RUNTIME],
    TOOL_MODEL: TOOL + ["compiler/artifact", "compiler/eval", "compiler/driver", "dialects/plan", "passes/graph"],
    "tools/weft/verify": TOOL + ["compiler/driver"],
    "tools/weft/reduce": TOOL + [READERS, ONNX, "compiler/reduce"],
    "tools/weft/tune": TOOL + [TRIALS, "compiler/driver", "targets/common"],
    "tools/weft/quantize": [CLI, "compiler/quantize", COMPILER, RUNTIME],
    "tools/weft/compile_verbs": TOOL + ["tools/weft/quantize", "tools/weft/verify", "tools/weft/reduce", TRIALS, "tools/weft/tune", ONNX, "compiler/artifact",
                                        "compiler/driver", "compiler/machine", "targets/common"],
    "tools/bench": [RUNTIME],
    "tools": ["compiler/driver", "dialects/plan", "passes/graph", "passes/quant", "passes/parallel", "passes/kernel", "passes/plan"] + DIALECT,
    "examples": [RUNTIME, COMPILER],
    "examples/sentence_search": [RUNTIME],
}
# A folder of so many sources has a row of its own.
ROOM = 5
# Parts that build without LLVM.
NO_LLVM = ("runtime/src/base", "runtime/src/cpu", "runtime/src/group", "runtime/src/open", "runtime/src/call", "runtime/mpi", "runtime/plugins/cuda", GPU, GPU + "/text", GPU + "/code", GPU + "/run", GPU + "/ops", GPU + "/device", RUNTIME, COMPILER, CLI, LINK, TRIALS, "tools/weft/verbs", "tools/weft", "examples")
FOREIGN = ("llvm/", "llvm-c/", "mlir/", "lld/", "clang/")

# Wrong arrows that are known: (file, include) -> why. Remove a row when its include goes; the check says when.
KNOWN = {
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".h", ".hpp", ".c", ".cpp", ".inc", ".def")
# Folders of machines, not of the system: Debian's /usr is fine.
MACHINE = re.compile(r"(?<![\w.$~}/-])/(?:work|home|root|mnt|scratch)/[A-Za-z0-9_.-]+|(?<![\w.$~}/-])/tmp/[A-Za-z0-9_-]+[/.][\w./-]+|\b[A-Z]:\\\\Users")


def part_of(path):
    """The longest part that contains the file, or None."""
    best = None
    for part in ALLOWED:
        if path.startswith(part + "/") and (best is None or len(part) > len(best)):
            best = part
    return best


def target_of(name, source, exists):
    """The repository path an include refers to, or None for headers of the system."""
    for prefix in ("runtime/include/", "compiler/include/"):
        if name.startswith("weft/") and exists(prefix + name):
            return prefix + name
    if part_of(name) or name.split("/")[0] in ("dialects", "passes", "targets", "compiler", "runtime", "tools", "examples", "test"):
        return name
    beside = os.path.normpath(os.path.join(os.path.dirname(source), name))
    return beside if exists(beside) else None


def check_include(source, name, exists):
    """The rule that is broken, or an empty text."""
    part = part_of(source)
    if part is None:
        return "its folder has no row in test/lint/layering.py"
    if part in NO_LLVM and name.startswith(FOREIGN):
        return f"'{part}' builds without LLVM"
    target = target_of(name, source, exists)
    if target is None:
        return ""
    other = part_of(target)
    if other is None:
        return f"'{target}' belongs to no part that '{part}' may use"
    if other == part or other in ALLOWED[part]:
        return ""
    uses = ", ".join(ALLOWED[part]) or "nothing else"
    return f"'{part}' may include itself and {uses}, not '{other}'"


def circle():
    """Parts whose rows lead back to themselves, but for the rooms of the dialect, which hold parts of the same classes."""
    rows = {part: [other for other in uses if other != part and other not in DIALECT] for part, uses in ALLOWED.items()}
    done, path = set(), []

    def visit(part):
        if part in path:
            return path[path.index(part):] + [part]
        if part in done:
            return []
        path.append(part)
        for other in rows[part]:
            found = visit(other)
            if found:
                return found
        done.add(path.pop())
        return []

    for part in rows:
        found = visit(part)
        if found:
            return found
    return []


def rooms_without_row(root):
    """Folders of ROOM sources or more that only the row of a folder above covers."""
    count = {}
    for source in sources(root):
        folder = os.path.dirname(source)
        count[folder] = count.get(folder, 0) + 1
    return sorted(folder for folder, files in count.items() if files >= ROOM and folder not in ALLOWED
                  and os.path.dirname(folder) not in (RUNTIME, COMPILER))


def sources(root):
    for top in sorted({part.split("/")[0] for part in ALLOWED}):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(files):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def committed(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.decode().split("\0") if name]
    return [os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root)
            if not os.path.relpath(folder, root).startswith((".git", "build")) for name in files]


def check_tree(root):
    findings, seen = [], set()
    exists = lambda path: os.path.exists(os.path.join(root, path))
    for source in sources(root):
        with open(os.path.join(root, source), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                why = check_include(source, match.group(2), exists)
                if why and (source, match.group(2)) in KNOWN:
                    seen.add((source, match.group(2)))
                elif why:
                    findings.append(f'{source}:{number}: #include "{match.group(2)}": {why}')
    findings += [f"{folder}: has {ROOM} sources or more and no row in test/lint/layering.py" for folder in rooms_without_row(root)]
    if circle():
        findings.append("test/lint/layering.py: a circle of rows: " + " <- ".join(circle()))
    for source, name in sorted(set(KNOWN) - seen):
        findings.append(f'{source}: no longer includes "{name}": remove the row from KNOWN in test/lint/layering.py')
    for path in committed(root):
        full = os.path.join(root, path)
        if path == "test/lint/layering.py" or not os.path.isfile(full):
            continue
        with open(full, "rb") as file:
            data = file.read(4 << 20)
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            match = MACHINE.search(line)
            if match:
                findings.append(f"{path}:{number}: '{match.group(0)}' is a path of one machine")
    return findings


def self_test():
    exists = lambda path: path in ("runtime/include/weft/runtime.h", "compiler/include/weft/compiler.hpp", "runtime/src/base/status.h")
    good = [("dialects/weft/Weft.h", "dialects/symbolic/SymExpr.h"), ("compiler/artifact/Blob.h", "weft/runtime.h"),
            ("runtime/src/open/module.cpp", "runtime/src/base/status.h"), ("examples/a/main.cpp", "weft/compiler.hpp"),
            ("targets/x86/X86Family.cpp", "targets/cpu/Schedule.h"), ("runtime/src/open/module.cpp", "stdint.h"),
            ("tools/weft/compile_verbs/Main.cpp", "weft/compiler.hpp")]
    bad = [("dialects/symbolic/SymExpr.h", "dialects/weft/Weft.h"), ("passes/kernel/A.cpp", "targets/common/KernelTarget.h"),
           ("dialects/weft/Weft.h", "passes/Passes.h"), ("runtime/src/open/module.cpp", "compiler/artifact/Blob.h"),
           ("compiler/artifact/Blob.h", "runtime/src/open/module.h"), ("examples/a/main.cpp", "compiler/artifact/Blob.h"),
           ("compiler/plan/Lower.cpp", "targets/cpu/Schedule.h"), ("runtime/src/open/module.cpp", "llvm/ADT/StringRef.h"),
           ("runtime/src/open/module.cpp", "weft/compiler.hpp"), ("tools/weft/main.cpp", "compiler/artifact/Blob.h"),
           ("targets/cpu/Schedule.h", "targets/x86/X86Family.h"), ("passes/A.cpp", "weft/runtime.h"),
           ("compiler/new/A.cpp", "weft/runtime.h"), ("runtime/src/base/status.cpp", "runtime/src/open/module.h"),
           ("runtime/src/open/query.cpp", "runtime/src/call/outputs.h"), ("compiler/model/A.cpp", "compiler/driver/Import.h"),
           ("targets/cpu/schedules/line/Row.cpp", "targets/cpu/schedules/tile/RowTile.h"),
           ("dialects/weft/ops/Move.cpp", "dialects/weft/code/Emit.h"), ("dialects/weft/ops/Move.cpp", "dialects/weft/reference/Walk.h"),
           ("dialects/weft/code/Move.cpp", "dialects/weft/reference/Walk.h"),
           ("dialects/weft/reference/Move.cpp", "dialects/weft/code/Emit.h")]
    for source, name in good:
        assert not check_include(source, name, exists), (source, name)
    for source, name in bad:
        assert check_include(source, name, exists), (source, name)
    here = "/" + "home/somebody/weft"
    assert MACHINE.search(f'path = "{here}"') and MACHINE.search("x=/" + "tmp/a/b.c")
    for line in ("/usr/lib/llvm-19", "${dir}/home/x", "~/.cache/weft", "see test/work/x", "$OUT/tmp/a/b"):
        assert not MACHINE.search(line), line


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    self_test()
    findings = check_tree(os.path.normpath(root))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "layering: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
