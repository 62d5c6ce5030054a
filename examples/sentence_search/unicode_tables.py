#!/usr/bin/env python3
"""Writes UnicodeTables.inc, the part of Unicode that BERT's cleaning of text needs.

    python3 unicode_tables.py > UnicodeTables.inc

BERT cleans a code point in this order: control characters (Cc, Cf, Co) go, the text is decomposed
(NFD), non-spacing marks (Mn) go, and the rest becomes lower case. All of that looks at one code
point at a time, so it is a table of all scripts: what each code point becomes. Two parts of Unicode
are not in the table: Hangul syllables decompose by arithmetic (UnicodeText.cpp), and CJK
compatibility ideographs (F900..FAFF, 2F800..2FA1F) stay what they are.

Hugging Face's tables are older (Unicode 8 to 9), so a few hundred rarer, later characters differ.
"""
import sys
import unicodedata

LIMIT = 0x110000


def is_control(code):
    return unicodedata.category(chr(code)) in ("Cc", "Cf", "Co")


def is_left_alone(code):
    surrogate = 0xD800 <= code <= 0xDFFF
    hangul = 0xAC00 <= code <= 0xD7A3
    compatibility = 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    return surrogate or hangul or compatibility


def folded(code):
    """The code points that `code` becomes."""
    parts = unicodedata.normalize("NFD", chr(code))
    kept = "".join(p for p in parts if unicodedata.category(p) != "Mn")
    # Lower case one by one: str.lower() would look at neighbours of a final sigma.
    return [ord(x) for part in kept for x in part.lower()]


def ranges(codes):
    result = []
    for code in sorted(codes):
        if result and result[-1][1] == code - 1:
            result[-1][1] = code
        else:
            result.append([code, code])
    return result


def runs(single, changed):
    """Covers {code: target} with rows that do not overlap: (first, last, step, target, advance)."""
    rows = []
    codes = sorted(single)
    at = 0
    while at < len(codes):
        first = codes[at]
        best = None
        for step, advance in ((1, 1), (1, 0), (2, 1)):
            last = first
            while single.get(last + step) == single[first] + advance * (last + step - first) and (
                    step == 1 or last + 1 not in changed):
                last += step
            if best is None or last > best[1]:
                best = (first, last, step, single[first], advance)
        rows.append(best)
        while at < len(codes) and codes[at] <= best[1]:
            at += 1
    return rows


def print_rows(comment, declaration, rows):
    print(f"\n// {comment}\n{declaration} = {{")
    line = "   "
    for row in rows:
        text = " {" + ", ".join(f"0x{x:X}" if x > 9 else str(x) for x in row) + "},"
        if len(line) + len(text) > 100:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def main():
    changed = {c: folded(c) for c in range(LIMIT) if not is_left_alone(c) and folded(c) != [c]}
    removed = [c for c in range(LIMIT) if is_control(c) or changed.get(c) == []]
    single = {c: t[0] for c, t in changed.items() if len(t) == 1}
    several = [[c] + (t + [0, 0])[:3] for c, t in sorted(changed.items()) if len(t) > 1]
    # BERT's definition: what ASCII prints that is no letter, digit or space, and category P.
    punctuation = [c for c in range(LIMIT) if unicodedata.category(chr(c))[0] == "P" or
                   33 <= c <= 47 or 58 <= c <= 64 or 91 <= c <= 96 or 123 <= c <= 126]
    version = unicodedata.unidata_version
    print(f"// Written by unicode_tables.py from Unicode {version}; do not edit.")
    print_rows("First and last code point of what disappears: control characters and accents.",
               "static const Range removedRanges[]", ranges(removed))
    print_rows("First, last, step, target, advance: every step-th code point from first to last\n"
               "// becomes target + advance * (code - first).",
               "static const Run foldedRuns[]", runs(single, changed))
    print_rows("One code point that becomes two or three.",
               "static const Several foldedSeveral[]", several)
    print_rows("First and last code point of punctuation.",
               "static const Range punctuationRanges[]", ranges(punctuation))


if __name__ == "__main__":
    sys.exit(main())
