#!/usr/bin/env python3
"""Fails when tools/quickstart before tools/check leaves out tests that tools/check alone has.

The first configures a build folder before the packages of the tests are installed, the second configures it again behind that. Here a
compiler stands for the package: it knows libFuzzer from when a file exists. Nothing is built.

    orders.py ROOT     exit 0: both orders have the same tests; 1: prints what differs
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

COMPILERS = ("clang-19", "clang++-19")
WITHOUT_LIBFUZZER = """#!/bin/sh
case " $* " in
  *=fuzzer,*) test -e '{installed}' || {{ echo 'cannot find libclang_rt.fuzzer.a' >&2; exit 1; }} ;;
esac
exec '{compiler}' "$@"
"""


class Machine:
    """A machine with an empty build folder, without libFuzzer until it is installed."""

    def __init__(self, root, folder):
        self.root, self.build = root, os.path.join(folder, "build")
        self.installed = os.path.join(folder, "installed")
        programs = os.path.join(folder, "bin")
        os.makedirs(programs)
        for name in COMPILERS:
            path = os.path.join(programs, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(WITHOUT_LIBFUZZER.format(installed=self.installed, compiler=shutil.which(name)))
            os.chmod(path, 0o755)
        self.environment = dict(os.environ, PATH=programs + os.pathsep + os.environ["PATH"])

    def install(self):
        with open(self.installed, "w", encoding="utf-8"):
            pass

    def configure(self):
        """The tests of the build folder, and what the configuration says it left out."""
        self.run(["cmake", "--preset", "dev", "-B", self.build], cwd=self.root)
        listing = self.run(["ctest", "--test-dir", self.build, "--show-only"])
        with open(os.path.join(self.build, "tests-off.txt"), encoding="utf-8") as file:
            return set(re.findall(r"Test +#\d+: (\S+)", listing)), file.read()

    def run(self, command, cwd=None):
        done = subprocess.run(command, cwd=cwd, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}")
        return done.stdout


def findings(root, scratch):
    check_first = Machine(root, os.path.join(scratch, "check-first"))
    check_first.install()
    everything, nothing_off = check_first.configure()
    quickstart_first = Machine(root, os.path.join(scratch, "quickstart-first"))
    fewer, named = quickstart_first.configure()
    quickstart_first.install()
    later, nothing_left = quickstart_first.configure()

    if not any("libfuzzer" in name for name in everything - fewer):
        yield f"the compiler without libFuzzer leaves out no test of it, but {sorted(everything - fewer)}"
    if "libFuzzer" not in named:
        yield f"tests under libFuzzer are left out and not named: '{named}'"
    if later != everything:
        yield f"behind quickstart these tests are missing: {sorted(everything - later)}, and these too many: {sorted(later - everything)}"
    if nothing_off != nothing_left:
        yield f"left out with all packages: '{nothing_off}', behind quickstart: '{nothing_left}'"


def main():
    root = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        found = list(findings(root, scratch))
    for finding in found:
        print(finding)
    print(f"{len(found)} findings" if found else "orders: the same tests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
