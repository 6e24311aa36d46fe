"""browse_answers.py FOLDER: opens FOLDER/answers.html, which lapis fit wrote of
FOLDER/answers.csv, in Chromium, and sorts, searches and leafs through the
answers.  What it shows is compared with the table."""
import csv
import sys

from browser import Browser

FOLDER = sys.argv[1]
ROWS = ("return [...document.querySelectorAll('.sheet tbody tr')]"
        ".map(r => [...r.children].map(c => c.textContent.trim()))")


def key(b, css, text):
    b.run("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
          "e.dispatchEvent(new Event(arguments[2]))", css, text,
          "change" if css == "#which" else "input")


def main():
    with open(f"{FOLDER}/answers.csv", newline="", encoding="utf-8") as file:
        titles, *table = list(csv.reader(file))
    share = titles.index("probability of yes")
    with Browser() as b:
        b.open(f"file://{FOLDER}/answers.html")
        b.look(1280, "light")
        first = b.run(ROWS)
        assert [r[0] for r in first] == [r[0] for r in table[:25]]
        for seen, row in zip(first, table):
            assert seen[1:share] == row[1:share], (seen, row)
            if row[titles.index("origin")] == "filled":  # others: held out, or none
                assert abs(float(seen[share]) - float(row[share])) < 6e-4
        b.click("#later")
        assert [r[0] for r in b.run(ROWS)] == [r[0] for r in table[25:50]]
        b.click(f".sheet th:nth-child({share + 1}) button")
        shares = [float(r[share]) for r in b.run(ROWS) if r[share]]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > max(float(r[share]) for r in table
                               if r[titles.index("origin")] == "filled") - 6e-4
        assert b.run("return document.querySelector('[aria-sort=descending]')"
                     ".textContent") == titles[share]
        key(b, "#find-row", table[40][0])
        assert [r[0] for r in b.run(ROWS)] == [table[40][0]]
        key(b, "#find-row", "")
        key(b, "#which", "unsure")
        wanted = [r for r in table if r[titles.index("origin")] == "filled"
                  and abs(float(r[share]) - .5) < .1]
        assert b.text("#range").endswith(f"of {len(wanted)}"), b.text("#range")
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                b.look(width, scheme)
                assert b.run("return document.documentElement.scrollWidth") <= width
        assert b.complaints() == [], b.complaints()


main()
