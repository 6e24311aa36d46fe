"""Scene-15: SVM+ with high-resolution features as privileged information.

    bench/svmplus_scene15.py LAPIS DATA [DRAWS]

LAPIS is the command, DATA the folder with scene15/scene15.npz.  A draw takes
20 images a class from splits 0 and 2 for training; as many images again as
the split marks for test stay the test set; settings are chosen on the rest.
Privileged features are read for training images only.  Prints accuracy of the
chosen settings: mean, deviation, n.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

CS = (0.1, 1.0, 10.0)
GAMMAS = (0.01, 1.0, 100.0)


def accuracy(lapis, folder, options, settings, answers):
    """Fits once; accuracy on each of the named sets."""
    model = os.path.join(folder, "m.lapis")
    command = [lapis, "fit", "svmplus", os.path.join(folder, "train.npz"),
               "--model", model, "--tol", "1e-3", "-q", *options]
    for name, value in settings:
        command += ["--" + name, repr(value)]
    subprocess.run(command, check=True, capture_output=True)
    right = {}
    for name, truth in answers.items():
        out = os.path.join(folder, "out.npz")
        subprocess.run([lapis, "predict", model, "-X",
                        os.path.join(folder, name + ".npy"), "-o", out],
                       check=True, capture_output=True)
        right[name] = 100 * np.mean(np.load(out)["labels"].ravel() == truth)
    return right


def best(lapis, folder, options, plain, answers):
    tried = []
    for C in CS:
        for gamma in (1.0,) if plain else GAMMAS:
            right = accuracy(lapis, folder, options,
                             (("C", C), ("gamma", gamma)), answers)
            tried.append((right["val"], right["test"], C, gamma))
    return max(tried)


def main():
    lapis, data = sys.argv[1], sys.argv[2]
    draws = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    z = np.load(os.path.join(data, "scene15", "scene15.npz"))
    main_x, priv = z["main"].astype(float), z["priv"].astype(float)
    scale = np.sqrt(np.mean(np.sum(main_x ** 2, 1)))
    scale_p = np.sqrt(np.mean(np.sum(priv[z["split"] == 0] ** 2, 1)))
    label, split = z["label"].astype(float), z["split"]
    kinds = (("linear SVM", True, ()), ("linear SVM+", False, ()),
             ("kernel l2-SVM", True, ("--kernel", "rbf")),
             ("kernel l2-SVM+", False,
              ("--kernel", "rbf", "--kernel-priv", "rbf")))
    found = {name: [] for name, _, _ in kinds}
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        pool = np.flatnonzero(split != 1)
        train = np.concatenate([rng.choice(pool[label[pool] == c], 20, False)
                                for c in range(15)])
        val, test = np.setdiff1d(pool, train), np.flatnonzero(split == 1)
        for name, plain, options in kinds:
            with tempfile.TemporaryDirectory() as folder:
                parts = {"X": main_x[train] / scale, "Y": label[train]}
                if not plain:
                    parts["P"] = priv[train] / scale_p
                np.savez(os.path.join(folder, "train.npz"), **parts)
                for part, rows in (("val", val), ("test", test)):
                    np.save(os.path.join(folder, part + ".npy"),
                            main_x[rows] / scale)
                found[name].append(
                    best(lapis, folder, options, plain,
                         {"val": label[val], "test": label[test]}))
    for name, results in found.items():
        test = [r[1] for r in results]
        print(f"{name:15s} {np.mean(test):6.2f} +- {np.std(test):.2f} "
              f"(n {draws}); draw 0: C {results[0][2]:g}, "
              f"gamma {results[0][3]:g}, {test[0]:.2f}")


if __name__ == "__main__":
    main()
