"""The counter of tools/bench/arm knows how many bytes every form of load and store moves, and that nothing else moves any.

    moved.py COMPILER INSTRUCTIONS.c      COMPILER: cc of this machine; llvm-mc-19 writes what is asked about
"""
import os
import re
import subprocess
import sys
import tempfile

VECTOR = 32  # bytes of a scalable vector
LOADS = {
    "ldrb w0, [x1]": 1, "ldrsh w0, [x1, #2]": 2, "ldr w0, [x1]": 4, "ldr x0, [x1, x2, lsl #3]": 8, "ldp w0, w1, [x2]": 8, "ldp x0, x1, [x2], #16": 16,
    "ldpsw x0, x1, [x2]": 8, "ldxr w0, [x1]": 4, "ldar x0, [x1]": 8, "ldr w0, . + 8": 4, "ldr x0, . + 8": 8, "ldr q0, . + 16": 16,
    "ldr b0, [x1]": 1, "ldr h0, [x1]": 2, "ldr s0, [x1]": 4, "ldr d0, [x1]": 8, "ldr q0, [x1, #16]": 16, "ldur q0, [x1, #-3]": 16, "ldp s0, s1, [x2]": 8,
    "ldp d0, d1, [x2]": 16, "ldp q0, q1, [x2, #32]": 32, "ld1 {v0.4s}, [x1]": 16, "ld1 {v0.2s}, [x1]": 8, "ld1 {v0.16b - v3.16b}, [x1], #64": 64,
    "ld2 {v0.4s, v1.4s}, [x1]": 32, "ld3 {v0.8b - v2.8b}, [x1]": 24, "ld4 {v0.4s - v3.4s}, [x1]": 64, "ld1r {v0.4s}, [x1]": 4, "ld1r {v0.2d}, [x1]": 8,
    "ld1 {v0.s}[1], [x1]": 4, "ld1 {v0.d}[1], [x1]": 8, "ld1 {v0.b}[3], [x1]": 1, "ld2 {v0.h, v1.h}[2], [x1]": 4, "ld2r {v0.4s, v1.4s}, [x1]": 8,
    "ldr z0, [x1]": 32, "ldr z0, [x1, #7, mul vl]": 32, "ldr p0, [x1]": 4, "ld1b {z0.b}, p0/z, [x1]": 32, "ld1b {z0.s}, p0/z, [x1, x2]": 8, "ld1sb {z0.h}, p0/z, [x1]": 16,
    "ld1h {z0.h}, p0/z, [x1, x2, lsl #1]": 32, "ld1sh {z0.d}, p0/z, [x1]": 8, "ld1w {z0.s}, p0/z, [x1]": 32, "ld1w {z0.d}, p0/z, [x1]": 16,
    "ld1sw {z0.d}, p0/z, [x1]": 16, "ld1d {z0.d}, p0/z, [x1, #1, mul vl]": 32, "ldff1b {z0.b}, p0/z, [x1, x2]": 32, "ldnf1w {z0.s}, p0/z, [x1]": 32,
    "ldnt1b {z0.b}, p0/z, [x1]": 32, "ld2w {z0.s, z1.s}, p0/z, [x1]": 64, "ld3b {z0.b - z2.b}, p0/z, [x1, x2]": 96, "ld4d {z0.d - z3.d}, p0/z, [x1]": 128,
    "ld1rqb {z0.b}, p0/z, [x1]": 16, "ld1rqw {z0.s}, p0/z, [x1, x2, lsl #2]": 16, "ld1rob {z0.b}, p0/z, [x1]": 32, "ld1rb {z0.b}, p0/z, [x1]": 1,
    "ld1rh {z0.s}, p0/z, [x1]": 2, "ld1rw {z0.s}, p0/z, [x1]": 4, "ld1rd {z0.d}, p0/z, [x1]": 8, "ld1rsb {z0.s}, p0/z, [x1]": 1,
    "ld1w {z0.s}, p0/z, [x1, z2.s, uxtw #2]": 32, "ld1b {z0.s}, p0/z, [z1.s]": 8, "ld1d {z0.d}, p0/z, [x1, z2.d, lsl #3]": 32,
    "ld1w {z0.d}, p0/z, [x1, z2.d]": 16, "ld1b {z0.d}, p0/z, [z1.d, #1]": 4,
}
STORES = {
    "strb w0, [x1]": 1, "str x0, [x1]": 8, "stp x0, x1, [x2, #-16]!": 16, "str q0, [x1]": 16, "str s0, [x1], #4": 4, "stp q0, q1, [x2]": 32, "st1 {v0.4s}, [x1]": 16,
    "st1 {v0.s}[2], [x1]": 4, "st2 {v0.16b, v1.16b}, [x1]": 32, "stlr w0, [x1]": 4,
    "str z0, [x1]": 32, "str z31, [x1, #-5, mul vl]": 32, "str p0, [x1]": 4, "st1b {z0.b}, p0, [x1]": 32, "st1b {z0.s}, p0, [x1]": 8, "st1h {z0.h}, p0, [x1, x2, lsl #1]": 32,
    "st1h {z0.s}, p0, [x1]": 16, "st1w {z0.s}, p0, [x1, x2, lsl #2]": 32, "st1w {z0.d}, p0, [x1]": 16, "st1d {z0.d}, p0, [x1]": 32,
    "stnt1w {z0.s}, p0, [x1]": 32, "stnt1b {z0.b}, p0, [x1, x2]": 32, "st2w {z0.s, z1.s}, p0, [x1, #2, mul vl]": 64, "st4b {z0.b - z3.b}, p0, [x1, x2]": 128,
    "st1w {z0.s}, p0, [x1, z2.s, uxtw #2]": 32, "st1w {z0.s}, p0, [x1, z2.s, sxtw]": 32, "st1b {z0.s}, p0, [z1.s]": 8, "st1d {z0.d}, p0, [x1, z2.d, lsl #3]": 32, "st1w {z0.d}, p0, [z1.d]": 16,
}
OTHERS = ["add x0, x1, x2", "fmla v0.4s, v1.4s, v2.s[1]", "smmla v0.4s, v1.16b, v2.16b", "mov v0.16b, v1.16b", "fmax v0.4s, v1.4s, v2.4s", "b . + 4", "mul x0, x1, x2",
          "prfm pldl1keep, [x1]", "prfb pldl1keep, p0, [x1]", "prfd pldl1keep, p0, [x1, #-32, mul vl]", "prfb pldl1keep, p0, [x1, z2.s, uxtw]", "prfh pldl1keep, p0, [z1.s]", "prfw pldl1keep, p0, [x1, x2, lsl #2]", "smmla z0.s, z1.b, z2.b", "fmla z0.s, p0/m, z1.s, z2.s", "ptrue p0.s", "whilelt p0.s, x0, x1"]
PROGRAM = """
#include "%s"
int main(void) {
  vector_bytes = %d;
  for (uint32_t instruction; scanf("%%x", &instruction) == 1;) {
    bool loads = false;
    uint64_t bytes = bytes_of(instruction, &loads);
    printf("%%d %%s\\n", (int)bytes, bytes == 0 ? "neither" : loads ? "loads" : "stores");
  }
}
"""


def encodings(lines):
    done = subprocess.run(["llvm-mc-19", "--triple=aarch64", "--mattr=+v8.6a,+sve2,+i8mm,+f64mm", "--show-encoding"], input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = re.findall(r"encoding: \[([^\]]*)\]", done.stdout)
    # Bits that the assembler leaves to the linker are letters: where something is, not what is read.
    byte = lambda text: int(text, 16) if text.startswith("0x") else int(re.sub("[A-Z]", "0", text), 2) if text.startswith("0b") else 0
    return [sum(byte(text.split("'")[0]) << 8 * i for i, text in enumerate(each.split(","))) for each in found]


def main(compiler, source):
    expected = {line: f"{moved} {way}" for way, table in (("loads", LOADS), ("stores", STORES)) for line, moved in table.items()}
    expected.update((line, "0 neither") for line in OTHERS)
    words = encodings(expected)
    assert len(words) == len(expected), "an instruction without an encoding, or with two"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "moved.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM % (os.path.abspath(source), VECTOR))
        program = os.path.join(folder, "moved")
        subprocess.run([compiler, "-o", program, file.name, "-ffunction-sections", "-Wl,--gc-sections"], check=True)
        said = subprocess.run([program], input="\n".join(f"{word:x}" for word in words), capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == len(expected), "the counter did not answer for each"
    wrong = [f"{line}: {got}, not {want}" for (line, want), got in zip(expected.items(), said) if got != want]
    print("\n".join(wrong) or f"{len(said)} instructions, all as they are")
    sys.exit(bool(wrong))


main(*sys.argv[1:])
