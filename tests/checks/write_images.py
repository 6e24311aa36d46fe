#!/usr/bin/python3
"""write_images.py FOLDER: images of every kind, and what they show.

NAME.png has its pixels beside it in NAME.npy (height, width, channels), 0..1;
NAME.bad is an image to be refused, NAME.txt words of the refusal.  The PNG
files are put together here, byte by byte, so that no PNG library judges
another.  JPEG files need PIL, which also says what they show.
"""
import itertools
import pathlib
import struct
import sys
import zlib

import numpy as np

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(1)
HEIGHT, WIDTH = 11, 13
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
# Adam7: first row and column, steps of rows and columns
PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4),
          (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def chunk(kind, data):
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def packed(rows, depth):
    """Rows of samples (h, w, c), a filter byte before each."""
    out = b""
    for row in rows.reshape(len(rows), -1):
        if depth == 16:
            data = row.astype(">u2").tobytes()
        else:
            bits = "".join(format(v, f"0{depth}b") for v in row)
            bits += "0" * (-len(bits) % 8)
            data = int(bits, 2).to_bytes(len(bits) // 8, "big")
        out += b"\0" + data
    return out


def png(samples, kind, depth, interlaced=False, before=b"", size=None):
    height, width = size or samples.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)
    if interlaced:
        parts = (samples[a::c, b::d] for a, b, c, d in PASSES)
        raw = b"".join(packed(p, depth) for p in parts if p.size)
    else:
        raw = packed(samples, depth)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before
            + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def good(name, data, shown):
    path = folder / name
    path.write_bytes(data)
    np.save(path.with_suffix(".npy"), np.atleast_3d(shown).astype("f4"))


def bad(name, data, words):
    (folder / f"{name}.bad").write_bytes(data)
    (folder / f"{name}.txt").write_text(words)


def over_white(colour, alpha):
    return alpha * colour + (1 - alpha)


def samples_of(kind, depth):
    shape = HEIGHT, WIDTH, CHANNELS[kind]
    return random.integers(0, 2 ** depth, shape)


for depth, interlaced in itertools.product((1, 2, 4, 8, 16), (False, True)):
    most = 2 ** depth - 1
    end = f"{depth}{'i' if interlaced else ''}.png"
    s = samples_of(GREY, depth)
    good(f"grey{end}", png(s, GREY, depth, interlaced), s / most)
    clear = struct.pack(">H", int(s[0, 0, 0]))
    good(f"greyclear{end}",
         png(s, GREY, depth, interlaced, chunk(b"tRNS", clear)),
         np.where(s == s[0, 0, 0], 1, s / most))
    if depth <= 8:
        s = samples_of(PALETTE, depth)
        colours = random.integers(0, 256, (2 ** depth, 3))
        plte = chunk(b"PLTE", colours.astype("u1").tobytes())
        good(f"palette{end}", png(s, PALETTE, depth, interlaced, plte),
             colours[s[..., 0]] / 255)
        # the last entries of tRNS may be left out: opaque
        alpha = np.full(2 ** depth, 255)
        alpha[:2 ** depth - 1] = random.integers(0, 256, 2 ** depth - 1)
        plte += chunk(b"tRNS", alpha[:-1].astype("u1").tobytes())
        good(f"paletteclear{end}", png(s, PALETTE, depth, interlaced, plte),
             over_white(colours[s[..., 0]] / 255, alpha[s] / 255))
    if depth >= 8:
        s = samples_of(RGB, depth)
        good(f"rgb{end}", png(s, RGB, depth, interlaced), s / most)
        s = samples_of(RGB_ALPHA, depth) / most
        s[0], s[1] = np.round(s[0]), 1
        good(f"alpha{end}",
             png(np.round(s * most).astype(int), RGB_ALPHA, depth, interlaced),
             over_white(s[..., :3], s[..., 3:]))
        s = samples_of(GREY_ALPHA, depth) / most
        s[0], s[1] = np.round(s[0]), 1
        good(f"greyalpha{end}",
             png(np.round(s * most).astype(int), GREY_ALPHA, depth, interlaced),
             over_white(s[..., :1], s[..., 1:]))

s = samples_of(RGB, 8)
whole = png(s, RGB, 8)
good("one.png", png(s[:1, :1], RGB, 8, True), s[:1, :1] / 255)
good("behind.png", whole + b"more", s / 255)
bad("wide", png(s, RGB, 8, size=(1, 50000)),
    "is too large, 50000 x 1 pixels; at most 32767 a side")
bad("many", png(s, RGB, 8, size=(20000, 20000)), "is too large, 20000 x 20000")
bad("none", png(s, RGB, 8, size=(0, 3)), "PNG: ")
bad("short", png(s, RGB, 8, size=(HEIGHT + 1, WIDTH)), "PNG: ")
bad("moving", png(s, RGB, 8, before=chunk(b"acTL", b"\0\0\0\2\0\0\0\0")),
    "PNG: is animated; save one of its frames as PNG")
at = whole.index(b"IDAT") + 10
bad("bits", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], "PNG: ")
bad("depth", png(s, RGB, 4), "PNG: ")

try:
    from PIL import Image, ImageOps
except ImportError:
    sys.exit()

y, x = np.mgrid[:37, :50]
smooth = np.stack([x * 5, y * 6, x * 2 + y * 3], 2).astype("u1")
how = {"plain": {}, "progressive": {"progressive": True},
       "full": {"subsampling": 0}, "low": {"quality": 5},
       "restarts": {"restart_marker_rows": 1}}
for turn in range(1, 9):
    exif = Image.Exif()
    exif[0x10f] = "maker"
    exif[0x112] = turn
    how[f"turn{turn}"] = {"exif": exif.tobytes(), "quality": 95}
for (name, options), mode in itertools.product(how.items(), ("RGB", "L")):
    path = folder / f"{name}{mode}.jpg"
    Image.fromarray(smooth).convert(mode).save(path, "JPEG", **options)
    shown = ImageOps.exif_transpose(Image.open(path))
    good(path.name, path.read_bytes(), np.array(shown) / 255)
