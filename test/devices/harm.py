"""Faults that are put into kernels' PTX, by rules over its text: nothing here knows a kernel, so the rules live on when kernels change.

    for rule in RULES:
        for line, text in rule.harmed(ptx): ...     the whole text with one fault, and the number of the line where it is
"""
import re

#: Of one rule in one kernel, unless the rule says another number: more sites are tried in even steps.
MOST_SITES = 6
BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


class Rule:
    """`change` gives what a line becomes, "" to leave it out, or None where the rule says nothing of it."""

    def __init__(self, name, change, every=True, sites=MOST_SITES):
        self.name, self.change, self.sites = name, change, sites
        self.every = every  # each fault must be found; else one of a model, as some are harmless: two threads that store the same number

    def harmed(self, ptx):
        lines = joined(ptx.splitlines())
        context = Context(lines)
        sites = [(i, new) for i, line in enumerate(lines) if (new := self.change(line, context)) is not None and new != line]
        step = max(1, -(-len(sites) // self.sites))
        for i, new in sites[::step]:
            yield i + 1, "\n".join(lines[:i] + [new] + lines[i + 1:]) + "\n"


class Context:
    """What a rule may ask of the whole kernel."""

    def __init__(self, lines):
        self.labels = {line.rstrip(":"): i for i, line in enumerate(lines) if line.startswith("$") and line.endswith(":")}
        self.lines = lines
        self.set_once = {name for name, count in counted(lines).items() if count == 1}

    def is_exit(self, label):
        behind = self.lines[self.labels[label] + 1:] if label in self.labels else []
        return bool(behind) and behind[0].strip() == "ret;"


def counted(lines):
    counts = {}
    for line in lines:
        if found := re.match(r"\s*(?:@!?%\w+ )?[\w.]+\s+(%\w+),", line):
            counts[found.group(1)] = counts.get(found.group(1), 0) + 1
    return counts


def joined(lines):
    """An instruction that takes several lines in one; the number of lines stays."""
    out, begun = [], None
    for line in lines:
        is_part = line.startswith("\t\t") and begun is not None
        if is_part:
            out[begun] += " " + line.strip()
        out.append("" if is_part else line)
        if not is_part:
            begun = len(out) - 1
    return out


def without(pattern):
    return lambda line, _: "" if re.match(r"\s*(@!?%\w+ )?(" + pattern + ")", line) else None


def replaced(pattern, by):
    return lambda line, _: re.sub(pattern, by, line, count=1) if re.search(pattern, line) else None


def moved(kind, bytes_of):
    """An access of memory at another address: so many bytes of the element behind."""
    def change(line, _):
        found = re.search(kind + r"[\w.]*\.[a-z]+(8|16|32|64)\s.*\[%\w+(\+\d+)?\]", line)
        if not found:
            return None
        far = bytes_of(BYTES[found.group(1)])
        return re.sub(r"\[(%\w+)(?:\+(\d+))?\]", lambda at: f"[{at[1]}+{int(at[2] or 0) + far}]", line) if far else None
    return change


def loosened(line, _):
    """A comparison of two indices that lets one more in, or one less out."""
    swap = {"ge": "gt", "gt": "ge", "lt": "le", "le": "lt"}
    found = re.match(r"(\s*setp\.)(ge|gt|lt|le)(\.[su](?:32|64)\s+%\w+, %\w+, %\w+;)", line)
    return found and found.group(1) + swap[found.group(2)] + found.group(3)


def unguarded(line, context):
    """A thread that has nothing to do goes on."""
    found = re.match(r"\s*@!?%\w+ bra\s+(\$\w+);", line)
    return "" if found and context.is_exit(found.group(1)) else None


def undefined(line, context):
    """A register that nothing sets."""
    found = re.match(r"\s*(?:mov|ld\.param|cvt)\.[\w.]+\s+(%\w+),", line)
    return "" if found and found.group(1) in context.set_once else None


def swapped(group):
    """Two registers of an operand of tensor cores, which is number `group`."""
    def change(line, _):
        operands = re.findall(r"\{[^}]*\}", line) if "mma.sync" in line or "wgmma" in line else []
        if len(operands) <= group:
            return None
        names = operands[group].strip("{}").split(", ")
        other = "{" + ", ".join([names[1], names[0], *names[2:]]) + "}"
        at = -1
        for _ in range(group + 1):
            at = line.index(operands[group] if _ == group else operands[_], at + 1)
        return line[:at] + other + line[at + len(operands[group]):]
    return change


RULES = [
    # bar.warp only brings threads together again, for what comes next.
    Rule("a barrier is missing", without(r"bar\.(?!warp)|barrier\.|fence|wgmma\.fence|membar|mbarrier\.(try_)?wait")),
    Rule("a wait for copies is missing", without(r"cp\.async(\.bulk)?\.wait")),
    Rule("a wait for copies is too weak", replaced(r"(cp\.async\.wait_group\s+)(\d+)", lambda at: at[1] + str(int(at[2]) + 1))),
    Rule("a wait for products is missing", without(r"wgmma\.(wait|commit)_group")),
    Rule("what a block left is not released", replaced(r"(atom)\.acq_rel", r"\1.acquire")),
    Rule("what blocks left is not acquired", replaced(r"(atom)\.acq_rel", r"\1.release")),
    Rule("blocks count to another number", replaced(r"(atom\.[\w.]*inc\.u32\s+%\w+, \[%\w+\], )%\w+;", r"\g<1>0;")),
    Rule("a copy is missing", without(r"cp\.async\.(ca|cg|bulk)")),
    Rule("a store is missing", without(r"st\.(global|shared)")),
    Rule("a store is one element behind", moved(r"st\.(?:global|shared)", lambda size: size), every=False),
    Rule("a store is not aligned", moved(r"st\.(?:global|shared)", lambda size: size // 2)),
    Rule("a load is one element behind", moved(r"ld\.(?:global|shared)", lambda size: size), every=False),
    Rule("a load is not aligned", moved(r"ld\.(?:global|shared)", lambda size: size // 2)),
    Rule("a comparison is off by one", loosened, every=False, sites=8 * MOST_SITES),
    Rule("threads that should end go on", unguarded, every=False),
    Rule("a register is not set", undefined, every=False),
    Rule("a shuffle asks another lane", replaced(r"(shfl\.sync\.\w+\.b32.*, )(\d+)(, \d+, )", lambda at: at[1] + str(int(at[2]) // 2 or 2) + at[3]), every=False),
    Rule("a shuffle forgets a lane", replaced(r"(shfl\.sync.*, )-1;", r"\g<1>2147483647;")),
    Rule("lanes are counted wrongly", replaced(r"(and\.b(?:32|64)\s+%\w+, %\w+, )31;", r"\g<1>15;"), every=False),
    Rule("a fragment is taken from other lanes", replaced(r"(bfe\.u(?:32|64)\s+%\w+, %\w+, )2, 3;", r"\g<1>3, 3;"), every=False),
    Rule("a product is missing", without(r"mma\.sync|wgmma\.mma")),
    Rule("results of a product are swapped", swapped(0)),
    Rule("the left side of a product is swapped", swapped(1)),
    Rule("the right side of a product is swapped", swapped(2)),
    Rule("a step of a loop is too short", replaced(r"(add\.[su](?:32|64)\s+(%\w+), \2, )(16|32);", lambda at: f"{at[1]}{int(at[3]) // 2};"), every=False),
]
