"""Writers of discs and archives without an available packer: GCM, RVZ, CSO and IMG."""

import hashlib
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

# Chunk size of an RVZ in bytes, and Zstandard level, as in Dolphin.
CHUNK = 128 << 10
LEVEL = 5

# Alignment of the files of a GameCube disc in bytes.
ALIGNMENT = 0x8000

# Bytes of a sector of an IMG.
SECTOR = 2048


def write_gcm(directory, out, alignment=ALIGNMENT):
    """Writes the files of a directory as a GameCube disc."""
    table, names, places = [], bytearray(), []

    def add(kind, name, number, size):
        table.append([kind << 24 | len(names), number, size])
        names.extend(name.encode() + b"\0")

    def walk(parent, index):
        for path in sorted(parent.iterdir()):
            if path.is_dir():
                own = len(table)
                add(1, path.name, index, 0)
                walk(path, own)
                table[own][2] = len(table)
            else:
                places.append((len(table), path))
                add(0, path.name, 0, path.stat().st_size)

    table.append([1 << 24, 0, 0])
    walk(directory, 0)
    table[0][2] = len(table)
    fst, size = 0x2600, 12 * len(table) + len(names)
    offset = fst + size
    for entry, path in places:
        offset = -(-offset // alignment) * alignment
        table[entry][1] = offset
        offset += table[entry][2]
    head = bytearray(fst)
    head[:6] = b"GBENCH"
    struct.pack_into(">I", head, 0x1C, 0xC2339F3D)
    struct.pack_into(">IIII", head, 0x420, 0x2480, fst, size, size)
    struct.pack_into(">I", head, 0x2480, 0x100)
    with open(out, "wb") as disc:
        disc.write(head)
        disc.write(b"".join(struct.pack(">III", *entry) for entry in table) + names)
        for entry, path in places:
            disc.seek(table[entry][1])
            # A sparse file stays sparse.
            if path.stat().st_blocks:
                disc.write(path.read_bytes())
        disc.truncate(max(offset, disc.tell()))


def write_rvz(disc, out):
    """Packs a GameCube disc as an RVZ with Zstandard, chunk by chunk."""
    with tempfile.TemporaryDirectory(dir=Path(out).parent) as place, open(disc, "rb") as source:
        chunks = []
        while chunk := source.read(CHUNK):
            chunks.append(Path(place, f"{len(chunks):06}"))
            chunks[-1].write_bytes(chunk)
        length = source.tell()
        # In several calls, since there are thousands.
        for first in range(0, len(chunks), 500):
            command = ["zstd", "-q", "--rm", f"-{LEVEL}", *chunks[first : first + 500]]
            subprocess.run(command, check=True)
        packed = [chunk.with_name(chunk.name + ".zst").read_bytes() for chunk in chunks]
        source.seek(0)
        first = source.read(0x80)
    write_rvz_file(out, length, first, packed)


def write_rvz_file(out, length, first, chunks):
    header_end = 0x48 + 0xDC
    groups, data, offset = [], [], header_end
    for chunk in chunks:
        groups.append(struct.pack(">III", offset // 4, len(chunk) | 1 << 31, 0))
        data.append(chunk + bytes(-len(chunk) % 4))
        offset += len(data[-1])
    area = struct.pack(">QQII", 0x80, length - 0x80, 0, len(chunks))
    tables = []
    for table in [area, b"".join(groups)]:
        packed = subprocess.run(["zstd", "-q", "-c"], input=table, check=True, stdout=subprocess.PIPE).stdout
        tables.append((offset, len(packed)))
        data.append(packed + bytes(-len(packed) % 4))
        offset += len(data[-1])
    disc = struct.pack(">IIiI", 1, 5, LEVEL, CHUNK) + first + bytes(0xB4 - 0x90)
    disc += struct.pack(">IQIIQI", 1, *tables[0], len(chunks), *tables[1]) + bytes(8)
    header = b"RVZ\1" + struct.pack(">III", 0x01000000, 0x00030000, len(disc))
    header += hashlib.sha1(disc).digest() + struct.pack(">QQ", length, offset)
    header += hashlib.sha1(header).digest()
    with open(out, "wb") as image:
        image.write(header + disc)
        image.writelines(data)


def write_cso(iso, out):
    """Packs a disc as a CSO, sector by sector, as the usual programs do."""
    offsets, data = [], []
    with open(iso, "rb") as source:
        length = Path(iso).stat().st_size
        offset = 24 + 4 * (-(-length // SECTOR) + 1)
        while sector := source.read(SECTOR):
            packer = zlib.compressobj(6, zlib.DEFLATED, -15)
            packed = packer.compress(sector) + packer.flush()
            plain = len(packed) >= len(sector)
            data.append(sector if plain else packed)
            offsets.append(offset | plain << 31)
            offset += len(data[-1])
    offsets.append(offset)
    with open(out, "wb") as image:
        image.write(b"CISO" + struct.pack("<IQIBB2x", 24, length, SECTOR, 1, 0))
        image.write(struct.pack(f"<{len(offsets)}I", *offsets))
        image.writelines(data)


def write_img(directory, out):
    """Packs the files of a directory as an IMG of version 2, which has no directories."""
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    names = ["_".join(path.relative_to(directory).parts) for path in paths]
    write_img_file([(name, path.stat().st_size) for name, path in zip(names, paths)], out)
    with open(out, "r+b") as image:
        sector = -(-(8 + 32 * len(paths)) // SECTOR)
        for path in paths:
            image.seek(sector * SECTOR)
            image.write(path.read_bytes())
            sector += -(-path.stat().st_size // SECTOR)


def write_img_file(entries, out):
    """Writes an IMG of entries with these names and sizes, all zeros."""
    sector = -(-(8 + 32 * len(entries)) // SECTOR)
    with open(out, "wb") as image:
        image.write(b"VER2" + struct.pack("<I", len(entries)))
        for name, size in entries:
            sectors = -(-size // SECTOR)
            image.write(struct.pack("<IHH24s", sector, sectors, 0, name.encode()))
            sector += sectors
        image.truncate(sector * SECTOR)
