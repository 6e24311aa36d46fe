"""check_layers.py PAGE: what test_page.c put into a page is in it, where it
belongs: sizes, boxes, outlines of regions, heat maps, points, curves, table."""
import base64
import json
import re
import sys

from check_png import pixels
from page import HTML, SVG, read

WIDE, HIGH = 200, 150


def area_of(path):
    """Of the cells inside closed paths of h and v steps; holes are less."""
    total = 0
    for loop in path.split("M")[1:]:
        x, y = (int(v) for v in re.match(r"(\d+) (\d+)", loop).groups())
        corners = [(x, y)]
        for way, step in re.findall(r"([hv])(-?\d+)", loop):
            x, y = x + int(step) * (way == "h"), y + int(step) * (way == "v")
            corners.append((x, y))
        total += sum(a[0] * b[1] - b[0] * a[1] for a, b in
                     zip(corners, corners[1:] + corners[:1])) / 2
    return total


def cells():
    """The regions as test_page.c paints them."""
    of = {0: 0, 1: 0}
    for y in range(-7, 8):
        for x in range(-10, 10):
            if 5 < x * x + y * y < 30:
                of[0] += 1
            elif x > 6 and y > 4:
                of[1] += 1
    return of


def check_figure(shot, i):
    drawing = shot.find(f"{SVG}svg")
    assert drawing.get("viewBox") == f"0 0 {WIDE} {HIGH}"
    words = drawing.get("aria-label")
    assert "box eyes at" in words and "given box truth" in words, words
    assert 'regions: eyes & "brows", <none>' in words, words
    image = drawing.find(f".//{SVG}symbol/{SVG}image")
    assert image.get("href").startswith("data:image/jpeg;base64,")
    box = drawing.find(f".//{SVG}rect[@class='edge']")
    assert [float(box.get(k)) for k in ("x", "y", "width", "height")] == [
        20 + 5 * i, 30, 60, 40]
    for text in drawing.findall(f".//{SVG}g[@class='boxes']//{SVG}text"):
        size, y = float(text.get("font-size")), float(text.get("y"))
        assert size <= y <= HIGH - size / 4, "words of a box are cut off"
    for path, (k, area) in zip(
            drawing.findall(f".//{SVG}g[@class='regions']/{SVG}path"),
            cells().items()):
        assert path.get("class") == f"k{k} c{k}"
        assert area_of(path.get("d")) == area, (k, area_of(path.get("d")))
    heat = [h for h in drawing.findall(f"{SVG}image")]
    assert [h.get("class") for h in heat] == ["heat k0 first", "heat k1"]
    level = list(pixels(base64.b64decode(heat[0].get("href").split(",")[1]),
                        15, 20, 1))
    assert max(level) == level[7 * 20 + 10] == 63  # where the bump is
    level = list(pixels(base64.b64decode(heat[1].get("href").split(",")[1]),
                        15, 20, 1))
    assert [v == 0 for v in level] == [k % 7 == 0 for k in range(300)]
    at = {c.get("data-p"): (float(c.get("cx")), float(c.get("cy")))
          for c in drawing.iter(f"{SVG}circle")}
    assert at == {str(7 + p): (25 + 30 * p + 3 * i, 40 + 15 * p)
                  for p in range(5) if (i, p) != (2, 1)}, at


def main():
    root = read(sys.argv[1])
    shots = root.findall(f".//{HTML}figure[@id]")
    assert len(shots) == 6
    for i, shot in enumerate(shots):
        check_figure(shot, i)
    assert "differs" in shots[0].get("class").split()
    assert "differs" not in shots[4].get("class").split()
    assert len(root.findall(f".//{HTML}ol/{HTML}li")) == 5
    table = json.loads(root.find(f".//{HTML}script[@id='labels']").text)
    assert table["columns"] == ["name", "label", 'age, "years"']
    assert len(table["rows"]) == 6
    assert table["rows"][0] == ['a <b>&amp; "c".png', 'eyes & "brows"',
                                "31"]
    assert table["suspects"][0] == {
        "row": 0, "column": 1, "given": 'eyes & "brows"', "proposed": "<none>"}
    assert root.find(f".//{HTML}pre/{HTML}code").text.endswith('"<done>"')
    areas = [f.find(f"{HTML}figcaption") for f in
             root.findall(f".//{HTML}figure[@class='roc']")]
    assert ["".join(a.itertext()) for a in areas] == [
        'eyes & "brows" AUROC 1.000', "<none> AUROC 1.000"]


main()
