#!/usr/bin/env python3
"""render.py MODEL.glb PICTURE.png: renders a GLB file, using only the standard library.

An independent check of generated files: it follows the specification and shares
no code with the program. It draws textures, vertex colors, alpha, the hierarchy
and the skin.
"""
import json
import math
import struct
import sys
import zlib

SIZE, OVERSAMPLE = 480, 2
BACKGROUND = (46, 52, 64)
COMPONENTS = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}
PARTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
UNMOVED = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


def read_glb(path):
    data = open(path, "rb").read()
    magic, version, size = struct.unpack_from("<4sII", data)
    assert (magic, version, size) == (b"glTF", 2, len(data))
    (length,) = struct.unpack_from("<I", data, 12)
    model = json.loads(data[20:20 + length])
    return model, data[28 + length:]


def accessor(model, binary, index):
    """The values of an accessor, each a tuple."""
    info = model["accessors"][index]
    view = model["bufferViews"][info["bufferView"]]
    kind, parts = COMPONENTS[info["componentType"]], PARTS[info["type"]]
    start = view.get("byteOffset", 0) + info.get("byteOffset", 0)
    flat = struct.unpack_from(f"<{info['count'] * parts}{kind}", binary, start)
    if info.get("normalized"):
        most = {"B": 255, "H": 65535}[kind]
        flat = [part / most for part in flat]
    return [tuple(flat[i:i + parts]) for i in range(0, len(flat), parts)]


def read_png(data):
    """Width, height, and rows of (red, green, blue, alpha)."""
    width, height, depth, kind = struct.unpack_from(">IIBB", data, 16)
    at, packed, palette, alphas = 8, b"", [], b""
    while at < len(data):
        length, tag = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        packed += body if tag == b"IDAT" else b""
        palette = [tuple(body[i:i + 3]) for i in range(0, length, 3)] if tag == b"PLTE" else palette
        alphas = body if tag == b"tRNS" else alphas
        at += 12 + length
    channels = {3: 1, 6: 4}[kind]
    row_size, step = (width * channels * depth + 7) // 8, max(1, channels * depth // 8)
    raw, before, rows = zlib.decompress(packed), bytearray(row_size), []
    for y in range(height):
        method = raw[y * (row_size + 1)]
        row = bytearray(raw[y * (row_size + 1) + 1:(y + 1) * (row_size + 1)])
        for i in range(row_size):
            left = row[i - step] if i >= step else 0
            corner = before[i - step] if i >= step else 0
            guess = left + before[i] - corner
            near = min((left, before[i], corner), key=lambda part: abs(guess - part))
            row[i] = row[i] + (0, left, before[i], (left + before[i]) // 2, near)[method] & 255
        before = row
        if kind == 6:
            rows.append([tuple(row[4 * x:4 * x + 4]) for x in range(width)])
        else:
            index = [row[x * depth // 8] >> (8 - depth - x * depth % 8) & (1 << depth) - 1 for x in range(width)]
            rows.append([palette[i] + (alphas[i] if i < len(alphas) else 255,) for i in index])
    return width, height, rows


def write_png(path, width, height, pixels):
    def chunk(tag, body):
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))

    rows = b"".join(b"\0" + bytes(pixels[3 * width * y:3 * width * (y + 1)]) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + body)


def times(a, b):
    """The product of two matrices, stored column by column."""
    return [sum(a[k * 4 + r] * b[c * 4 + k] for k in range(4)) for c in range(4) for r in range(4)]


def apply(m, p):
    return [m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i] for i in range(3)]


def matrix(node):
    if "matrix" in node:
        return node["matrix"]
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    sx, sy, sz = node.get("scale", (1, 1, 1))
    tx, ty, tz = node.get("translation", (0, 0, 0))
    return [
        (1 - 2 * (y * y + z * z)) * sx, 2 * (x * y + z * w) * sx, 2 * (x * z - y * w) * sx, 0,
        2 * (x * y - z * w) * sy, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z + x * w) * sy, 0,
        2 * (x * z + y * w) * sz, 2 * (y * z - x * w) * sz, (1 - 2 * (x * x + y * y)) * sz, 0,
        tx, ty, tz, 1,
    ]


def triangles(model, binary):
    """All triangles: corners of (place, uv, color), and their material."""
    nodes, world = model["nodes"], {}
    pending = [(index, UNMOVED) for index in model["scenes"][model["scene"]]["nodes"]]
    while pending:
        index, outer = pending.pop()
        world[index] = times(outer, matrix(nodes[index]))
        pending += [(child, world[index]) for child in nodes[index].get("children", ())]
    for index, node in enumerate(nodes):
        if "mesh" not in node:
            continue
        bones = None
        if "skin" in node:
            skin = model["skins"][node["skin"]]
            inverse = accessor(model, binary, skin["inverseBindMatrices"])
            bones = [times(world[joint], m) for joint, m in zip(skin["joints"], inverse)]
        for part in model["meshes"][node["mesh"]]["primitives"]:
            has = part["attributes"]
            get = lambda name, other: accessor(model, binary, has[name]) if name in has else other
            places = get("POSITION", None)
            count = len(places)
            uvs, colors = get("TEXCOORD_0", [(0, 0)] * count), get("COLOR_0", [(1, 1, 1, 1)] * count)
            if bones and "JOINTS_0" in has:
                weighted = zip(places, get("JOINTS_0", None), get("WEIGHTS_0", None))
                places = [
                    [sum(w * apply(bones[j], p)[axis] for j, w in zip(js, ws)) for axis in range(3)]
                    for p, js, ws in weighted
                ]
            else:
                places = [apply(world[index], place) for place in places]
            corners = list(zip(places, uvs, colors))
            order = [value[0] for value in accessor(model, binary, part["indices"])]
            for i in range(0, len(order), 3):
                yield [corners[corner] for corner in order[i:i + 3]], model["materials"][part["material"]]


def camera(shapes):
    """Transforms everything to be seen from the front, left and above."""
    yaw, pitch = math.radians(-35), math.radians(25)
    (sy, cy), (sp, cp) = (math.sin(yaw), math.cos(yaw)), (math.sin(pitch), math.cos(pitch))

    def turn(p):
        x, z = cy * p[0] + sy * p[2], -sy * p[0] + cy * p[2]
        return (x, cp * p[1] - sp * z, sp * p[1] + cp * z)

    seen = [turn(corner[0]) for shape, _ in shapes for corner in shape]
    low = [min(p[axis] for p in seen) for axis in range(2)]
    high = [max(p[axis] for p in seen) for axis in range(2)]
    side = SIZE * OVERSAMPLE
    scale = side * 0.9 / max(high[0] - low[0], high[1] - low[1], 1e-9)
    center = [(low[axis] + high[axis]) / 2 for axis in range(2)]

    def project(p):
        x, y, z = turn(p)
        return (side / 2 + (x - center[0]) * scale, side / 2 - (y - center[1]) * scale, z)

    return project


def sample(texture, u, v, wraps):
    width, height, rows = texture
    def place(value, length, wrap):
        if wrap == 33071:
            value = min(max(value, 0), 1 - 1e-6)
        if wrap == 33648 and math.floor(value) % 2:
            value = -value
        return int((value - math.floor(value)) * length) % length
    return rows[place(v, height, wraps[1])][place(u, width, wraps[0])]


def draw(model, binary, path):
    images, surfaces = {}, {}
    def texture_of(material):
        info = material["pbrMetallicRoughness"].get("baseColorTexture")
        if info is None:
            return None, None
        texture = model["textures"][info["index"]]
        source = texture["source"]
        if source not in images:
            view = model["bufferViews"][model["images"][source]["bufferView"]]
            start = view.get("byteOffset", 0)
            images[source] = read_png(binary[start:start + view["byteLength"]])
        sampler = model["samplers"][texture["sampler"]]
        return images[source], (sampler.get("wrapS", 10497), sampler.get("wrapT", 10497))

    shapes = list(triangles(model, binary))
    project = camera([shape for shape in shapes if alpha_of(shape[1]) > 0])
    side = SIZE * OVERSAMPLE
    depth = [-math.inf] * (side * side)
    image = [BACKGROUND] * (side * side)
    # Blended shapes come last, the farthest first.
    projected = [([project(c[0]) for c in shape], shape, material) for shape, material in shapes]
    projected.sort(key=lambda one: (one[2].get("alphaMode") == "BLEND", sum(p[2] for p in one[0])))
    for (a, b, c), shape, material in projected:
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        factor = material["pbrMetallicRoughness"].get("baseColorFactor", (1, 1, 1, 1))
        # Anticlockwise is the front; downwards is positive on the screen.
        if area == 0 or factor[3] == 0 or (area > 0 and not material.get("doubleSided")):
            continue
        texture, wraps = texture_of(material)
        mode = material.get("alphaMode", "OPAQUE")
        rows = range(max(0, math.floor(min(a[1], b[1], c[1]))), min(side, math.ceil(max(a[1], b[1], c[1])) + 1))
        columns = range(max(0, math.floor(min(a[0], b[0], c[0]))), min(side, math.ceil(max(a[0], b[0], c[0])) + 1))
        (_, ua, ca), (_, ub, cb), (_, uc, cc) = shape
        for y in rows:
            for x in columns:
                px, py = x + 0.5, y + 0.5
                wb = ((px - a[0]) * (c[1] - a[1]) - (py - a[1]) * (c[0] - a[0])) / area
                wc = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area
                wa = 1 - wb - wc
                if min(wa, wb, wc) < 0:
                    continue
                z, at = wa * a[2] + wb * b[2] + wc * c[2], y * side + x
                if z <= depth[at]:
                    continue
                light = [(wa * ca[i] + wb * cb[i] + wc * cc[i]) * factor[i] for i in range(4)]
                if texture:
                    uv = [wa * ua[i] + wb * ub[i] + wc * uc[i] for i in range(2)]
                    texel = sample(texture, *uv, wraps)
                    light = [light[i] * (to_light(texel[i]) if i < 3 else texel[3] / 255) for i in range(4)]
                alpha = {"OPAQUE": 1, "MASK": float(light[3] >= 0.5)}.get(mode, light[3])
                if alpha == 0:
                    continue
                behind = image[at]
                image[at] = tuple(to_screen(light[i]) * alpha + behind[i] * (1 - alpha) for i in range(3))
                if mode != "BLEND":
                    depth[at] = z
    pixels = []
    for y in range(SIZE):
        for x in range(SIZE):
            near = [image[(y * OVERSAMPLE + j) * side + x * OVERSAMPLE + i] for j in range(OVERSAMPLE) for i in range(OVERSAMPLE)]
            pixels += [min(255, round(sum(p[i] for p in near) / len(near))) for i in range(3)]
    write_png(path, SIZE, SIZE, pixels)


def alpha_of(material):
    return material["pbrMetallicRoughness"].get("baseColorFactor", (1, 1, 1, 1))[3]


LIGHT = [((i / 255 + 0.055) / 1.055) ** 2.4 if i > 10 else i / 255 / 12.92 for i in range(256)]


def to_light(part):
    return LIGHT[part]


def to_screen(light):
    return 255 * (1.055 * light ** (1 / 2.4) - 0.055 if light > 0.0031308 else 12.92 * light)


if __name__ == "__main__":
    draw(*read_glb(sys.argv[1]), sys.argv[2])
