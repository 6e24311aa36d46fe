"""browse_page.py FOLDER: opens FOLDER/page.html, which test_page.c wrote, in
Chromium and does what a person does: looks, switches layers, decides about
labels by mouse and by keys, follows a point, prints.  FOLDER/labels.csv is
what the page exported.  LAPIS_SHOTS, a folder, keeps pictures of the page."""
import csv
import os
import sys

from browser import Browser, wait_until

FOLDER = sys.argv[1]
PAGE = "file://" + FOLDER + "/page.html"


def seen(b, css):
    return b.run("const e = document.querySelector(arguments[0]);"
                 "const s = getComputedStyle(e);"
                 "return e.getClientRects().length > 0 &&"
                 "s.visibility === 'visible'", css)


def luminance(colour):
    parts = [int(v) / 255 for v in colour[4:-1].split(",")[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
              for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(b, css):
    """Of text against what lies behind it, as WCAG has it."""
    ink, paper = b.run("""
      let e = document.querySelector(arguments[0]);
      const ink = getComputedStyle(e).color;
      const back = e => getComputedStyle(e).backgroundColor;
      while (/, 0\\)$/.test(back(e)) && e.parentElement) e = e.parentElement;
      return [ink, back(e)]""", css)
    light = sorted([luminance(ink), luminance(paper)])
    return (light[1] + 0.05) / (light[0] + 0.05)


def looks(b):
    shots = os.environ.get("LAPIS_SHOTS")
    for width in (360, 1400):
        for scheme in ("light", "dark"):
            b.look(width, scheme)
            wide = b.run("return document.documentElement.scrollWidth")
            assert wide <= width, f"{wide} px wide at {width}"
            for css in ("h1", "p", "a", ".quiet", "del", "ins", "button",
                        ".rows th", "figcaption"):
                assert contrast(b, css) >= 4.5, (scheme, css, contrast(b, css))
            small = b.run("return [...document.querySelectorAll('button')]"
                          ".filter(e => e.getBoundingClientRect().height < 32)"
                          ".length")
            assert small == 0, "a button too small for a finger"
            if shots:
                b.shot(f"{shots}/page-{width}-{scheme}.png")
    b.look(1400, "light")


def switches(b):
    for layer, css in (("boxes", "#i0 .box"), ("regions", "#i0 .regions path"),
                       ("heat", "#i0 .heat.first"), ("points", "#i0 circle"),
                       ("captions", "#i0 figcaption")):
        before = seen(b, css)
        assert before == (layer != "heat"), layer
        b.click(f"#show-{layer}")
        assert seen(b, css) != before, layer
        b.click(f"#show-{layer}")
        assert seen(b, css) == before, layer
    b.click("#show-heat")
    assert seen(b, "#i0 .heat.k0") and not seen(b, "#i0 .heat.k1")
    b.click("#only-1")
    assert seen(b, "#i0 .heat.k1") and not seen(b, "#i0 .heat.k0")
    assert seen(b, "#i0 .box.k1") and not seen(b, "#i0 .box.k0")
    b.click("#kall")
    b.click("#show-heat")
    b.click("#only-differs")
    assert seen(b, "#i0") and seen(b, "#i1") and not seen(b, "#i4")
    b.click("#only-differs")
    b.click("#find")
    b.press(*"PLAIN")
    assert seen(b, "#i5") and not seen(b, "#i0")
    b.press(*["\ue003"] * 5)
    assert seen(b, "#i0")


def show(b, choice):
    b.run("const e = document.querySelector('#check-show');"
          "e.selectedIndex = [...e.options].findIndex("
          "o => o.text.startsWith(arguments[0]));"
          "e.dispatchEvent(new Event('change'))", choice)


def decisions(b):
    assert b.text("#tally") == "0 of 6 looked at, 0 changed"
    assert b.text("#check-shown").startswith("6 of 6 shown, filter: all")
    assert "1 of 6" in b.text("#check-said")
    assert "in doubt, rather" in b.text("#check-said")
    show(b, "in doubt")
    assert b.text("#check-shown") == "4 of 6 shown, filter: in doubt"
    assert "in doubt, rather" in b.text("#check-said")
    b.click("#check-no")
    assert b.text("#tally") == "1 of 6 looked at, 1 changed"
    assert "2 of 4" in b.text("#check-said")
    b.click("#check-undo")  # another mind
    assert b.text("#tally") == "0 of 6 looked at, 0 changed"
    assert "1 of 4" in b.text("#check-said")
    b.run("document.querySelector('#desk').focus()")
    b.press("right", "q", "z", "a")  # on, unknown, undo, back
    assert "1 of 4" in b.text("#check-said")
    b.press("s", "w", "s", "n")  # the second stays
    assert b.text("#tally") == "4 of 6 looked at, 3 changed"
    assert "All of these are looked at" in b.text("#check-said")
    b.open("about:blank")  # what was decided outlives the page
    b.open(PAGE)
    assert b.text("#tally") == "4 of 6 looked at, 3 changed"
    for choice, count in (("changed by you", 3), ("not looked at", 2),
                          ("all", 6), ("in doubt", 4)):
        show(b, choice)
        assert f"of {count}." in b.text("#check-said"), (choice, count)
        assert b.run("return document.querySelectorAll("
                     "'#check-strip button').length") == count
    b.downloads_to(FOLDER)
    b.run("document.querySelector('#export').focus()")
    b.press("enter")
    wait_until(lambda: os.path.exists(FOLDER + "/labels.csv"),
               "labels.csv did not come")


def reachable(b):
    """By the tab key alone: the link, a label in doubt, a switch, export."""
    b.run("document.querySelector('nav a').focus()")
    found = set()
    while b.run("return document.activeElement !== document.body"):
        found.add(b.run("return document.activeElement.id ||"
                        "document.activeElement.className"))
        b.press("tab")
        ring = b.run("const e = document.activeElement;"
                     "return e === document.body ||"
                     "getComputedStyle(e).outlineStyle !== 'none'")
        assert ring, found
    for wanted in ("export", "check-yes", "check-strip", "show-boxes", "next", "copy"):
        assert wanted in found, (wanted, found)


def follows(b):
    def marked(css):  # pictures may settle while the mouse is on its way
        b.point_at(css)
        return b.run("return document.querySelectorAll('.on').length")
    wait_until(lambda: marked("#i0 circle[data-p='8']") == 5,
               "no point is marked under the mouse")
    assert b.text("#where") == "Point 8: in 5 pictures"
    wait_until(lambda: marked("h1") == 0, "a point stays marked")
    b.click("#next")
    assert b.text("#where") == "Point 7: in 6 pictures"
    b.press("right")
    assert b.text("#where") == "Point 8: in 5 pictures"
    assert b.run("return document.querySelectorAll('#patches svg').length") == 5
    if os.environ.get("LAPIS_SHOTS"):
        b.shot(os.environ["LAPIS_SHOTS"] + "/page-follow.png")
    b.press("escape")
    assert b.run("return document.querySelectorAll('.on').length") == 0


def exported():
    with open(FOLDER + "/labels.csv", newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    assert len(rows) == 7 and rows[0] == [
        "name", "label", 'age, "years"'], rows[0]
    eyes, none = 'eyes & "brows"', "<none>"
    assert [r[1] for r in rows[1:]] == [
        none, none, none, "", eyes, "more"], rows
    assert rows[1][0] == 'a <b>&amp; "c".png' and rows[2][0] == "it's, here.png"
    # what a spreadsheet would run
    assert rows[3][0].startswith("'=x()") and rows[5][0].startswith("'\t]]>")


def main():
    with Browser() as b:
        b.open("about:blank")
        b.fetched()
        b.open(PAGE)
        looks(b)
        switches(b)
        decisions(b)
        follows(b)
        reachable(b)
        b.click("#copy")
        wait_until(lambda: b.text("#copy") in ("Copied", "Selected"),
                   "the button #copy said nothing")
        pdf = b.pdf()
        assert pdf[:5] == b"%PDF-" and len(pdf) > 10000
        assert b.complaints() == [], b.complaints()
        asked = [u for u in b.fetched() if not u.startswith("data:")]
        assert asked and all(u == PAGE or u.startswith("blob:")
                             for u in asked), asked
    exported()


main()
