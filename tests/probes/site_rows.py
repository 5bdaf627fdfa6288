#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""site_rows.py PROGRAM: compares the table of probe sites with the notes, and prints what is wrong.

A row has the address of a site, that of the semaphore, and the first byte of the site, which must be the byte that the file has
there.  Each site is in the function site_NAME, by which DTrace knows it.  Programs of x86-64 and arm64.
"""
import collections
import struct
import sys

Section = collections.namedtuple("Section", "name type address offset size link")
RELATIVE = {62: 8, 183: 1027}  # R_X86_64_RELATIVE, R_AARCH64_RELATIVE
SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 2, 4, 8
STT_FUNC = 2


class Program:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.machine, = struct.unpack_from("<H", self.bytes, 18)
        at, = struct.unpack_from("<Q", self.bytes, 40)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 58)
        rows = [struct.unpack_from("<IIQQQQI", self.bytes, at + i * size) for i in range(count)]
        self.sections = [Section(self.text(rows[names][4] + row[0]), row[1], row[3], row[4], row[5], row[6]) for row in rows]

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode()

    def section(self, name):
        found = [section for section in self.sections if section.name == name]
        return found[0] if found else None

    def offset(self, address):
        for section in self.sections:
            if section.address and section.type != SHT_NOBITS and 0 <= address - section.address < section.size:
                return section.offset + address - section.address
        raise ValueError(f"no section has {address:#x}")

    def relocated(self):
        """The addresses that the loader writes, by where."""
        words = {}
        for section in self.sections:
            for at in range(section.offset, section.offset + section.size, 24) if section.type == SHT_RELA else ():
                where, kind, addend = struct.unpack_from("<QQq", self.bytes, at)
                if kind == RELATIVE[self.machine]:
                    words[where] = addend
        return words

    def rows(self):
        table, words = self.section("netobs_sites"), self.relocated()
        for at in range(0, table.size if table else 0, 24):
            values = struct.unpack_from("<QQQ", self.bytes, table.offset + at)
            yield tuple(words.get(table.address + at + 8 * i, value) for i, value in enumerate(values))

    def notes(self):
        """Provider, name, site and semaphore; formulas.so has notes of another owner among them."""
        section, base = self.section(".note.stapsdt"), self.section(".stapsdt.base")
        at, end = section.offset, section.offset + section.size
        while at < end:
            owner_size, size, _ = struct.unpack_from("<III", self.bytes, at)
            owner, at = self.text(at + 12), at + 12 + (owner_size + 3) // 4 * 4
            if owner == "stapsdt":
                site, base_then, semaphore = struct.unpack_from("<QQQ", self.bytes, at)
                provider = self.text(at + 24)
                moved = base.address - base_then
                yield provider, self.text(at + 24 + len(provider) + 1), site + moved, semaphore + moved
            at += (size + 3) // 4 * 4

    def functions(self):
        symbols = [section for section in self.sections if section.type == SHT_SYMTAB][0]
        names = self.sections[symbols.link]
        for at in range(symbols.offset, symbols.offset + symbols.size, 24):
            name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", self.bytes, at)
            if info & 0xf == STT_FUNC:
                yield self.text(names.offset + name), value, value + size


def function_of(provider, name):
    return f"site_engine_{name}" if provider == "netobs_engine" else f"site_{name}"


def complaints(path):
    program = Program(path)
    notes = list(program.notes())
    rows = list(program.rows())
    if not notes:
        yield "no notes"
    if sorted(row[:2] for row in rows) != sorted(note[2:] for note in notes):
        yield f"{len(rows)} rows are not those of {len(notes)} notes"
    for site, semaphore, byte in rows:
        if program.bytes[program.offset(site)] != byte:
            yield f"the row of {site:#x} has {byte:#x}, the site {program.bytes[program.offset(site)]:#x}"
        if semaphore % 4 != 0:
            yield f"semaphore {semaphore:#x} is not aligned"
    functions = {name: (begin, end) for name, begin, end in program.functions()}
    for provider, name, site, _ in notes:
        begin, end = functions.get(function_of(provider, name), (0, 0))
        if not begin <= site < end:
            yield f"{provider}:{name} at {site:#x} is not in {function_of(provider, name)}"


def main():
    found = list(complaints(sys.argv[1]))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
