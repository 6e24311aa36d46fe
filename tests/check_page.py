"""check_page.py PAGE HEIGHT WIDTH PICTURES MISSING OBJECTIVE RANK: reads a
page back with the standard library alone.

The page is well-formed XML; it holds so many pictures, every one a PNG of
that size whose checksums hold; exactly MISSING pixels of all are magenta; the
numbers end in OBJECTIVE, and RANK singular values are above rounding."""
import base64
import json
import struct
import sys
import xml.etree.ElementTree as xml
import zlib

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


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


def pixels(png, height, width):
    parts = list(chunks(png))
    assert [k for k, _ in parts] == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", parts[0][1]) == (width, height, 8, 2, 0,
                                                      0, 0)
    raw = zlib.decompress(parts[1][1])
    line = 3 * width + 1
    assert len(raw) == height * line
    for i in range(height):
        assert raw[i * line] == 0
        for j in range(width):
            yield tuple(raw[i * line + 1 + 3 * j:i * line + 4 + 3 * j])


def main():
    page, height, width, pictures, missing = sys.argv[1], *map(
        int, sys.argv[2:6])
    objective, rank = float(sys.argv[6]), int(sys.argv[7])
    root = xml.parse(page).getroot()
    images = root.findall(f".//{HTML}img")
    assert len(images) == pictures, len(images)
    magenta = 0
    for image in images:
        head, body = image.get("src").split(",")
        assert head == "data:image/png;base64"
        seen = list(pixels(base64.b64decode(body, validate=True), height,
                           width))
        assert len(seen) == height * width
        magenta += seen.count((255, 0, 255))
    assert magenta == missing, magenta
    numbers = json.loads(root.find(f".//{HTML}script[@id='numbers']").text)
    assert numbers["objective"][-1] == objective, numbers["objective"][-1]
    values = numbers["singular_values"]
    assert values == sorted(values, reverse=True)
    assert sum(v > 1e-9 * values[0] for v in values) == rank, values
    for drawing in root.findall(f".//{SVG}svg"):
        assert drawing.findall(f"{SVG}path[@class='line']")
    assert len(root.findall(f".//{SVG}svg")) == 2
    assert "http" not in " ".join(e.get("src", "") for e in root.iter())


main()
