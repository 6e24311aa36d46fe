"""match_poses.py [LAPIS]: points of one straight face that lapis match --first
finds in pictures of the same person in other poses, as a table.

pose_marks.csv has eyes, base of the nose and mouth of six people, eight pictures
each: straight (sad, angry), and turned left, right and up (neutral, happy), all
with open eyes, marked by hand; what is hidden has no place, and is wrong wherever
it is put.  The neutral straight picture (face_marks.csv) is the first one of a run
with all 16 pictures of the person.  The rule of doubt was chosen on an2i,
boland and saavik.  Right is within 8 of 128 pixels; a picture is wholly wrong
where half of its points that are not hidden or more are off by more than 11.
"""
import csv
import os

import numpy as np
from match_first import found
from match_placement import HERE, IMAGES, TITLES, figures

CHOSEN = ("an2i", "boland", "saavik")
SHOWN = ("at33", "bpm", "cheyer")
POSES = ("straight", "left", "right", "up")
MOODS = ("neutral", "happy", "sad", "angry")
POINTS = ("right eye", "left eye", "nose", "mouth")


def marks():
    """{picture: 4 x 2}, NaN where hidden"""
    at = {}
    for table in ("face_marks.csv", "pose_marks.csv"):
        with open(os.path.join(HERE, table), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["point"] in POINTS:
                    at.setdefault(row["name"], []).append(
                        (float(row["x"] or "nan"), float(row["y"] or "nan")))
    return {name: np.array(place) for name, place in at.items()}


def run(person, truth, options):
    """{pose: (off, sure), a row a picture that is marked}"""
    names = [f"{person}_{pose}_{mood}_open" for pose in POSES for mood in MOODS]
    at, sure = found([f"{IMAGES}/{name}.png" for name in names], 0,
                     truth[names[0]], options)
    in_pose = {}
    for k, name in enumerate(names):
        if k == 0 or name not in truth:
            continue
        off = np.hypot(*(at[k] - truth[name]).T)
        in_pose.setdefault(name.split("_")[1], []).append((off, sure[k]))
    return {pose: [np.array(part) for part in zip(*rows)]
            for pose, rows in in_pose.items()}


def rows(people, names, truth, options):
    runs = [run(name, truth, options) for name in names]
    for pose in POSES:
        off, sure = (np.concatenate(part)
                     for part in zip(*(one[pose] for one in runs)))
        print(f"| {people} | {pose} | {' '.join(options) or 'defaults'} | "
              + figures(off, sure), flush=True)


def main():
    truth = marks()
    print(f"| people | pose | options | {TITLES}\n" + "| --- " * 9 + "|")
    for people, names in (("chosen on", CHOSEN), ("others", SHOWN)):
        for options in ((), ("--grid", "3"), ("--grid", "3", "--scale", "2")):
            rows(people, names, truth, options)


if __name__ == "__main__":
    main()
