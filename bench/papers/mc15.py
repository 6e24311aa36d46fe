#!/usr/bin/python3
"""[MC15] Matrix completion for weakly-supervised multi-label classification.

    bench/papers/mc15.py [--quick | --all] [--record] [ITEM...]

as mc11.py; fig10 needs Pillow, fig11 build/bench/bench_regions
(-DLAPIS_BENCH=ON), too."""
import os
import subprocess
import tempfile

import numpy as np
from scipy.ndimage import uniform_filter

import mc11
from common import (HERE, LAPIS, auroc, data, fit, item, linear_svm, main, ones,
                    ridge, said)

said("fig1", "labels and places", "illustration: `lapis label --where`")


@item("fig2", "the words of an image are those of its regions together")
def fig2(_):
    z = mc11.msrc()[3]
    parts = np.zeros(z["bow"].shape)
    np.add.at(parts, z["seg_image"], z["seg_bow"])
    whole = z["bow"].astype(float)
    return [("share of words in labelled regions", "",
             parts.sum() / whole.sum())], \
        [("no region has words that its image lacks", (parts <= whole).all())]


said("fig3", "columns for classes", "illustration: `--class-features`")


@item("fig4", "[1 1 1; 1 1 ?] of least nuclear norm")
def fig4(_):
    X = np.array([[1, 1, 1], [1, 1, np.nan]])
    told, out = fit("rpca", {"X": X}, "--lambda", 10)
    zero = np.linalg.svd(np.nan_to_num(X), compute_uv=False)
    return [("the entry", 1, out["low_rank"][1, 2]),
            ("nuclear norm", 2.4495, told["info"]["objective"]),
            ("rank", 1, told["info"]["rank"]),
            ("with 0, singular values", "2.136 .662",
             f"{zero[0]:.3f} {zero[1]:.3f}")], \
        [("the completion has rank 1", told["info"]["rank"] == 1)]


@item("fig5", "2000 samples of 500 numbers, -1 or 1, and noise of deviation 20",
      "correlation of the first component with the class")
def fig5(_):
    rng = np.random.default_rng(0)
    y = np.repeat([-1., 1.], 1000)
    X = y[:, None] + 20 * rng.standard_normal((2000, 500))

    def first(A, of=slice(None)):
        U, s, _ = np.linalg.svd(A - A.mean(0), full_matrices=False)
        return abs(np.corrcoef(U[of, 0] * s[0], y[of])[0, 1])
    lda = ones(X) @ ridge(X, y[:, None]).T
    rpca = fit("rpca", {"X": X}, "--tol", "1e-3")[1]["low_rank"]
    mc = fit("mc", {"X": X, "Y": y}, "--lambda", "1e6", "--gamma", 1,
             "--mu-rel", ".95", "--tol", "1e-3")[1]["low_rank"]
    half = y.copy()
    half[::2] = np.nan
    half = fit("mc", {"X": X, "Y": half}, "--lambda", "1e6", "--gamma", 1,
               "--mu-rel", ".95", "--tol", "1e-3")[1]["low_rank"]
    rlda = fit("rlda", {"X": X, "Y": y}, "--eta", "1e5", "--lambda", ".022",
               "--gamma", ".01", "--tol", "1e-3")[1]["low_rank"]
    rows = [("PCA", "", first(X)), ("RPCA", "", first(rpca)),
            ("LDA", "",
             abs(np.corrcoef(lda.ravel(), y)[0, 1])),
            ("completion", "", first(mc)),
            ("with hidden labels", "",
             first(half, slice(None, None, 2))),
            ("robust LDA", "", first(rlda))]
    ours = [r[2] for r in rows]
    return rows, [("robust PCA is no better than PCA", ours[1] < ours[0] + .02),
                  ("completion uncovers the classes (> .9)", ours[3] > .9),
                  ("completion uncovers hidden labels, too", ours[4] > .9),
                  ("robust LDA uncovers the classes", ours[5] > .9)]


def unit(columns):
    return columns / np.linalg.norm(columns, axis=1, keepdims=True)


def spectrum(columns):
    return np.linalg.svd(unit(columns), compute_uv=False)


def ratios(draws):
    """class: (segments, nuclear norm ratio, share of the ten largest singular
    values of the class, and of as many segments of all classes)."""
    z = mc11.msrc()[3]
    X, cls, rng = z["seg_bow"].astype(float), z["seg_class"], \
        np.random.default_rng(0)
    classes, out = [c for c in range(23) if c not in (4, 7)], {}
    for c in classes:
        own, mixed = spectrum(X[cls == c]), []
        for _ in range(draws):
            pools = [rng.permutation(np.flatnonzero(cls == k))
                     for k in classes]
            turn = [p[t] for t in range(max(map(len, pools))) for p in pools
                    if t < len(p)]
            mixed.append(spectrum(X[turn[:(cls == c).sum()]]))
        ratio = np.mean([own.sum() / m.sum() for m in mixed])
        share = [s[:10].sum() / s.sum() for s in (own, mixed[0])]
        out[str(z["class_names"][c])] = (cls == c).sum(), ratio, *share
    return out


@item("table1a", "nuclear norm ratio of a class of MSRC",
      "and of Z with shuffled labels")
def table1a(quick):
    found = ratios(1 if quick else 5)
    x, y, _, _ = mc11.msrc()
    Z = np.c_[2 * y - 1, unit(x), np.ones(len(x))]
    right = np.linalg.norm(Z, "nuc")
    Z[:, :21] = Z[np.random.default_rng(0).permutation(len(Z)), :21]
    wrong = np.linalg.norm(Z, "nuc")
    ratio = {name: v[1] for name, v in found.items()}
    least, most = min(ratio, key=ratio.get), max(ratio, key=ratio.get)
    return [(f"least ({least})", "<1", ratio[least]),
            ("mean", "<1", np.mean(list(ratio.values()))),
            (f"largest ({most})", "<1", ratio[most]),
            ("Z, shuffled over true", ">1", wrong / right)], \
        [("below 1 for every class", ratio[most] < 1),
         ("wrong labels raise the nuclear norm", wrong > right)]


@item("table1b", "the same, features fewer than images",
      "SIFT Flow -> textons of MSRC merged to 20")
def table1b(quick):
    z = mc11.msrc()[3]
    merged = np.load(data("msrc_v2", "texton_codebook.npz"))["centers"]
    from sklearn.cluster import KMeans
    group = KMeans(20, n_init=3, random_state=0).fit_predict(merged)
    X = z["seg_bow"] @ np.eye(20)[group]
    cls, rows, rng = z["seg_class"], [], np.random.default_rng(0)
    for c in np.flatnonzero(np.bincount(cls) > 140):
        own = spectrum(X[cls == c]).sum()
        r = np.mean([own / spectrum(X[rng.permutation(len(X))[
            :(cls == c).sum()]]).sum() for _ in range(5)])
        rows.append((str(z["class_names"][c]), "<1", r))
    return rows, [("below 1 for every class", max(r[2] for r in rows) < 1)]


@item("fig6", "share of the ten largest singular values, a class and a mixture")
def fig6(_):
    found = ratios(1)
    rows = [(f"{c}, {what}", "", found[c][i]) for c in
            ("sky", "grass", "car")
            for i, what in ((2, "class"), (3, "mixture"))]
    return rows, [("more in the class, all three",
                   all(found[c][2] > found[c][3]
                       for c in ("sky", "grass", "car")))]


said("fig7", "example faces", "bundled: `data/cmu_faces`")
said("fig8", "windows", "`mc11.py fig2`")
said("table2", "AUROC, sunglasses", "theirs as `mc11.py table1`")


def regions_by_images(quick):
    """AUROC of regions' histograms by models of whole images: mc1, SVM."""
    x, y, fold, z = mc11.msrc()
    kept = (z["seg_class"] != 4) & (z["seg_class"] != 7)
    number = z["seg_class"] - (z["seg_class"] > 4) - (z["seg_class"] > 7)
    found = []
    for f in range(1 if quick else 5):
        at = kept & (fold[z["seg_image"]] == f)
        new, truth = z["seg_bow"][at].astype(float), np.eye(21)[number[at]]
        hidden = fold == f
        mc = mc11.msrc_fold("mc1", x, y, hidden, quick, new)[1][0]["scores"]
        share = np.sqrt(mc11.MAPS["l1"](x))
        svm = linear_svm(share[~hidden], y[~hidden],
                         np.sqrt(mc11.MAPS["l1"](new)), 1.)
        found.append([auroc(truth, mc), auroc(truth, svm)])
    return np.mean(found, 0)


@item("table3", "AUROC, 21 classes of MSRC by 400 textons, five folds",
      "MIL rivals: no code; regions: by a model of images")
def table3(quick):
    ours = {v: mc11.msrc_auroc(v, quick) for v in ("mc1", "pos", "simplex")}
    svm = mc11.msrc_svm(quick, False)
    mc, by_svm = regions_by_images(quick)
    return [("MSK-MIL, ML-MIL, DMIML", ".90 .90 .91", ""),
            ("MC-1", .91, ours["mc1"]), ("MC-Pos", .95, ours["pos"]),
            ("MC-Simplex", .92, ours["simplex"]), ("linear SVM", .89, svm),
            ("linear SVM, roots", "", mc11.msrc_svm(quick, True)),
            ("regions, MC-1", "", mc), ("regions, linear SVM", "", by_svm)], \
        [("MC-Pos is ahead of MC-1", ours["pos"] > ours["mc1"]),
         ("MC-Pos is ahead of MC-Simplex", ours["pos"] > ours["simplex"]),
         ("completions ahead of the SVM on the same histograms",
          min(ours.values()) > svm),
         ("regions: MC-1 is ahead of the SVM", mc > by_svm)]


@item("table4", "mean average precision, by words and by a network",
      "VOC 2007, Overfeat -> scene, 294 colours")
def table4(_):
    from sklearn.metrics import average_precision_score as ap
    z = np.load(data("scene", "scene.npz"))
    X = np.r_[z["train_x"], z["test_x"]]
    Y = np.r_[z["train_y"], z["test_y"]].astype(float)
    n = len(z["train_x"])
    masked = Y.copy()
    masked[n:] = np.nan
    mc = fit("mc", {"X": X, "Y": masked}, "--map", "standard", "--lambda",
             ".1", "--gamma", 3, "--mu-rel", ".02", "--tol",
             "1e-3")[1]["scores"][n:]
    A = (X - X[:n].mean(0)) / X[:n].std(0)
    svm = linear_svm(A[:n], Y[:n], A[n:], .01)
    mean = [np.mean([ap(Y[n:, c], s[:, c]) for c in range(6)])
            for s in (mc, svm)]
    return [("words: MC-1, Pos, Simplex, SVM", ".48 .50 .50 .49", ""),
            ("network: the same", ".73 .73 .72 .73", ""),
            ("scene: MC-1", "", mean[0]), ("linear SVM", "", mean[1])], \
        [("MC-1 and a linear SVM are level (.02)",
          abs(mean[0] - mean[1]) < .02)]


said("fig9", "steps to a region", "illustration: fig10, fig11")


def representatives(folder, folds):
    """fold{f}.npz in the folder: class features without that fold's labels."""
    x, y, fold, z = mc11.msrc()
    np.savez(f"{folder}/truth.npz", names=z["names"], fold=fold, labels=y)
    for f in folds:
        hidden = y.copy()
        hidden[fold == f] = np.nan
        np.savez(f"{folder}/data.npz", X=x, Y=hidden)
        subprocess.run(
            [LAPIS, "fit", "mc", f"{folder}/data.npz", "--class-features",
             "-q", "-o", f"{folder}/fold{f}.npz", "--variant", "pos", "--map",
             "scale:auto,scale:10", "--mu-rel", "0.002"], check=True,
            stdout=subprocess.DEVNULL)


@item("fig10", "heat maps of words that speak for a class, against the masks",
      "mean intersection over union")
def fig10(quick):
    from PIL import Image
    _, y, fold, z = mc11.msrc()
    maps = np.load(data("msrc_v2", "texton_maps_half.npz"))
    stored = [c for c in range(23) if c not in (4, 7)]
    both, either = np.zeros((3, 21)), np.zeros((3, 21))
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        folds = range(1 if quick else 5)
        representatives(folder, folds)
        for f in folds:
            rep = np.load(f"{folder}/fold{f}.npz")["class_features"]
            rep = rep / rep.sum(1, keepdims=True)
            ways = [rep - rep.mean(1, keepdims=True), rep - rep.mean(0)]
            for i in np.flatnonzero(fold == f):
                name = str(z["names"][i])
                mask = np.array(Image.open(
                    data("msrc_v2", "labels_half", name + ".png")))
                for c in np.flatnonzero(y[i]):
                    truth = mask == stored[c] + 1
                    for w, heat in enumerate(
                            [uniform_filter(v[c][maps[name]], 15) > 0
                             for v in ways] + [np.ones(mask.shape, bool)]):
                        both[w, c] += (heat & truth).sum()
                        either[w, c] += (heat | truth).sum()
    iou = (both / np.maximum(either, 1)).mean(1)
    return [("less its mean", "", iou[0]),
            ("less all classes", "", iou[1]),
            ("the whole picture", "", iou[2])], \
        [("less its mean is ahead of the whole picture",
          iou[0] > iou[2])]


@item("fig11", "the best connected region of a class, against the masks",
      "mean intersection over union")
def fig11(quick):
    bench = os.path.join(HERE, "../../build/bench/bench_regions")
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        representatives(folder, range(5))
        out = subprocess.run(
            [bench, data("msrc_v2"), folder, folder + "/truth.npz",
             "10" if quick else "1"], check=True, capture_output=True,
            text=True).stdout
    found = dict(line.strip("| ").rsplit(" | ", 1)
                 for line in out.splitlines()[2:6])
    return [(k, "", float(v)) for k, v in found.items()], []


said("fig12", "where regions fail", "pictures")



# ---- claims of the text: occluded, missing ----------------------------------
@item("occluded", "AUROC on the faces, words in a random box of each picture "
      "gone", "half as wide and high as the picture; by mu-rel")
def occluded(_):
    z = np.load(data("cmu_faces", "cmu_faces_words.npz"))
    d, rng = mc11.faces(), np.random.default_rng(0)
    for i, (xy, word) in enumerate(zip(z["xy"].astype(int), z["word"])):
        far = xy - rng.integers(0, (65, 61))
        out = ((far >= 0) & (far < (64, 60))).all(1)
        d["X"][i] = np.bincount(word[~out], minlength=1000)
    d["X"] = np.sqrt(d["X"])
    rows = [(f"MC-1, {mu}", "", auroc(d["hidden"], fit(
        "mc", {"X": d["X"], "Y": d["Y"]}, "--lambda", ".1", "--gamma", 3,
        "--mu-rel", mu, "--tol", "1e-3")[1]["scores"].ravel()))
            for mu in (.01, .02, .05, .1)]
    svm = mc11.svm_auroc(d["X"], d)
    return rows + [("linear SVM", "", svm)], \
        [("MC-1 is ahead of the SVM at table 1's mu-rel, .02",
          rows[1][2] > svm)]


@item("missing", "AUROC on scene by shares of labels and features missing",
      "the SVM on means in the gaps")
def missing(quick):
    z = np.load(data("scene", "scene.npz"))
    X = np.r_[z["train_x"], z["test_x"]]
    Y = np.r_[z["train_y"], z["test_y"]].astype(float)
    rows, rng = [], np.random.default_rng(0)
    for labels, gaps in ((.7, .3), (.9, .6)) if quick else (
            (.5, 0), (.7, 0), (.9, 0), (.7, .3), (.7, .6), (.9, .6)):
        x, y = X.copy(), Y.copy()
        x[rng.random(x.shape) < gaps] = np.nan
        y[rng.random(y.shape) < labels] = np.nan
        truth = np.where(np.isnan(y), Y, np.nan)
        mc = fit("mc", {"X": x, "Y": y}, "--map", "standard", "--lambda", ".1",
                 "--gamma", 3, "--mu-rel", ".1", "--tol", "1e-3")[1]["scores"]
        z = np.nan_to_num((x - np.nanmean(x, 0)) / np.nanstd(x, 0))
        svm = np.stack([linear_svm(z[k], y[k, c], z, .01)[:, 0] for c in
                        range(6) for k in [~np.isnan(y[:, c])]], 1)
        rows += [(f"{labels:.0%} {gaps:.0%}, MC-1", "", auroc(truth, mc)),
                 (f"{labels:.0%} {gaps:.0%}, SVM", "", auroc(truth, svm))]
    return rows, [("MC-1 is ahead wherever features are missing", all(
        a[2] > b[2] for a, b in zip(rows[::2], rows[1::2])
        if " 0%" not in a[0]))]


if __name__ == "__main__":
    main()
