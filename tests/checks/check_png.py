"""check_png.py - reads the PNG files of a page, checksums and all, with the
standard library alone."""
import struct
import zlib


def chunks(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        check, = struct.unpack(">I", png[at + 8 + size:at + 12 + size])
        assert check == zlib.crc32(kind + body), "CRC"
        yield kind, body
        at += 12 + size


def pixels(png, height, width, values=3):
    """Triples of a coloured picture, or (values = 1) indices of a palette."""
    parts = list(chunks(png))
    palette = [b"PLTE", b"tRNS"] if values == 1 else []
    assert [k for k, _ in parts] == [b"IHDR", *palette, b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", parts[0][1]) == (
        width, height, 8, 3 if values == 1 else 2, 0, 0, 0)
    raw = zlib.decompress(parts[-2][1])
    line = values * width + 1
    assert len(raw) == height * line
    for i in range(height):
        row = raw[i * line:(i + 1) * line]
        assert row[0] == 0
        yield from row[1:] if values == 1 else zip(*[iter(row[1:])] * 3)
