#!/usr/bin/env python3
"""Several representatives of a class (fit mc --class-features N).

    bench/class_features.py [LAPIS] [msrc|faces|all]

needs numpy, scipy, scikit-learn, Pillow and LAPIS_DATA.  MSRC v2: every other
picture is the training half; the others, and while settings are chosen a third
of the training half, have no labels.  CMU faces: the split of the papers, and
while settings are chosen every other person of the training part.  mu-rel is
chosen for N = 1 by AUROC, and holds for every N.  Printed for N = 1 to 4: the
mean AUROC and average precision of the labels; how much the best of a class's
representatives looks like the histograms of its true segments (mean cosine of
roots) and what share of those (squared lengths of roots) lies in the span of
the representatives; and how well they show where the class is: the maximum of
the heat map inside the mask (point), the share of positive heat inside it
(mass), the mean intersection over union of what is above 0 (IoU), by the one
representative whose map has the highest peak (best) and by the mean of the maps
(mean).  N, random: as many clusters drawn at random, the problem written out by
hand."""
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter
from sklearn.metrics import (adjusted_rand_score, average_precision_score,
                             roc_auc_score)

LAMBDA, SIGMA, TOL = .1, 4, 1e-3
MUS = (.05, .02, .01, .005)
DROPPED = (4, 7)  # horse, mountain


def roots(X):
    X = np.maximum(X, 0)
    return np.sqrt(X / np.maximum(X.sum(-1, keepdims=True), 1e-12))


def fit(lapis, X, Y, mu, options, weight=LAMBDA):
    with tempfile.TemporaryDirectory() as folder:
        np.savez(folder + "/data.npz", X=X, Y=Y)
        subprocess.run(
            [lapis, "fit", "mc", folder + "/data.npz", "-q", "--variant",
             "pos", "--labels", "pm", "--solver", "admm", "--mu-rel", str(mu),
             "--lambda", repr(weight), "--tol", str(TOL), "-o",
             folder + "/out.npz", *options], check=True,
            stdout=subprocess.DEVNULL)
        with np.load(folder + "/out.npz") as out:
            return {name: out[name] for name in out}


def representatives(lapis, X, Y, mu, N):
    """scores, representatives (K lists), clusters (n x K) or None"""
    out = fit(lapis, X, Y, mu, ["--class-features", str(N)])
    F, K = out["class_features"], Y.shape[1]
    of = out.get("class_features_of", np.arange(K)).ravel()
    return (out["scores"].reshape(len(X), K), [F[of == c] for c in range(K)],
            out.get("class_clusters"))


def by_hand(lapis, X, Y, mu, N, cluster):
    """The same for clusters that are given (n x K, 0 .. N - 1)."""
    n, K = Y.shape
    own = np.arange(K * N)
    rows = np.where(np.isnan(Y), np.nan, -1).repeat(N, 1)
    for c in range(K):
        yes = np.flatnonzero(Y[:, c] == 1)
        rows[yes, c * N + cluster[yes, c]] = 1
    label = np.vstack([np.hstack([Y, rows]), np.hstack(
        [2 * np.eye(K).repeat(N, 0) - 1, 2 * np.eye(K * N) - 1])])
    known = np.isfinite(label[:, :K]).sum()
    out = fit(lapis, np.vstack([X, np.full((K * N, X.shape[1]), np.nan)]),
              label, mu, [], LAMBDA * np.isfinite(label).sum() / known)
    F = out["low_rank"][n:]
    return out["scores"][:n, :K], [F[own // N == c] for c in range(K)], cluster


def ranked(Y, S, asked):
    pairs = [(Y[asked, c] > 0, S[asked, c]) for c in range(Y.shape[1])]
    return (np.mean([roc_auc_score(*p) for p in pairs]),
            np.mean([average_precision_score(*p) for p in pairs]))


def looks(reps, parts):
    """parts: roots of the true histograms of each class."""
    alike, span = [], []
    for R, G in zip(map(roots, reps), parts):
        if not len(G):
            continue
        basis = np.linalg.svd(R, full_matrices=False)[2]
        alike.append((G @ R.T).max(1).mean())
        span.append(((G @ basis.T) ** 2).sum(1).mean())
    return np.mean(alike), np.mean(span)


class Msrc:
    def __init__(self, folder):
        d = np.load(folder + "/msrc_v2.npz")
        self.folder, self.names = folder, d["names"]
        self.stored = [c for c in range(23) if c not in DROPPED]
        self.Y = 2. * d["labels"][:, self.stored] - 1
        X = d["bow"].astype(float)
        self.X = 100 * X / X.sum(1, keepdims=True)
        self.train = np.arange(len(X)) % 2 == 0
        self.held = self.train & (np.cumsum(self.train) % 3 == 0)
        self.part = roots(d["seg_bow"].astype(float))
        self.part_image, self.part_class = d["seg_image"], d["seg_class"]
        self.maps = np.load(folder + "/texton_maps_half.npz")
        self.pictures = {}

    def picture(self, i):
        if i not in self.pictures:
            mask = Image.open(f"{self.folder}/labels_half/{self.names[i]}.png")
            self.pictures[i] = (self.maps[self.names[i]].astype(int),
                                np.array(mask))
        return self.pictures[i]

    def parts(self, asked):
        inside = asked[self.part_image]
        return [self.part[inside & (self.part_class == c)]
                for c in self.stored]

    def places(self, reps, asked):
        """point, mass, IoU by the best and by the mean, means over classes"""
        shares = [R / np.maximum(R.sum(1, keepdims=True), 1e-12)
                  for R in (np.maximum(R, 0) for R in reps)]
        mean = np.mean([s.mean(0) for s in shares], 0)
        sums = np.zeros((2, len(reps), 5))  # point, mass, images, and, or
        for i in np.flatnonzero(asked):
            words, mask = self.picture(i)
            for c in np.flatnonzero(self.Y[i] > 0):
                self.place(shares[c] - mean, words, mask,
                           self.stored[c] + 1, sums[:, c])
        sums = sums[:, sums[0, :, 2] > 0]
        return [np.mean(v, 1) for v in (sums[..., 0] / sums[..., 2],
                                        sums[..., 1] / sums[..., 2],
                                        sums[..., 3] / sums[..., 4])]

    @staticmethod
    def place(weights, words, mask, number, sums):
        inside, known = mask == number, mask > 0
        if not inside.any():
            return
        heat = np.stack([gaussian_filter(w[words], SIGMA) for w in weights])
        best = heat[heat.reshape(len(heat), -1).max(1).argmax()]
        for to, h in zip(sums, (best, heat.mean(0))):
            warm = np.maximum(h, 0) * known
            said = (h > 0) & known
            to += [inside[np.unravel_index(h.argmax(), h.shape)],
                   (warm * inside).sum() / max(warm.sum(), 1e-12), 1,
                   (said & inside).sum(), (said | inside).sum()]


HEAD = ("| representatives | AUROC | AP | alike | span | point, best | "
        "mass, best | IoU, best | point, mean | mass, mean | IoU, mean |\n"
        "|" + " --- |" * 11)


def msrc_row(m, name, answer, asked):
    scores, reps, _ = answer
    point, mass, iou = m.places(reps, asked)
    print(f"| {name} | " + " | ".join(
        "%.3f" % v for v in (*ranked(m.Y, scores, asked),
                             *looks(reps, m.parts(asked)), point[0], mass[0],
                             iou[0], point[1], mass[1], iou[1])) + " |",
          flush=True)


def random_clusters(Y, N, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(N, size=Y.shape)


def hide(Y, hidden):
    Y = Y.copy()
    Y[hidden] = np.nan
    return Y


def msrc(lapis, data):
    m = Msrc(data + "/msrc_v2")
    known = hide(m.Y, ~m.train | m.held)
    found = {mu: ranked(m.Y, representatives(lapis, m.X, known, mu, 1)[0],
                        m.held)[0] for mu in MUS}
    mu = max(found, key=found.get)
    print("MSRC v2, AUROC on the hidden third of the training half by mu-rel: "
          + ", ".join(f"{k} {v:.3f}" for k, v in found.items()))
    for title, Y, asked in (("hidden third of the training half", known,
                             m.held),
                            ("test half", hide(m.Y, ~m.train), ~m.train)):
        print(f"\n{title}, {asked.sum()} pictures, mu-rel {mu}\n\n" + HEAD)
        for N in (1, 2, 3, 4):
            msrc_row(m, N, representatives(lapis, m.X, Y, mu, N), asked)
        for N in (2, 4):
            msrc_row(m, f"{N}, random", by_hand(
                lapis, m.X, Y, mu, N, random_clusters(Y, N)), asked)


def faces_row(name, answers, d):
    """Means over the answers: AUROC, alike by pose, clusters against poses."""
    figures = []
    for (scores, reps, cluster), Y, asked in answers:
        views = [roots(np.stack([d["X"][asked & (d["pose"] == p) & (
            d["Y"][:, c] > 0)].mean(0) for p in range(4)])) for c in (0, 1)]
        rand = np.nan if cluster is None else np.mean([adjusted_rand_score(
            d["pose"][Y[:, c] == 1], cluster[Y[:, c] == 1, c])
            for c in (0, 1)])
        auroc = roc_auc_score(d["Y"][asked, 0] > 0, scores[asked, 0])
        figures.append((auroc, *looks(reps, views), rand))
    print(f"| {name} | " + " | ".join(
        "%.3f" % v for v in np.mean(figures, 0)) + " |", flush=True)


def faces(lapis, data):
    bow = np.load(data + "/cmu_faces/cmu_faces_bow.npz")
    pose = np.load(data + "/cmu_faces/cmu_faces_small.npz")["pose"].astype(int)
    X, y, train = bow["bow"] * 1., bow["label"] * 1., bow["is_train"]
    d = {"X": X, "Y": np.stack([y, -y], 1), "pose": pose}
    people = np.unique(bow["subject"][train])
    halves = [train & np.isin(bow["subject"], people[k::2]) for k in (0, 1)]

    def answers(how, hidden):
        return [(how(hide(d["Y"], ~train | h)), hide(d["Y"], ~train | h), h)
                for h in hidden]
    auroc = {mu: np.mean([roc_auc_score(y[h] > 0, a[0][h, 0]) for a, _, h in
                          answers(lambda Y: representatives(
                              lapis, X, Y, mu, 1), halves)]) for mu in MUS}
    mu = max(auroc, key=auroc.get)
    print("\nCMU faces, AUROC on the other training people by mu-rel: "
          + ", ".join(f"{k} {v:.3f}" for k, v in auroc.items()))
    for title, hidden in (("training people in two halves, mean", halves),
                          ("test people", [~train])):
        print(f"\n{title}, mu-rel {mu}\n\n| representatives | AUROC | alike "
              "| span | clusters against poses |\n|" + " --- |" * 5)
        for N in (1, 2, 3, 4):
            faces_row(N, answers(lambda Y: representatives(
                lapis, X, Y, mu, N), hidden), d)
        faces_row("4, random", answers(lambda Y: by_hand(
            lapis, X, Y, mu, 4, random_clusters(Y, 4)), hidden), d)
        faces_row("4, the poses", answers(lambda Y: by_hand(
            lapis, X, Y, mu, 4, np.stack([pose, pose], 1)), hidden), d)


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    which = sys.argv[2] if len(sys.argv) > 2 else "all"
    data = os.environ["LAPIS_DATA"]
    if which in ("all", "msrc"):
        msrc(lapis, data)
    if which in ("all", "faces"):
        faces(lapis, data)


if __name__ == "__main__":
    main()
