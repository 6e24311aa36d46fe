"""Images and their features."""
# needs: numpy
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

import lapis
from common import command


def raises(case, kind, said, work):
    with case.assertRaises(kind) as caught:
        work()
    case.assertIn(said, str(caught.exception))


class Features(unittest.TestCase):
    def test_they_are_the_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, f"{k}.pgm") for k in range(3)]
            for k, file in enumerate(files):
                file.write_bytes(b"P5 20 20 255\n" + bytes(range(k, k + 200))
                                 * 2)
            _, there = command("features", "gist", *files, "-o", "out.npz")
            here = lapis.image_features(files, "gist")
        np.testing.assert_array_equal(here.X, there["X"])
        self.assertEqual(here.X.dtype, float)
        self.assertEqual(here.names, [str(file) for file in files])

    def test_arrays_are_images(self):
        rng = np.random.default_rng(0)
        grey = rng.integers(0, 256, (12, 10), np.uint8)
        colour = rng.integers(0, 256, (12, 10, 3), np.uint8)
        found = lapis.image_features([grey, grey / 255], "pixels",
                                     size="10x12")
        np.testing.assert_allclose(found.X, [grey.ravel() / 255] * 2, atol=1e-5)
        self.assertEqual(found.names, [0, 1])
        self.assertEqual(lapis.image_features(
            [colour, colour], "color-moments").X.shape[0], 2)

    def test_words_are_learnt_or_given(self):
        rng = np.random.default_rng(0)
        files = [np.kron(rng.random((12, 12)), np.ones((5, 5)))
                 for _ in range(4)]
        with tempfile.TemporaryDirectory() as folder:
            words = os.path.join(folder, "words.npz")
            try:
                all_ = lapis.image_features(files, "sift-bow", words=27,
                                            save_vocabulary=words).X
            except lapis.NotBuiltError:
                self.skipTest("without VLFeat")
            some = lapis.image_features(files[2:], "sift-bow",
                                        vocabulary=words).X
        np.testing.assert_array_equal(some, all_[2:])

    def test_what_is_refused_is_left_out(self):
        good = np.random.default_rng(0).random((20, 20))
        images = [good, "nowhere.png", good]
        raises(self, OSError, "nowhere.png",
               lambda: lapis.image_features(images, "gist"))
        found = lapis.image_features(images, "gist", keep_going=True)
        self.assertEqual(found.names, [0, 2])
        self.assertIn("nowhere.png", found.result["refused"][0])

    def test_what_is_wrong_is_said(self):
        good = np.zeros((20, 20))
        for kind, images, name, said in (
                (ValueError, [good], "hogg", "there are pixels, "),
                (ValueError, [good], "hog,gist", "np.hstack"),
                (TypeError, "a.png", "gist", "images is one path"),
                (ValueError, [], "gist", "images holds none"),
                (ValueError, [good[:, :, None]], "gist",
                 "images[0] has shape (20, 20, 1)"),
                (ValueError, [good, good + 2], "gist", "images[1] holds floats"),
                (TypeError, [good.astype(int)], "gist", "images[0] holds int64"),
                (ValueError, [good], "onnx", "net=F.onnx names the file"),
                (OSError, [good], "onnx:no.onnx", "no.onnx: cannot be opened")):
            raises(self, kind, said,
                   lambda: lapis.image_features(images, name))
        raises(self, TypeError, "there are side",
               lambda: lapis.image_features([good], "gist", bins=3))


if __name__ == "__main__":
    unittest.main()
