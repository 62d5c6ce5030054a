#!/usr/bin/env python3
"""Runs transcripts: commands with what they must print and exit with.

    transcript.py --bin DIR [--bin DIR…] [--data DIR] [--keep-kernels] FILE.t…

    # A comment: the sentence that the next command proves.
    $ weft run sample.weft --taget x
    | a line of stdout
    ! a line of stderr
    ? 2                         the exit code, when it is not 0

Within a line {*} stands for any text and {#} for a number; a line `...` after | or ! stands for any number of lines.
Each file runs in an empty folder with the files of --data copied into it. `$+` continues a command on the next line.
With --keep-kernels commands of a file take the code of kernels that others compiled: where compiling is not what it is about.
WEFT_BLESS=1 writes what was printed into the file; lines that matched keep their marks.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


class Step:
    def __init__(self, line):
        self.line = line
        self.command = ""
        self.out, self.err, self.code = [], [], 0


def parse(path):
    """The file as a list of steps and of text lines between them."""
    parts, step = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        mark, text = line[:2], line[2:]
        if mark == "$ ":
            step = Step(number)
            step.command = text
            parts.append(step)
        elif mark == "$+" and step:
            step.command += "\n" + text.lstrip()
        elif line[:1] in "|!" and line and step:
            (step.out if line[0] == "|" else step.err).append(line[2:])
        elif mark == "? " and step:
            step.code = int(text)
        elif not line.strip() or line.startswith("#"):
            parts.append(line)
        else:
            sys.exit(f"{path}:{number}: not a line of a transcript: {line}")
    return parts


def pattern(line):
    out = re.escape(line)
    return out.replace(re.escape("{*}"), ".*").replace(re.escape("{#}"), NUMBER)


def matches(expected, actual):
    """Whether the lines match; `...` is tried against every number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and re.fullmatch(pattern(expected[0]), actual[0]) is not None and matches(
        expected[1:], actual[1:])


def show(step, title, out, err, code):
    lines = [f"  {title}:"]
    lines += ["    | " + line for line in out] + ["    ! " + line for line in err]
    return lines + [f"    ? {code}"]


def run(path, options):
    failures = 0
    parts = parse(path)
    steps = [part for part in parts if isinstance(part, Step)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kernels:
        for data in options.data:
            for file in pathlib.Path(data).iterdir():
                if file.is_file():
                    shutil.copy(file, folder)
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("WEFT_") and key not in ("NO_COLOR", "LANG", "LC_CTYPE")}
        env |= {"PATH": os.pathsep.join(options.bin + [env.get("PATH", "/usr/bin:/bin")]), "LC_ALL": "C.UTF-8",
                "TERM": "dumb", "HOME": folder}
        if options.keep_kernels:
            env["WEFT_KERNELS"] = kernels
        for step in steps:
            result = subprocess.run(["sh", "-c", step.command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, errors="replace", timeout=120)
            out = [line.rstrip() for line in result.stdout.splitlines()]
            err = [line.rstrip() for line in result.stderr.splitlines()]
            good = result.returncode == step.code
            out_good, err_good = matches(step.out, out), matches(step.err, err)
            if good and out_good and err_good:
                continue
            failures += 1
            report = [f"{path.name}:{step.line}: $ {step.command}"]
            report += show(step, "expected", step.out, step.err, step.code)
            report += show(step, "got", out, err, result.returncode)
            print("\n".join(report))
            step.code = result.returncode
            step.out = step.out if out_good else out
            step.err = step.err if err_good else err
    if failures and os.environ.get("WEFT_BLESS"):
        path.write_text(text_of(parts))
    print(f"{path.name}: {len(steps)} commands, {failures} failed")
    return failures


def text_of(parts):
    lines = []
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            continue
        lines.append("$ " + part.command.replace("\n", "\n$+ "))
        lines += [("| " + line).rstrip() for line in part.out] + [("! " + line).rstrip() for line in part.err]
        lines += [f"? {part.code}"] if part.code else []
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", action="append", default=[], type=os.path.abspath)
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--keep-kernels", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    sys.exit(1 if sum(run(path, options) for path in options.files) else 0)


if __name__ == "__main__":
    main()
