"""check_page.py PAGE HEIGHT WIDTH PICTURES MISSING OBJECTIVE RANK: reads a
page back with the standard library alone.

The page is well-formed XML; it holds so many pictures, every one a PNG of
that size whose checksums hold; exactly MISSING pixels of all are magenta; the
numbers end in OBJECTIVE, and RANK singular values are above rounding."""
import base64
import json
import sys

from check_png import pixels
from page import HTML, SVG, read


def main():
    page, height, width, pictures, missing = sys.argv[1], *map(
        int, sys.argv[2:6])
    objective, rank = float(sys.argv[6]), int(sys.argv[7])
    root = read(page)
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
        assert drawing.findall(f"{SVG}path[@class='line l0']")
    assert len(root.findall(f".//{SVG}svg")) == 2


main()
