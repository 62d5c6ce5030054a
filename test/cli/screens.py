#!/usr/bin/env python3
"""Checks promises about the command as a whole: screens fit, it starts at once, and LLVM is not mapped.

    screens.py WEFT
"""

import re
import subprocess
import sys
import time

COLUMNS, LINES = 100, 40
STARTUP_SECONDS = 0.010
NEEDED = re.compile(r"^(libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|ld-linux[-\w]*|libc\+\+|lib[atu]+san)\.so")


def check(good, text):
    print(("ok      " if good else "FAILED  ") + text)
    return good


def screens(weft):
    overview = subprocess.run([weft, "help"], check=True, capture_output=True, text=True).stdout
    verbs = re.findall(r"^  (\w+) {2,}", overview.split("\nVerbs\n")[1].split("\n\n")[0], re.M)
    good = check(len(verbs) >= 9, f"the overview lists {len(verbs)} verbs")
    for verb in verbs:
        text = subprocess.run([weft, "help", verb], check=True, capture_output=True, text=True).stdout
        same = subprocess.run([weft, verb, "--help"], check=True, capture_output=True, text=True).stdout
        lines = text.splitlines()
        widest = max(map(len, lines))
        good &= check(len(lines) <= LINES and widest <= COLUMNS and text == same and "Usage: weft " + verb in text,
                      f"help of {verb}: {len(lines)} lines, {widest} columns, the same with --help")
    return good & check(len(overview.splitlines()) <= LINES, "the overview fits a screen")


def startup(weft):
    seconds = []
    for _ in range(30):
        begin = time.perf_counter()
        subprocess.run([weft, "--version"], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begin)
    # The quickest start: how busy the machine is says nothing about the program.
    return check(min(seconds) < STARTUP_SECONDS, f"weft --version takes {min(seconds) * 1e3:.1f} ms")


def libraries(weft):
    text = subprocess.run(["readelf", "-d", weft], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
    return check(all(NEEDED.match(name) for name in needed), "needs " + ", ".join(needed))


if __name__ == "__main__":
    results = [promise(sys.argv[1]) for promise in (screens, startup, libraries)]
    sys.exit(0 if all(results) else 1)
