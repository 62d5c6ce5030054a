#!/usr/bin/env python3
"""Fails when files or functions of C and C++ outgrow what the tree promises a reader, or when one says TODO.

    test/lint/bounds.py [ROOT]      exit 0: within bounds; 1: prints what is not
    test/lint/bounds.py --list      prints the longest of all, too
    test/lint/bounds.py --self-test
"""
import os
import re
import subprocess
import sys

FILE_MEDIAN, FILE_P95, FILE_LARGEST = 120, 450, 700
FUNCTION_P95, PARAMETERS = 35, 6
SOURCES = (".h", ".hpp", ".c", ".cpp")

INTERFACE = "its parameters are part of the public interface"
TILES = "what a tile reads, where it goes and how large it is are not one struct yet"
# Functions that are known to have more parameters -> why. Remove a row when it is no longer needed; the check says when.
KNOWN = {
    "weft_call": INTERFACE,
    "weft_call_function": INTERFACE,
    "weft_submit": INTERFACE,
    "weft_query_outputs": INTERFACE,
    "call": "behind weft_call and weft_call_function",
    "finish_call": "behind weft_call_function and weft_submit",
    "LLVMFuzzerCustomCrossOver": "libFuzzer calls it",
    "cuLaunchKernel": "NVIDIA's interface has them",
    "check_memory": "what every check of an entry gets, and the sizes",
    "weft_check_given_output": "what every check of an entry gets, and the output",
    "weft_share_of": "kernel, units and threads of one call",
    "FunctionCall": "keeps what its import runs in",
    "NodeImport": "keeps what its import runs in",
    "normalizeLines": "operands of a normalisation, three of which may be missing",
    "combine": "one operation each for trees of four kinds of nodes",
    "layer": "a program of a test, written from its sizes",
    "convolution": "a program of a test, written from its sizes",
    **dict.fromkeys(("multiplyAdd", "pullColumns", "widenRows", "pullRows", "accumulate", "epilogue", "step",
                     "IntegerTile::step", "callRowTiles", "copyStrips"), TILES),
}

# Comments, strings and characters; raw strings first. Each becomes as many lines of nothing.
NO_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
SCOPE = re.compile(r"\b(?:namespace|class|struct|enum|union)\b[^()=]*$|^\s*extern\s*$")
# A head of a function: a name, parameters, and what may stand between them and the body.
FUNCTION = re.compile(r"([\w:~]+|operator\s*\S+?)\s*$")
MACRO = re.compile(r"[A-Z][A-Z0-9_]{2,}") # such as TEST_CASE
CONTROL = ("if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "__attribute__", "defined")


def code_of(text):
    return NO_CODE.sub(lambda found: '""' * found[0].startswith(('"', "R")) + "\n" * found[0].count("\n"), text)


def parameters(head):
    """Name and number of parameters of the function that a head declares; None when it is none."""
    begin = head.replace("operator()", "operator  ").find("(")
    while begin >= 0:
        name = FUNCTION.search(head[:begin])
        if name and name[1] not in CONTROL:
            break
        begin = head.find("(", begin + 1)
    if begin < 0 or "=" in head[:begin].replace("operator=", "").replace("==", ""):
        return None
    depth, commas, inside = 0, 0, ""
    for at in range(begin, len(head)):
        c = head[at]
        if c in "([{" or (c == "<" and at and head[at - 1] not in " <"):
            depth += 1
        elif c in ")]}" or (c == ">" and head[at - 1] != "-"):
            depth -= 1
        elif c == "," and depth == 1:
            commas += 1
        if depth == 0:
            inside = head[begin + 1:at]
            break
    if MACRO.fullmatch(name[1]):
        return name[1], 0
    return name[1], commas + 1 if inside.strip() not in ("", "void") else 0


def functions(text):
    """(name, first line, lines, parameters) of all functions with a body; lines is 0 for those without."""
    code = code_of(text)
    head, line, inside, body = 0, 1, [], None
    for at, c in enumerate(code):
        if body is None and c in "{;":
            found = parameters(code[head:at])
            if c == "{" and found and not SCOPE.search(code[head:at]):
                first = line - code[head:at].lstrip().count("\n")
                body = (found, first, len(inside))
            elif c == ";" and found and re.search(r"\)[\s\w=&]*$", code[head:at]) and re.search(r"\w[\s*&>]+[\w:~]+\s*\(", code[head:at]):
                yield found[0], line, 0, found[1]
        if c == "{":
            inside.append(c)
        elif c == "}" and inside:
            inside.pop()
            if body and len(inside) == body[2]:
                (name, count), first, _ = body
                yield name, first, line - first + 1, count
                body = None
        if c in "{};" and body is None:
            head = at + 1
        line += c == "\n"


def committed(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True).stdout.decode()
    return [name for name in listed.split("\0") if name.endswith(SOURCES) and os.path.isfile(os.path.join(root, name))]


def percentile(numbers, part):
    return sorted(numbers)[int(part * (len(numbers) - 1))]


def check_tree(root, listing):
    lengths, sizes, findings, known = {}, {}, [], set()
    for name in committed(root):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = file.read()
        lengths[name] = text.count("\n")
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"\bTODO\b", line):
                findings.append(f"{name}:{number}: says TODO")
        for function, line, lines, count in functions(text):
            if lines:
                sizes[f"{name}:{line}: {function}"] = lines
            if count > PARAMETERS and function in KNOWN:
                known.add(function)
            elif count > PARAMETERS:
                findings.append(f"{name}:{line}: {function} has {count} parameters, more than {PARAMETERS}")
    findings += [f"test/lint/bounds.py: no {name} has more than {PARAMETERS} parameters: remove its row from KNOWN" for name in KNOWN if name not in known]
    findings += [f"{name}: {lines} lines, more than {FILE_LARGEST}" for name, lines in lengths.items() if lines > FILE_LARGEST]
    for what, number, limit in (("median of files", percentile(lengths.values(), 0.5), FILE_MEDIAN),
                                ("95 % of files", percentile(lengths.values(), 0.95), FILE_P95),
                                ("95 % of functions", percentile(sizes.values(), 0.95), FUNCTION_P95)):
        print(f"{what}: at most {number} lines of {limit}")
        if number > limit:
            findings.append(f"{what}: {number} lines, more than {limit}")
    print(f"{len(lengths)} files, the largest {max(lengths.values())} lines; {len(sizes)} functions, the longest {max(sizes.values())}")
    if listing:
        for each in (lengths, sizes):
            for name in sorted(each, key=each.get)[-30:]:
                print(f"{each[name]:5}  {name}")
    return findings


def self_test():
    text = '''
namespace a {
struct B : C<int, long> {
  B(int x, std::map<int, int> y) : x(x), y{} {}
  virtual void pure(int a, int b, int c) const = 0;
  int x = f(1, 2, 3);
};
// void no(int a) {
const char *t = R"(int no(int a, int b) { })";
static bool less(const B &a,
                 const B &b) {
  if (a.x(1, 2)) {
    return f([](int a, int b) { return a; });
  }
  return false;
}
TEST_CASE("words, commas") { g(1); }
int operator()(int a) { return 0; }
} // namespace a
'''
    found = {(name, lines, count) for name, _, lines, count in functions(text)}
    expected = {("B", 1, 2), ("pure", 0, 3), ("less", 7, 2), ("TEST_CASE", 1, 0), ("operator()", 1, 1)}
    assert found == expected, found ^ expected


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return 0
    listing = "--list" in sys.argv[1:]
    given = [argument for argument in sys.argv[1:] if argument != "--list"]
    findings = check_tree(given[0] if given else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."), listing)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "bounds: kept")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
