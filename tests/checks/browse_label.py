"""browse_label.py FOLDER SAID...: opens FOLDER/page.html, a page of lapis
label, in Chromium as it is on a phone, presses the buttons or keys SAID, and
saves FOLDER/labels.csv."""
import os
import sys

from browser import Browser, wait_until

FOLDER = sys.argv[1]


def main():
    table = FOLDER + "/labels.csv"
    os.remove(table)
    with Browser() as b:
        b.look(390, "light", 844)
        b.open("file://" + FOLDER + "/page.html")
        assert b.run("return document.documentElement.scrollWidth") <= 390
        low = b.run("return [...document.querySelectorAll('#desk button')]"
                    ".filter(e => e.getBoundingClientRect().height < 40).length")
        assert low == 0, "a button too small for a thumb"
        for said in sys.argv[2:]:
            if said.startswith("#"):
                b.click(said)
            else:
                b.run("document.querySelector('#desk').focus()")
                b.press(said)
        b.downloads_to(FOLDER)
        b.click("#export")
        wait_until(lambda: os.path.exists(table), "labels.csv did not come")
        assert b.complaints() == [], b.complaints()


main()
