"""match_placement.py [LAPIS]: points of one face that lapis match --first finds
in those of other people, as a table.

face_marks.csv has eyes, base of the nose, mouth and chin of 20 people, two
pictures each (straight, eyes open, neutral and happy), marked by hand; seven
points more are midpoints of these.  The neutral picture of each person is the
first one of a run with all others of half of the people: every other one from
an2i on, on whom the rule of doubt was chosen, and those between them.  Right
is within 8 of 128 pixels, half of what lies between the eyes; a picture is
wholly wrong where half of its points or more are off by more than 11.
"""
import csv
import os
import sys
import tempfile

import numpy as np
from match_first import found

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGES = os.path.join(HERE, "../../data/cmu_faces/images")
MIDDLES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (3, 4), (2, 3))


def marks():
    """{picture: 12 x 2}"""
    at = {}
    with open(os.path.join(HERE, "face_marks.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            at.setdefault(row["name"], []).append(
                (float(row["x"]), float(row["y"])))
    return {name: np.array(p + [np.mean([p[i], p[j]], axis=0).tolist()
                                for i, j in MIDDLES])
            for name, p in at.items()}


TITLES = ("points | right | sure | right of the sure | sure of the right "
          "| wholly wrong, yet sure |")


def share(part, of):
    return f"{part[of].mean():.3f}" if of.any() else "-"


def figures(off, sure):
    """What TITLES names: a row a picture; NaN: hidden."""
    right = off < 8
    wrong = (np.nanmedian(off, axis=1) > 11) & sure.any(axis=1)
    return (f"{right.size} | {right.mean():.3f} | {sure.mean():.3f} "
            f"| {share(right, sure)} | {share(sure, right)} "
            f"| {wrong.sum()} of {wrong.size} |")


def person(name):
    return name.split("_")[0]


def run(first, names, truth, options):
    """whether of the same person, off, sure: a row a picture but the first"""
    names = [first] + [name for name in names if name != first]
    wanted = np.array([truth[name] for name in names])
    at, sure = found([f"{IMAGES}/{name}.png" for name in names], 0, wanted[0],
                     options)
    off = np.hypot(*np.moveaxis(at - wanted, 2, 0))
    same = [person(name) == person(first) for name in names]
    return np.array(same)[1:], off[1:], sure[1:]


def row(people, names, truth, options):
    runs = [run(name, names, truth, options) for name in names
            if "neutral" in name]
    same, off, sure = (np.concatenate(part) for part in zip(*runs))
    for which, title in ((same, "same person"), (~same, "others")):
        print(f"| {people} | {title} | {' '.join(options) or 'defaults'} | "
              + figures(off[which], sure[which]), flush=True)


def main():
    truth = marks()
    people = sorted({person(name) for name in truth})
    print(f"| people | pictures of | options | {TITLES}\n" + "| --- " * 9 + "|")
    for title, half in (("chosen on", people[::2]), ("others", people[1::2])):
        names = [name for name in truth if person(name) in half]
        for options in ((), ("--grid", "3"), ("--grid", "3", "--scale", "2")):
            row(title, names, truth, options)


if __name__ == "__main__":
    main()
