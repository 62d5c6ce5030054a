"""A .weft file as its descriptor says, read with plain Python. runtime/include/weft/artifact.h is the specification.

    Artifact(bytes).modules()     one dictionary per variant, of the fields of weft_module_v1 and all they refer to

Where code lies is left out, so that equal descriptions are equal dictionaries.
"""
import hashlib

from elf import Malformed, segments, unpack

LOAD, NOTE = 1, 4  # types of a segment
NOTE_HEADER = 12 + 8  # three words, and the name padded to words

# Fields of a struct, in order: name and what it is. A kind in brackets is a list of such structs; "-" is skipped.
STRUCTS = {
    "module": [("name", "text"), ("producer", "text"), ("target", "text"), ("functions", ["function"]), ("kernels", ["kernel"]),
               ("weights", ["weight"]), ("cpu_features", ["text"]), ("-", "u32"), ("host_table_size", "u64")],
    "function": [("name", "text"), ("inputs", ["argument"]), ("outputs", ["argument"]), ("symbols", ["symbol"]),
                 ("facts", ["text"]), ("checks", ["check"]), ("-", "u32"), ("-", "u32"), ("arena", "formula"),
                 ("scratch_per_worker", "formula"), ("flops", "formula"), ("bytes_moved", "formula"),
                 ("late_blocks", ["late_block"]), ("regions", ["region"]), ("in_place", ["in_place"])],
    "in_place": [("input", "u32"), ("output", "u32"), ("dim", "u32"), ("symbol", "u32")],
    "region": [("kernels", ["u32"])],
    "late_block": [("bytes", "formula"), ("flags", "u32")],
    "argument": [("name", "text"), ("element", "u16"), ("rank", "u16"), ("flags", "u32"), ("dims", ["formula"])],
    "symbol": [("name", "text"), ("-", "u32"), ("min", "i64"), ("max", "i64"), ("multiple", "i64"), ("bound_by_input", "u32"),
               ("bound_by_dim", "u32")],
    "check": [("kind", "u32"), ("input", "u32"), ("dim", "u32"), ("symbol", "u32"), ("expected", "formula"), ("fact", "text"),
              ("node", "text")],
    "weight": [("name", "text"), ("layout", "text"), ("element", "u16"), ("rank", "u16"), ("flags", "u32"), ("dims", ["i64"]),
               ("-", "u32"), ("offset", "u64"), ("bytes", "u64")],
    "kernel": [("name", "text"), ("nodes", ["text"]), ("key", "key"), ("calls", "u32"), ("pointers", "u32"), ("symbols", "u32"),
               ("-", "u32"), ("flops", "formula"), ("bytes_moved", "formula")],
}
NUMBERS = {"u16": ("H", 2), "u32": ("I", 4), "u64": ("Q", 8), "i64": ("q", 8)}
LIST_BYTES, KEY_BYTES = 12, 16


def size_of(kind):
    if isinstance(kind, list) or kind == "text":
        return LIST_BYTES
    if kind == "formula":
        return 2 * LIST_BYTES
    return KEY_BYTES if kind == "key" else NUMBERS[kind][1] if kind in NUMBERS else sum(size_of(k) for _, k in STRUCTS[kind])


class Artifact:
    def __init__(self, data):
        self.data = data
        note = next((segment for segment in segments(data) if segment.type == NOTE), None)
        if not note:
            raise Malformed("the file has no note")
        at = note.offset + NOTE_HEADER
        address, size, self.weights_begin, weights_size = unpack("QQQQ", data, at + 32)
        self.manifest = unpack("QQ", data, at + 80)
        self.variants, self.step = unpack("II", data, at + 128)
        self.begin = self.place_of(address)
        self.descriptor, self.hash = (self.begin, self.begin + size), (at + 96, at + 128)
        self.weights = self.weights_begin, self.weights_begin + weights_size

    def place_of(self, address):
        home = next((s for s in segments(self.data) if s.type == LOAD and s.address <= address < s.address + s.file_size), None)
        if not home:
            raise Malformed("the descriptor lies outside of the image")
        return home.offset + address - home.address

    def manifest_text(self):
        begin, size = self.manifest
        return self.data[begin:begin + size].decode()

    def weight_digest(self, weight):
        begin = self.weights_begin + weight["offset"]
        return hashlib.sha256(self.data[begin:begin + weight["bytes"]]).hexdigest()[:16]

    def rest_digest(self):
        """Of all that is neither descriptor nor weights, nor the hash over both: bytes between the descriptor's fields mean nothing."""
        value, at = hashlib.sha256(), 0
        for begin, end in sorted([self.descriptor, self.hash, self.weights]):
            value.update(self.data[at:begin])
            at = max(at, end)
        value.update(self.data[at:])
        return value.hexdigest()[:16]

    def modules(self):
        return [self.struct("module", self.begin + i * self.step, self.step) for i in range(self.variants)]

    def list_of(self, kind, at):
        offset, count, step = unpack("III", self.data, at)
        return [self.value(kind, self.begin + offset + i * step, step) for i in range(count)]

    def value(self, kind, at, room):
        if isinstance(kind, list):
            return self.list_of(kind[0], at)
        if kind == "text":
            offset, count, _ = unpack("III", self.data, at)
            return self.data[self.begin + offset:self.begin + offset + count].decode()
        if kind == "formula":
            offset, count, _ = unpack("III", self.data, at)
            return [self.data[self.begin + offset:self.begin + offset + count].hex(), self.value("text", at + LIST_BYTES, room)]
        if kind == "key":
            return self.data[at:at + KEY_BYTES].hex()
        return unpack(NUMBERS[kind][0], self.data, at)[0] if kind in NUMBERS else self.struct(kind, at, room)

    def struct(self, kind, at, room):
        """A row of `room` bytes: fields that an older writer left away are absent."""
        fields, place = {}, 0
        for name, what in STRUCTS[kind]:
            if place + size_of(what) > room:
                break
            if name != "-":
                fields[name] = self.value(what, at + place, room)
            place += size_of(what)
        return fields
