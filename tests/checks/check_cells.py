"""check_cells.py FOLDER: pandas reads the cells of tables as LAPIS does.

Each *.cells holds the path of a table, and its cells as LAPIS read them:
between U+1F, a row ends at U+1E.  Before what a spreadsheet would run LAPIS
takes a ' off, which pandas does not know.
"""
import csv
import sys
from pathlib import Path

import pandas as pd


def same(read, cell):
    marked = cell[:1] in tuple("=+-@'") and read == "'" + cell
    return read == cell or marked


def check(dump):
    path, _, cells = dump.read_bytes().decode().partition("\x1d")
    rows = [row.split("\x1f") for row in cells.split("\x1e")[:-1]]
    with open(path, encoding="utf-8-sig", newline="") as text:
        line = text.readline()
    for mark in "\t;|,":  # the one that splits the titles
        if len(next(csv.reader([line], delimiter=mark))) == len(rows[0]):
            break
    table = pd.read_csv(path, sep=mark, header=None, dtype=str,
                        keep_default_na=False, encoding="utf-8-sig")
    if table.shape != (len(rows), len(rows[0])):
        sys.exit(f"{path}: pandas has {table.shape}, LAPIS {len(rows)} rows")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if not same(table.iat[i, j], cell):
                sys.exit(f"{path}: row {i}, column {j}: pandas reads "
                         f"{table.iat[i, j]!r}, LAPIS {cell!r}")


dumps = sorted(Path(sys.argv[1]).glob("*.cells"))
if not dumps:
    sys.exit(f"{sys.argv[1]}: there are no cells")
for one in dumps:
    check(one)
