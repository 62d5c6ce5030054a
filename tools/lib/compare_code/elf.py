"""The parts of 64-bit little-endian ELF files that are compared, read with plain Python.

    segments(bytes)          what is mapped, and the notes
    code_of(bytes)           an object's code and data with what they refer to, whatever the order of its tables
"""
import collections
import hashlib
import struct

ALLOC, EXECUTABLE = 2, 4  # flags of a section
SYMTAB, RELA, NOTE, NOBITS = 2, 4, 7, 8  # types of a section
LOCAL = 0  # what binds a symbol
Segment = collections.namedtuple("Segment", "type flags offset address file_size")
Code = collections.namedtuple("Code", "size digest")


class Malformed(Exception):
    pass


def unpack(layout, data, at):
    try:
        return struct.unpack_from("<" + layout, data, at)
    except struct.error:
        raise Malformed(f"the file ends before byte {at + struct.calcsize('<' + layout)}") from None


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


def header(data):
    """Offsets and counts of the program headers and of the section headers, and the row of their names."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise Malformed("not a 64-bit little-endian ELF file")
    segments, sections = unpack("QQ", data, 32)
    _, segment_count, _, section_count, names = unpack("5H", data, 54)
    return segments, segment_count, sections, section_count, names


def segments(data):
    begin, count, *_ = header(data)
    for i in range(count):
        kind, flags, offset, address, _, size, _, _ = unpack("IIQQQQQQ", data, begin + 56 * i)
        yield Segment(kind, flags, offset, address, size)


class Section:
    def __init__(self, data, at):
        self.name_at, self.kind, self.flags, _, self.offset, self.size, self.link, self.info, _, _ = unpack("IIQQQQIIQQ", data, at)
        self.bytes = b"" if self.kind == NOBITS else data[self.offset:self.offset + self.size]
        self.name = ""


def sections_of(data):
    _, _, begin, count, names = header(data)
    sections = [Section(data, begin + 64 * i) for i in range(count)]
    for section in sections:
        section.name = text_at(sections[names].bytes, section.name_at)
    return sections


def symbols_of(sections):
    """[(name, section, value, size)]; what is local is named by its place, as labels are numbered by chance."""
    table = next(section for section in sections if section.kind == SYMTAB)
    found = []
    for name, info, _, where, value, size in struct.iter_unpack("<IBBHQQ", table.bytes):
        is_local = info >> 4 == LOCAL and where < len(sections)
        text = f"{sections[where].name}+{value}" if is_local else text_at(sections[table.link].bytes, name)
        found.append((text, where, value, size))
    return found


def without(section, row, symbols, left_out):
    """The section's bytes but for those of one symbol."""
    for name, where, value, size in symbols:
        if where == row and name == left_out:
            return section.bytes[:value] + section.bytes[value + size:]
    return section.bytes


def code_of(data, left_out=None):
    """Bytes of all sections that are mapped, and their relocations; `size` is of what is executable."""
    sections = sections_of(data)
    symbols, size, digest = symbols_of(sections), 0, hashlib.sha256()
    for row, section in enumerate(sections):
        if section.flags & ALLOC and section.kind != NOTE:
            size += section.size if section.flags & EXECUTABLE else 0
            content = without(section, row, symbols, left_out)
            digest.update(f"{section.name} {section.flags} {len(content)}\n".encode() + content)
        elif section.kind == RELA and sections[section.info].flags & ALLOC:
            for place, info, addend in struct.iter_unpack("<QQq", section.bytes):
                digest.update(f"{place} {info & 0xffffffff} {symbols[info >> 32][0]} {addend}\n".encode())
    return Code(size, digest.hexdigest()[:16])
