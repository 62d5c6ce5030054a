#!/usr/bin/env python3
"""Small PTX programs, one for each instruction that kernels compute with: programs.py FOLDER [digests]

Each is a kernel k(in, out) of 32 threads a block that reads words of 8 bytes, executes the instruction and writes words of 8 bytes. NAME.in has the
numbers: those that are special, and random ones. list.txt is what run_ptx reads. Instructions that NVIDIA promises to be rounded are compared bit
for bit; approximations by the units in the last place of their documented error. With "digests" it prints, instead, a line for each program whose
NAME.out in the folder must be the same everywhere: h200.txt was written so, of what a GPU had given (run_ptx cuda FOLDER write).
"""
import hashlib
import itertools
import pathlib
import random
import struct
import sys

BLOCKS = 64
THREADS = 32 * BLOCKS
HEAD = """.version 8.0
.target sm_80
.address_size 64

.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>;
  .reg .b16 %h<24>;
  .reg .b32 %r<40>;
  .reg .b64 %d<40>;
  .shared .align 16 .b8 tile[512];
  mov.u32 %r30, %tid.x;
  mov.u32 %r31, %ctaid.x;
  mad.lo.u32 %r32, %r31, 32, %r30;
  ld.param.u64 %d30, [in];
  cvta.to.global.u64 %d30, %d30;
  ld.param.u64 %d31, [out];
  cvta.to.global.u64 %d31, %d31;
"""


def f32(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def bits(count):
    """Corners of an integer of so many bits."""
    top = 1 << count
    return [0, 1, 2, 3, 7, 8, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1]


SINGLES = [f32(value) for value in (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 65504.0, 65519.99, 65520.0, 8388609.5, 3.4e38, -3.4e38, 1.5e-45, 6e-8,
                                    2.98e-8, 1.17549435e-38, float("inf"), float("-inf"))] + [0x7fc00000, 0xffc00001, 0x7f800001, 0x00400000, 0x3f800001]
HALVES = [0, 0x8000, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 1, 0x3ff, 0x400, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe00]
BRAINS = [0, 0x8000, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 1, 0x7f, 0x80, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff]
DOUBLES = [struct.unpack("<Q", struct.pack("<d", value))[0] for value in
           (0.0, -0.0, 1.0, -1.5, 1e300, 1e-300, 5e-324, 3.5e38, 1e-45, 1 + 2**-24, 1 + 2**-25, float("inf"), float("-inf"), float("nan"))]
# Of a type: the kind of register, its size, and special values.
TYPES = {"f32": ("r", 32, SINGLES), "f64": ("d", 64, DOUBLES), "f16": ("h", 16, HALVES), "f16x2": ("r", 32, [0x80003c00, 0x7c00fc00, 0x7e000001]),
         "bf16": ("h", 16, BRAINS), "bf16x2": ("r", 32, [0x80003f80, 0x7f80ff80, 0x7fc00001]),
         "b16": ("h", 16, bits(16)), "b32": ("r", 32, bits(32)), "b64": ("d", 64, bits(64)), "amount": ("r", 32, [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 255]),
         "divisor": ("r", 32, bits(32)[1:]), "wide_divisor": ("d", 64, bits(64)[1:]), "normal": ("r", 32, [f32(1.0), f32(2.0), f32(0.5)])}


def random_bits(kind, chance):
    if kind == "normal":
        return f32(chance.uniform(0.01, 100))
    if kind == "amount":
        return chance.randrange(80)
    if kind == "f32" and chance.random() < 0.5:
        return f32(chance.gauss(0, 10 ** chance.uniform(-6, 6)))
    if kind == "f64":
        return struct.unpack("<Q", struct.pack("<d", chance.gauss(0, 10 ** chance.uniform(-60, 60))))[0]
    value = chance.getrandbits(TYPES[kind][1])
    return max(value, 1) if kind.endswith("divisor") else value


class Program:
    """`text` has {0}, {1} … for operands and {o} for the result, or {o0}, {o1} … for several."""

    def __init__(self, name, text, operands, result, *, ulp=0, results=1, values=None):
        self.name, self.text, self.operands, self.result = name, text, operands, result
        self.ulp, self.results, self.values = ulp, results, values

    def ptx(self):
        lines = [HEAD, f"  mul.wide.u32 %d32, %r32, {8 * len(self.operands)};", "  add.s64 %d32, %d30, %d32;",
                 f"  mul.wide.u32 %d33, %r32, {8 * self.results};", "  add.s64 %d33, %d31, %d33;"]
        given = {}
        for i, kind in enumerate(self.operands):
            register, size, _ = TYPES[kind]
            given[str(i)] = f"%{register}{i}"
            lines.append(f"  ld.global.b{size} %{register}{i}, [%d32+{8 * i}];")
        register, size, _ = TYPES[self.result]
        made = [f"%{register}{20 + i}" for i in range(self.results)]
        names = {"o": made[0], **{f"o{i}": each for i, each in enumerate(made)}}
        text = self.text
        for key, value in {**given, **names}.items():
            text = text.replace("{" + key + "}", value)
        lines.append("  " + text.replace("; ", ";\n  "))
        for i, each in enumerate(made):
            lines += [f"  cvt.u64.u{size} %d34, {each};" if size < 64 else f"  mov.b64 %d34, {each};", f"  st.global.b64 [%d33+{8 * i}], %d34;"]
        return "\n".join(lines + ["  ret;", "}", ""])

    def numbers(self):
        """All pairs of special values first."""
        chance = random.Random(self.name)
        if self.values:
            rows = [[self.values(chance) for _ in self.operands] for _ in range(THREADS)]
        else:
            special = itertools.islice(itertools.product(*(TYPES[kind][2] for kind in self.operands)), THREADS // 2)
            rows = [list(row) for row in special]
            rows += [[random_bits(kind, chance) for kind in self.operands] for _ in range(THREADS - len(rows))]
        return b"".join(struct.pack("<Q", value) for row in rows for value in row)

    def line(self):
        return f"{self.name} {BLOCKS} {THREADS * 8 * self.results} {self.ulp}"


def plain(names, operands, result, ulp=0):
    operands = operands.split()
    arguments = ", ".join("{%d}" % i for i in range(len(operands)))
    for name in names.split():
        yield Program(name, f"{name} {{o}}, {arguments};", operands, result, ulp=ulp)


def compared(names, kind):
    for name in names.split():
        yield Program(name, f"{name} %p1, {{0}}, {{1}}; selp.b32 {{o}}, 1, 0, %p1;", [kind, kind], "b32")


def pair_of(encode):
    """Two small whole numbers, of which every sum is exact."""
    return lambda chance: encode(chance.randrange(-8, 9)) | encode(chance.randrange(-8, 9)) << 16


def half_of(value):
    return struct.unpack("<H", struct.pack("<e", value))[0]


def special_pair(zero_to_nan):
    """Zeros and ones, whose sums are exact, and now and then an infinity or no number."""
    return lambda chance: sum(chance.choice(zero_to_nan[4:] if chance.random() < 0.01 else zero_to_nan[:4]) << shift for shift in (0, 16))


def whole_single(chance):
    return f32(float(chance.randrange(-64, 65)))


def four_bytes(chance):
    return chance.getrandbits(32)


def matrix(name, text, counts, values):
    """A product of fragments: `text` without its operands, how many registers A, B and the sum have, and numbers for A and B."""
    a, b, sums = counts
    lists = [", ".join("{%d}" % i for i in range(a)), ", ".join("{%d}" % i for i in range(a, a + b)), ", ".join("{o%d}" % i for i in range(sums))]
    left, right, result = ("{ " + each + " }" for each in lists)
    zero = "".join("mov.b32 {o%d}, 0; " % i for i in range(sums))
    return Program(name, f"{zero}{text} {result}, {left}, {right}, {result};", ["b32"] * (a + b), "b32", results=sums, values=values)


def matrices():
    for name, encode, special in (("f16", half_of, HALVES[:4] + HALVES[9:]), ("bf16", lambda value: f32(value) >> 16, BRAINS[:4] + BRAINS[9:])):
        for depth, counts in ((16, (4, 2, 4)), (8, (2, 1, 4))):
            text = f"mma.sync.aligned.m16n8k{depth}.row.col.f32.{name}.{name}.f32"
            yield matrix(f"mma.m16n8k{depth}.{name}", text, counts, pair_of(encode))
            yield matrix(f"mma.m16n8k{depth}.{name}.special", text, counts, special_pair(special))
    yield matrix("mma.m16n8k16.f16.sums.f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", (4, 2, 2), pair_of(half_of))
    yield matrix("mma.m16n8k8.tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", (4, 2, 4), whole_single)
    for name, kinds in (("s8", "s8.s8"), ("u8", "u8.u8"), ("u8.s8", "u8.s8"), ("s8.u8", "s8.u8")):
        yield matrix(f"mma.m16n8k32.{name}", f"mma.sync.aligned.m16n8k32.row.col.s32.{kinds}.s32", (4, 2, 4), four_bytes)
    for name in ("", ".trans"):
        text = ("mov.u32 %r33, tile; shl.b32 %r34, %r30, 4; add.s32 %r33, %r33, %r34; st.shared.b64 [%r33], {0}; st.shared.b64 [%r33+8], {1}; bar.sync 0; "
                f"ldmatrix.sync.aligned.m8n8.x4{name}.shared.b16 {{ {{o0}}, {{o1}}, {{o2}}, {{o3}} }}, [%r33];")
        yield Program(f"ldmatrix.x4{name}", text, ["b64", "b64"], "b32", results=4)


def lanes():
    """What threads of a warp tell each other."""
    for distance in (1, 2, 4, 8, 16):
        yield Program(f"shfl.bfly.{distance}", f"shfl.sync.bfly.b32 {{o}}, {{0}}, {distance}, 31, -1;", ["b32"], "b32")
    for way, end in (("up", 0), ("down", 31), ("idx", 31)):
        yield Program(f"shfl.{way}", f"and.b32 %r33, {{1}}, 31; shfl.sync.{way}.b32 {{o}}, {{0}}, %r33, {end}, -1;", ["b32", "b32"], "b32")
    for how in ("add.s32", "min.s32", "max.u32", "xor.b32"):
        yield Program(f"redux.{how}", f"redux.sync.{how} {{o}}, {{0}}, -1;", ["b32"], "b32")
    vote = "setp.lt.s32 %p1, {0}, 0; vote.sync."
    yield Program("vote.ballot", vote + "ballot.b32 {o}, %p1, -1;", ["b32"], "b32")
    for how in ("any", "all"):
        yield Program(f"vote.{how}", f"{vote}{how}.pred %p2, %p1, -1; selp.b32 {{o}}, 1, 0, %p2;", ["b32"], "b32")


def reals():
    yield from plain("add.rn.f32 sub.rn.f32 mul.rn.f32 div.rn.f32 min.f32 max.f32 min.NaN.f32 max.NaN.f32 add.rn.ftz.f32 mul.rn.ftz.f32 add.rn.sat.f32",
                     "f32 f32", "f32")
    yield from plain("copysign.f32", "f32 f32", "f32")
    yield from plain("fma.rn.f32 fma.rn.ftz.f32 fma.rn.sat.f32", "f32 f32 f32", "f32")
    yield from plain("rcp.rn.f32 sqrt.rn.f32 abs.f32 neg.f32 cvt.rni.f32.f32 cvt.rmi.f32.f32 cvt.rpi.f32.f32 cvt.sat.f32.f32", "f32", "f32")
    yield from plain("mul.rn.f64 add.rn.f64 sub.rn.f64 div.rn.f64 min.f64 max.f64", "f64 f64", "f64")
    yield from plain("fma.rn.f64", "f64 f64 f64", "f64")
    yield from plain("sqrt.rn.f64 rcp.rn.f64 abs.f64 neg.f64 cvt.rni.f64.f64", "f64", "f64")
    yield from plain("add.rn.f16 sub.rn.f16 mul.rn.f16 min.f16 max.f16 min.NaN.f16", "f16 f16", "f16")
    yield from plain("fma.rn.f16 fma.rn.relu.f16", "f16 f16 f16", "f16")
    yield from plain("neg.f16 abs.f16", "f16", "f16")
    yield from plain("neg.f16x2 abs.f16x2", "f16x2", "f16x2")
    yield from plain("add.rn.f16x2 mul.rn.f16x2 max.f16x2", "f16x2 f16x2", "f16x2")
    yield from plain("fma.rn.f16x2", "f16x2 f16x2 f16x2", "f16x2")
    yield from plain("min.bf16 max.bf16 max.NaN.bf16", "bf16 bf16", "bf16")
    yield from plain("neg.bf16 abs.bf16", "bf16", "bf16")
    yield from plain("fma.rn.bf16", "bf16 bf16 bf16", "bf16")
    yield from plain("fma.rn.bf16x2", "bf16x2 bf16x2 bf16x2", "bf16x2")
    yield from plain("ex2.approx.f32 ex2.approx.ftz.f32 rsqrt.approx.f32", "normal", "f32", ulp=4)
    yield from plain("rcp.approx.f32 sqrt.approx.f32", "normal", "f32", ulp=2)
    yield from plain("tanh.approx.f32", "normal", "f32", ulp=8192)


def conversions():
    yield from plain("cvt.f32.f16", "f16", "f32")
    yield from plain("cvt.rn.f16.f32 cvt.rn.bf16.f32 cvt.rz.f16.f32", "f32", "f16")
    yield from plain("cvt.rn.f16x2.f32 cvt.rn.bf16x2.f32 cvt.rn.relu.f16x2.f32", "f32 f32", "f16x2")
    yield from plain("cvt.rna.tf32.f32", "f32", "b32")
    yield from plain("cvt.rn.f32.u16 cvt.rn.f32.s16", "b16", "f32")
    yield from plain("cvt.rn.f32.s32 cvt.rn.f32.u32", "b32", "f32")
    yield from plain("cvt.rn.f32.s64 cvt.rn.f32.u64", "b64", "f32")
    yield from plain("cvt.rn.f16.s32", "b32", "f16")
    yield from plain("cvt.rn.f16.s64", "b64", "f16")
    yield from plain("cvt.rn.f64.s64 cvt.rn.f64.u64", "b64", "f64")
    yield from plain("cvt.rn.f32.f64 cvt.rz.f32.f64", "f64", "f32")
    yield from plain("cvt.f64.f32", "f32", "f64")
    yield from plain("cvt.rzi.s32.f32 cvt.rzi.u32.f32 cvt.rni.s32.f32 cvt.rmi.s32.f32 cvt.rpi.s32.f32", "f32", "b32")
    yield from plain("cvt.rzi.s64.f32 cvt.rzi.u64.f32", "f32", "b64")
    yield from plain("cvt.rzi.s16.f32 cvt.rzi.u16.f32", "f32", "b16")
    yield from plain("cvt.rzi.s32.f64 cvt.rzi.u32.f64", "f64", "b32")
    yield from plain("cvt.rzi.s64.f64 cvt.rzi.u64.f64", "f64", "b64")
    yield from plain("cvt.rni.s32.f16 cvt.rzi.s32.f16", "f16", "b32")
    yield from plain("cvt.s32.s8 cvt.u32.u8 cvt.sat.s8.s32 cvt.sat.u8.s32 cvt.sat.s16.s32", "b32", "b32")


def integers():
    yield from plain("mul.lo.s32 mul.hi.u32 mul.hi.s32 min.s32 max.s32 add.s32 sub.s32", "b32 b32", "b32")
    yield from plain("div.u32 rem.u32 div.s32 rem.s32", "b32 divisor", "b32")
    yield from plain("div.u64 rem.u64 div.s64 rem.s64", "b64 wide_divisor", "b64")
    yield from plain("mul.wide.u32 mul.wide.s32", "b32 b32", "b64")
    yield from plain("mad.lo.s32 mad.hi.u32 sad.s32", "b32 b32 b32", "b32")
    yield from plain("mul.lo.s64 mul.hi.u64 mul.hi.s64 min.s64 min.u64 max.s64 max.u64", "b64 b64", "b64")
    yield from plain("mad.lo.s64", "b64 b64 b64", "b64")
    yield from plain("dp4a.s32.s32 dp4a.u32.u32", "b32 b32 b32", "b32")
    yield from plain("neg.s32 abs.s32 not.b32", "b32", "b32")
    yield from plain("abs.s64", "b64", "b64")


def bit_patterns():
    yield from plain("shl.b32 shr.u32 shr.s32", "b32 amount", "b32")
    yield from plain("shl.b64 shr.u64 shr.s64", "b64 amount", "b64")
    yield from plain("shl.b16 shr.u16 shr.s16", "b16 amount", "b16")
    yield from plain("bfe.u32 bfe.s32", "b32 amount amount", "b32")
    yield from plain("bfe.u64 bfe.s64", "b64 amount amount", "b64")
    yield from plain("bfi.b32", "b32 b32 amount amount", "b32")
    yield from plain("bfi.b64", "b64 b64 amount amount", "b64")
    yield from plain("clz.b64 popc.b64 bfind.u64 bfind.s64", "b64", "b32")
    yield from plain("clz.b32 popc.b32 brev.b32 bfind.u32 bfind.s32 bfind.shiftamt.u32", "b32", "b32")
    yield from plain("brev.b64", "b64", "b64")
    yield from plain("prmt.b32", "b32 b32 b32", "b32")
    yield from plain("shf.l.wrap.b32 shf.r.wrap.b32 shf.l.clamp.b32 shf.r.clamp.b32", "b32 b32 amount", "b32")
    for table in (0x96, 0xe8, 0x1b):
        yield Program(f"lop3.{table:x}", f"lop3.b32 {{o}}, {{0}}, {{1}}, {{2}}, {table};", ["b32"] * 3, "b32")


def programs():
    yield from reals()
    yield from conversions()
    yield from compared("setp.nan.f32 setp.gt.f32 setp.lt.f32 setp.ge.f32 setp.ne.f32 setp.ltu.f32", "f32")
    yield from compared("setp.lt.f64 setp.neu.f64", "f64")
    yield from compared("setp.lt.f16 setp.neu.f16", "f16")
    yield from compared("setp.lt.s64 setp.lt.u64", "b64")
    yield from compared("setp.lt.s32 setp.lt.u32", "b32")
    yield from integers()
    yield from bit_patterns()
    yield from lanes()
    yield from matrices()


def write(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for program in programs():
        (folder / f"{program.name}.ptx").write_text(program.ptx(), encoding="utf-8")
        (folder / f"{program.name}.in").write_bytes(program.numbers())
        lines.append(program.line())
    (folder / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)


def digests(folder):
    """Of what each program gave that must be the same everywhere."""
    return {each.name: hashlib.sha256((pathlib.Path(folder) / f"{each.name}.out").read_bytes()).hexdigest() for each in programs() if not each.ulp}


if __name__ == "__main__":
    if sys.argv[2:] == ["digests"]:
        for program, digest in digests(sys.argv[1]).items():
            print(program, digest)
    else:
        print(f"{write(sys.argv[1])} programs")
