"""check_matches.py FOLDER begin: writes in.npz, three images of six features,
four of them the same in each, in another order.  FOLDER end: every point on
p.html is where in.npz has the feature that out.npz names, and the features of
one number are the same."""
import sys

import numpy as np

from page import HTML, SVG, read

FOLDER = sys.argv[1]


def begin():
    rng = np.random.default_rng(5)
    shared = rng.normal(size=(4, 16))
    X, group, xy, which = [], [], [], []
    for k in range(3):
        order = rng.permutation(6)
        rows = np.vstack([shared + 0.02 * rng.normal(size=shared.shape),
                          rng.normal(size=(2, 16))])[order]
        X.append(rows)
        which.append(order)
        group += [k] * 6
        xy.append(rng.uniform(0, 2, size=(6, 2)))
    np.savez(FOLDER + "/in.npz", X=np.vstack(X), group=np.array(group, float),
             xy=np.vstack(xy))
    np.save(FOLDER + "/which.npy", np.concatenate(which))


def end():
    given, found = np.load(FOLDER + "/in.npz"), np.load(FOLDER + "/out.npz")
    which = np.load(FOLDER + "/which.npy")
    shots = read(FOLDER + "/p.html").findall(f".//{HTML}figure[@id]")
    names = [s.find(f".//{HTML}strong").text for s in shots]
    assert names == ["view0.pgm", "view1.pgm", "view2.pgm"], names
    same = {}
    for k, shot in enumerate(shots):
        points = list(shot.iter(f"{SVG}circle"))
        assert len(points) == 4
        for p in points:
            row = found["match"][k, int(p.get("data-p")) - 1]
            at = [float(p.get("cx")), float(p.get("cy"))]
            assert np.allclose(at, given["xy"][row], rtol=1e-4)
            same.setdefault(p.get("data-p"), set()).add(which[row])
    assert all(len(s) == 1 and max(s) < 4 for s in same.values()), same


begin() if sys.argv[2] == "begin" else end()
