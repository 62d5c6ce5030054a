#!/usr/bin/env python3
"""Fails when a page of README.md or docs/ names a file that does not exist.

Checked are relative links, with the heading after '#', and paths of the tree in backticks: `passes/graph/Passes.td`, `runtime/src/`.
A placeholder such as <Family> stands for any name, and one file must have it. Lines with "(new)" are not looked at.

    test/lint/doc_links.py [ROOT]     exit 0: clean; 1: prints file:line and what is missing
"""
import glob
import os
import re
import sys

TOP = ("cmake", "compiler", "dialects", "docs", "examples", "passes", "runtime", "targets", "test", "tools")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"^(?:%s)(?:/(?:[A-Za-z0-9_.+-]|<\w+>)+)+/?$" % "|".join(TOP))
PLACEHOLDER = re.compile(r"<\w+>")


def pages(root):
    yield "README.md"
    for folder, folders, files in os.walk(os.path.join(root, "docs")):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), root)


def lines_of(path):
    """Numbered lines outside of code fences."""
    fenced = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, line


def anchors(path):
    """Headings as GitHub and Python-Markdown name them."""
    names = set()
    for _, line in lines_of(path):
        match = re.match(r"#+\s+(.*)", line)
        if match:
            text = re.sub(r"[^\w\- ]", "", match.group(1).strip().lower().replace("`", ""))
            names.add(text.replace(" ", "-"))
    return names


def check_link(root, page, link):
    if re.match(r"[a-z]+:", link):
        return ""
    target, _, anchor = link.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(os.path.join(root, page)), target)) if target else os.path.join(root, page)
    if not os.path.exists(path):
        return f"link to '{link}', which does not exist"
    if anchor and path.endswith(".md") and anchor not in anchors(path):
        return f"link to '{link}': the page has no such heading"
    return ""


def main():
    root = os.path.normpath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    findings = []
    for page in pages(root):
        for number, line in lines_of(os.path.join(root, page)):
            for link in LINK.findall(line):
                why = check_link(root, page, link)
                if why:
                    findings.append(f"{page}:{number}: {why}")
            if "(new)" in line: # a file that the reader is about to make
                continue
            for code in CODE.findall(line):
                if PATH.match(code) and not glob.glob(os.path.join(root, PLACEHOLDER.sub("*", code))):
                    findings.append(f"{page}:{number}: `{code}` does not exist")
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "links: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
