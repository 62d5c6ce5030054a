"""A C program around an embedded function, made of what its header says: sizes come as words of the command line, inputs and outputs as
bytes of files. Two threads call it at once, each with an arena that ends where something is watched.
"""
import re

HEAD = r"""
#include "%(header)s"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "%%s\n", what);
  exit(1);
}

static unsigned char *room(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes + 64))
    fail("no memory");
  memset(memory, 0x5a, bytes + 64);
  return memory;
}

static void check_behind(const unsigned char *memory, size_t bytes, const char *what) {
  for (int i = 0; i < 64; ++i)
    if (memory[bytes + i] != 0x5a)
      fail(what);
}
"""


class Function:
    """What a prototype says. Parameters are (kind, type, name), kind one of size, input, output, dims, weights, arena, bytes."""

    def __init__(self, header, name):
        self.text, self.name = header, name
        listed = re.search(rf"^int32_t {name}\((.*)\);$", header, re.M).group(1)
        self.parameters = [self._read(each) for each in listed.split(", ")]

    @staticmethod
    def _read(text):
        kind, name = re.fullmatch(r"(.*?)(\w+)", text).groups()
        kind = kind.strip()
        if kind == "const void *":
            return "weights", "", name
        if kind == "void *":
            return "arena", "", name
        if kind == "size_t":
            return "bytes", "", name
        if kind == "int64_t":
            return "size", "", name
        if kind == "int64_t *" and name.endswith("_dims"):
            return "dims", "", name
        return ("input" if kind.startswith("const") else "output"), kind.replace("const", "").replace("*", "").strip(), name

    def of(self, kind):
        return [each for each in self.parameters if each[0] == kind]

    def size(self, what):
        """C text of a size, macro or function."""
        macro = f"{self.name}_{what}".upper()
        if re.search(rf"^#define {macro} \d+$", self.text, re.M):
            return macro
        return f"{self.name}_{what}({', '.join(name for _, _, name in self.of('size'))})"


def rank_of(function, output):
    return int(re.search(rf"/\* Data decide the dimensions of {output}: {output}_dims gets (\d+)", function.text).group(1))


def program(header_name, header, name):
    f = Function(header, name)
    lines = [HEAD % {"header": header_name}]
    lines += [f"static int64_t {n};" for _, _, n in f.of("size")]
    lines += [f"static {t} *{n};" for _, t, n in f.of("input")]
    lines += ["static unsigned char *weights;"] if f.of("weights") else []
    lines.append("typedef struct { " + " ".join(f"{t} *{n};" for _, t, n in f.of("output"))
                 + " ".join(f" int64_t {n}[8];" for _, _, n in f.of("dims")) + " int32_t answer; } call_t;")
    given = {"output": "call->%s", "dims": "call->%s", "arena": "arena", "bytes": "bytes"}
    arguments = ", ".join(given.get(kind, "%s") % n if "%s" in given.get(kind, "%s") else given[kind] for kind, _, n in f.parameters)
    lines += ["static int32_t call_with(call_t *call, unsigned char *arena, size_t bytes) {", f"  return {name}({arguments});", "}",
              "static void *call_it(void *given) {", "  call_t *call = given;", f"  size_t bytes = (size_t){f.size('arena_bytes')};",
              "  unsigned char *arena = room(bytes);", "  for (int turn = 0; turn < 3; ++turn)",
              "    call->answer = call_with(call, arena, bytes);",
              '  check_behind(arena, bytes, "memory behind the arena was written");', "  free(arena);", "  return NULL;", "}"]
    lines.append("int main(int argc, char **argv) {\n  int next = argc > 3 ? 3 : argc;\n  (void)next;")
    lines += [f"  {n} = atoll(argv[next++]);" for _, _, n in f.of("size")]
    lines.append('  FILE *from = fopen(argv[1], "rb"), *to = fopen(argv[2], "wb");\n  if (!from || !to) fail("no file");')
    for _, t, n in f.of("input"):
        lines.append(f"  size_t {n}_count = (size_t){f.size(n + '_elements')};\n  {n} = ({t} *)room({n}_count * sizeof *{n});\n"
                     f'  if (fread({n}, sizeof *{n}, {n}_count, from) != {n}_count) fail("the inputs end early");')
    if f.of("weights"):
        macro = f"{header_name[:-2].upper()}_WEIGHTS_BYTES"
        lines.append(f'  FILE *file = fopen(argv[next], "rb");\n  weights = room({macro});\n'
                     f'  if (!file || fread(weights, 1, {macro}, file) != {macro} || fgetc(file) != EOF) fail("no weights");')
    lines.append("  call_t calls[2];\n  memset(calls, 0, sizeof calls);\n  pthread_t threads[2];")
    for _, t, n in f.of("output"):
        lines.append(f"  size_t {n}_bytes = (size_t){f.size(n + '_elements')} * sizeof({t});\n"
                     f"  for (int i = 0; i < 2; ++i) calls[i].{n} = ({t} *)room({n}_bytes);")
    lines.append(MAIN % {"arena": f.size("arena_bytes"), "foreign": FOREIGN if f.of("weights") else "", "name": name})
    for _, t, n in f.of("output"):
        lines.append(f'  if (memcmp(calls[0].{n}, calls[1].{n}, {n}_bytes)) fail("two threads do not agree");\n'
                     f'  check_behind((unsigned char *)calls[0].{n}, {n}_bytes, "memory behind an output was written");')
        written = f"{n}_bytes"
        if ("dims", "", n + "_dims") in f.parameters:
            written = f"used_{n}"
            lines.append(f"  size_t {written} = sizeof({t});\n  for (int d = 0; d < {rank_of(f, n)}; ++d) "
                         f"{written} *= (size_t)calls[0].{n}_dims[d];")
        lines.append(f'  if (fwrite(calls[0].{n}, 1, {written}, to) != {written}) fail("cannot write");')
    lines.append('  return fclose(to) ? fail("cannot write") : 0;\n}')
    return "\n".join(lines) + "\n"


FOREIGN = """
  weights[0] ^= 1;
  if (call_with(&calls[0], arena, bytes) != WEFT_EMBEDDED_FOREIGN) fail("weights of another object are taken");
  weights[0] ^= 1;"""
MAIN = r"""
  size_t bytes = (size_t)%(arena)s;
  unsigned char *arena = room(bytes + 64);
  if (call_with(&calls[0], arena + 8, bytes) != WEFT_EMBEDDED_UNALIGNED) fail("an arena between lines is taken");%(foreign)s
  if (bytes && call_with(&calls[0], arena, bytes - 1) != WEFT_EMBEDDED_ARENA) fail("an arena that is too small is taken");
  if (bytes && call_with(&calls[0], NULL, bytes) != WEFT_EMBEDDED_NULL) fail("no arena is taken");
  free(arena);
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, call_it, &calls[i])) fail("no thread");
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  if (calls[0].answer) {
    fprintf(stderr, "%%d: %%s\n", (int)calls[0].answer, %(name)s_error(calls[0].answer));
    return 2;
  }
  printf("arena %%zu\n", bytes);
"""
