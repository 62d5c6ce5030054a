#!/usr/bin/env python3
"""Fails on an #include that goes against the arrows of the tree, and on a path of somebody's machine in a committed file.

  dialects/symbolic <- dialects/weft <- passes <- targets/common <- targets/cpu <- targets/x86 <- compiler <- tools
  runtime knows only itself; everybody above may use runtime/include; examples use runtime/include and compiler/include

    test/lint/layering.py [ROOT]      exit 0: clean; 1: prints file:line, the include, and the rule
    test/lint/layering.py --self-test
"""
import os
import re
import subprocess
import sys

# A part may include from itself and from the parts listed here; a longer name is looked at before its parent.
RUNTIME, COMPILER = "runtime/include", "compiler/include"
ALLOWED = {
    "dialects/symbolic": [],
    "dialects/weft": ["dialects/symbolic"],
    "passes": ["dialects/symbolic", "dialects/weft"],
    "targets/common": ["dialects/symbolic", "dialects/weft", "passes"],
    "targets/cpu": ["dialects/symbolic", "dialects/weft", "passes", "targets/common"],
    "targets/x86": ["dialects/symbolic", "dialects/weft", "passes", "targets/common", "targets/cpu"],
    "compiler/include": [],
    "compiler": ["dialects/symbolic", "dialects/weft", "passes", "targets/common", COMPILER, RUNTIME],
    "runtime/include": [],
    "runtime": [RUNTIME],
    # The command runs artifacts without the compiler, so only its compiler half may know one.
    "tools/weft/compiler_half": ["tools/weft", "compiler", COMPILER, RUNTIME, "passes", "dialects/symbolic", "dialects/weft", "targets/common"],
    "tools/weft": [RUNTIME],
    "tools": ["compiler", COMPILER, RUNTIME, "passes", "dialects/symbolic", "dialects/weft", "targets/common", "targets/cpu"],
    "examples": [RUNTIME, COMPILER],
}
# Parts that build without LLVM.
NO_LLVM = ("runtime", "runtime/include", "compiler/include", "tools/weft", "examples")
FOREIGN = ("llvm/", "llvm-c/", "mlir/", "lld/", "clang/")

# Wrong arrows that are known: (file, include) -> why. Remove a row when its include goes; the check says when.
KNOWN = {
    ("compiler/pipeline/Compile.cpp", "targets/cpu/Codegen.h"): "loads the dialects of the host program",
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
        return ""
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
    exists = lambda path: path in ("runtime/include/weft/runtime.h", "compiler/include/weft/compiler.hpp", "runtime/src/status.h")
    good = [("dialects/weft/Weft.h", "dialects/symbolic/SymExpr.h"), ("compiler/artifact/Blob.h", "weft/runtime.h"),
            ("runtime/src/module.cpp", "runtime/src/status.h"), ("examples/a/main.cpp", "weft/compiler.hpp"),
            ("targets/x86/X86Target.cpp", "targets/cpu/Schedule.h"), ("runtime/src/module.cpp", "stdint.h"),
            ("tools/weft/compiler_half/Main.cpp", "weft/compiler.hpp")]
    bad = [("dialects/symbolic/SymExpr.h", "dialects/weft/Weft.h"), ("passes/kernel/A.cpp", "targets/common/Target.h"),
           ("dialects/weft/Weft.h", "passes/Passes.h"), ("runtime/src/module.cpp", "compiler/artifact/Blob.h"),
           ("compiler/artifact/Blob.h", "runtime/src/module.h"), ("examples/a/main.cpp", "compiler/artifact/Blob.h"),
           ("compiler/pipeline/Lower.cpp", "targets/cpu/Schedule.h"), ("runtime/src/module.cpp", "llvm/ADT/StringRef.h"),
           ("runtime/src/module.cpp", "weft/compiler.hpp"), ("tools/weft/main.cpp", "compiler/artifact/Blob.h"),
           ("targets/cpu/Schedule.h", "targets/x86/X86Target.h"), ("passes/A.cpp", "weft/runtime.h")]
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
