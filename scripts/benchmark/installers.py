"""An installer as Inno Setup 5.6.1 makes it, with all files in one chunk of LZMA2."""

import hashlib
import lzma
import zlib
from struct import pack

# What LZMA2 is asked for by `Compression=lzma2/max`.
DICTIONARY = 23
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << DICTIONARY}]

# The time of all files, in units of 100 ns since 1601.
TIME = 126_444_736_000_000_000

# Where the data begins, behind the program.
DATA = 0x400


def write_installer(files, out):
    """Writes an installer of files into `{app}`."""
    packer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=FILTERS)
    entries, start = [], 0
    with open(out, "wb") as program:
        program.write(bytes(DATA) + b"zlb\x1a" + bytes([2 * (DICTIONARY - 12)]))
        for path in files:
            content = path.read_bytes()
            program.write(packer.compress(content))
            entries.append((start, len(content), hashlib.sha1(content).digest()))
            start += len(content)
        program.write(packer.flush())
        end = program.tell()
        stored = end - DATA - len(b"zlb\x1a")
        program.write(b"Inno Setup Setup Data (5.5.7) (u)".ljust(64, b"\0"))
        program.write(block(header([path.name for path in files])))
        # The flags: a time in UTC, and compressed.
        entries = [pack("<IIIQQQ20sQQH", 0, 0, 0, *place, stored, checksum, TIME, 0, 0x84) for *place, checksum in entries]
        program.write(block(b"".join(entries)))
        program.seek(0)
        program.write(loader(end))


def text(value=""):
    """A string."""
    encoded = value.encode("utf-16-le")
    return pack("<I", len(encoded)) + encoded


def block(content):
    """Pieces with their checksums."""
    pieces = b"".join(pack("<I", zlib.crc32(piece)) + piece for piece in (content[at : at + 4096] for at in range(0, len(content), 4096)))
    head = pack("<IB", len(pieces), 0)
    return pack("<I", zlib.crc32(head)) + head + pieces


def header(names):
    """One language, and these files."""
    strings = text("Benchmark") + 31 * text()
    counts = pack("<16I", 1, 0, 0, 0, 0, 0, 0, len(names), len(names), *[0] * 7)
    fixed = bytes(65) + pack("<I", 1) + bytes(5) + b"\4" + bytes(12) + bytes(6)
    language = text("en") + 9 * text() + bytes(4 + 16 + 1)
    files = b"".join(
        text() + text("{app}\\" + name) + 8 * text() + bytes(20) + pack("<I", number) + bytes(4 + 8 + 2 + 4 + 1) for number, name in enumerate(names)
    )
    # Two pictures.
    return strings + counts + fixed + language + files + 2 * text()


def loader(header_at):
    """A program without code, whose only resource has the offsets of header and data."""
    table = b"rDlPtS\xcd\xe6\xd7\x7b\x0b\x2a" + pack("<7I", 1, 0, 0, 0, 0, header_at, DATA)
    table += pack("<I", zlib.crc32(table))
    directories = [(10, 0x80000018), (11111, 0x80000030), (1033, 0x48)]
    resources = b"".join(bytes(14) + b"\1\0" + pack("<II", *entry) for entry in directories)
    resources += pack("<4I", 0x1058, len(table), 0, 0) + table
    program = bytearray(DATA)
    fields = [(0, b"MZ"), (0x3C, b"\x80"), (0x80, b"PE\0\0\x4c\1\1"), (0x94, b"\xe0"), (0x98, b"\x0b\1")]
    fields += [(0x98 + 92, b"\x10"), (0x98 + 112, pack("<2I", 0x1000, 0x200)), (0x178, b".rsrc"), (0x180, pack("<4I", 0x200, 0x1000, 0x200, 0x200)), (0x200, resources)]
    for at, field in fields:
        program[at : at + len(field)] = field
    return program
