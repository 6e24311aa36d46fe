#!/usr/bin/python3
"""check_vision.py ops|features FOLDER: what LAPIS made of images, compared
with scikit-image, SciPy, OpenCV, and with the formulas in numpy."""
import pathlib
import sys

import numpy as np

what, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def load(name):
    return np.load(folder / f"{name}.npy").astype("f8")


def near(name, got, wanted, tolerance):
    off = np.abs(got - wanted).max() if got.shape == wanted.shape else np.inf
    print(f"{name}: off by at most {off:.3g}, {tolerance:.3g} allowed")
    if not off <= tolerance:
        sys.exit(f"{name}: {got.shape} {wanted.shape}")


def ops():
    import cv2
    from scipy import ndimage
    from skimage import color, filters
    image = load("image")
    # scikit-image's white point is not quite what its matrix makes of white
    near("lab", load("lab"), color.rgb2lab(image), 0.02)
    bgr = image[..., ::-1].astype("f4")
    near("grey", load("grey")[..., 0], cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY),
         1e-6)
    for x in range(3):
        for y in range(3):
            near(f"gaussian{x}{y}", load(f"gaussian{x}{y}"),
                 np.stack([ndimage.gaussian_filter(image[..., c], 1.7, (y, x),
                                                   mode="nearest", truncate=4)
                           for c in range(3)], 2), 1e-6)
    near("blur", load("gaussian00"), filters.gaussian(
        image, 1.7, mode="nearest", truncate=4, channel_axis=2), 1e-6)
    near("small", load("small"),
         cv2.resize(image, (21, 16), interpolation=cv2.INTER_AREA), 1e-5)
    near("large", load("large"),
         cv2.resize(image, (128, 96), interpolation=cv2.INTER_LINEAR), 1e-5)


{"ops": ops}[what]()
