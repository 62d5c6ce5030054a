#!/usr/bin/env python3
"""Fails when a how-to page is stale: does in a copy of the tree what the pages say, builds it and runs what they show.

All pages go into one copy. What the tree's own build compiled comes from ccache, so only what the pages touch costs time.

    try_howto.py ROOT PAGE...              exit 0: all pages work; 1: prints the first that does not, and why
    try_howto.py --keep FOLDER ROOT PAGE...   work in FOLDER and leave it
    try_howto.py --apply-only ROOT PAGE...    only see whether the pages fit the tree
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from page import Page, Stale

PRESET = "dev"
DECLARED = r"dialects/weft/\w+\.h\.inc|dialects/weft/.*\.pch"


def run(command, folder, **options):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode:
        shown = command if isinstance(command, str) else " ".join(command)
        raise Stale(f"'{shown}' fails: exit {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


def copy_tree(root, tree):
    listed = run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
    for name in filter(None, listed.split("\0")):
        source, target = os.path.join(root, name), os.path.join(tree, name)
        if os.path.lexists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


class Build:
    """The build folder of a copy."""

    def __init__(self, tree):
        self.tree, self.folder = tree, os.path.join(tree, "build", PRESET)

    def configure(self):
        run(["cmake", "--preset", PRESET], self.tree)

    def make(self, targets):
        run(["ninja", *targets], self.folder)

    def declare(self):
        """Makes what most objects include and a page only adds to: declarations of operators, and the header that has them precompiled.

        They keep their times, so that ninja lets objects that do not use what is new be as they are.
        """
        names = [line.split(": ")[0] for line in run(["ninja", "-t", "targets", "all"], self.folder).splitlines()]
        declared = [name for name in names if re.fullmatch(DECLARED, name)]
        times = {os.path.join(self.folder, name): os.stat(os.path.join(self.folder, name)).st_mtime_ns for name in declared}
        self.make(declared)
        for path, time in times.items():
            os.utime(path, ns=(time, time))


def attempt(root, pages, scratch, apply_only):
    tree = os.path.join(scratch, "tree")
    copy_tree(root, tree)
    build = Build(tree)
    targets = sorted({target for page in pages for needed, _ in page.runs for target in needed})
    if targets and not apply_only:
        build.configure()
        build.make(targets)
    for page in pages:
        page.apply(tree)
    if apply_only:
        return
    if targets:
        build.configure()
        build.declare()
        build.make(targets)
    for page in pages:
        for _, command in page.runs:
            print(f"{os.path.basename(page.path)}: {command}", flush=True)
            run(command, build.folder, shell=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--keep")
    parser.add_argument("--apply-only", action="store_true")
    parser.add_argument("root")
    parser.add_argument("pages", nargs="+")
    given = parser.parse_args()
    scratch = given.keep or tempfile.mkdtemp(prefix="weft-howto-")
    try:
        attempt(os.path.abspath(given.root), [Page(path) for path in given.pages], scratch, given.apply_only)
    except Stale as why:
        print(why)
        return 1
    finally:
        if not given.keep:
            shutil.rmtree(scratch)
    print(f"{len(given.pages)} pages work")
    return 0


if __name__ == "__main__":
    sys.exit(main())
