"""Images: their features, and points of one found in the others."""
# needs: numpy
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

import lapis
from common import command

MOVES = [(0, 0), (3, 4), (-5, 2)]
EYES = {"left": (40, 50), "right": (80, 60), "nose": (60, 90)}


def scenes():
    """One scene, moved by MOVES."""
    rng = np.random.default_rng(0)
    scene = np.kron(rng.random((20, 20)), np.ones((8, 8)))
    return [scene[16 - y:144 - y, 16 - x:144 - x] for x, y in MOVES]


def raises(case, kind, said, work):
    with case.assertRaises(kind) as caught:
        work()
    case.assertIn(said, str(caught.exception))


class Points(unittest.TestCase):
    def setUp(self):
        try:
            self.found = lapis.match_images(scenes(), EYES, grid=2)
        except lapis.NotBuiltError:
            self.skipTest("without VLFeat")

    def test_points_of_one_are_found_in_all(self):
        want = np.array([[np.add(at, move) for at in EYES.values()]
                         for move in MOVES])
        self.assertEqual(self.found.points, list(EYES))
        self.assertEqual(self.found.names, [0, 1, 2])
        np.testing.assert_allclose(self.found.xy, want, atol=1.5)
        np.testing.assert_array_equal(self.found.xy[0], want[0])
        self.assertTrue(self.found.sure.all())

    def test_the_forms_of_points(self):
        for first, points in ((list(EYES.values()), [0, 1, 2]),
                              (np.array(list(EYES.values())), [0, 1, 2])):
            again = lapis.match_images(scenes(), first, grid=2)
            self.assertEqual(again.points, points)
            np.testing.assert_array_equal(again.xy, self.found.xy)

    def test_a_table_and_files_are_the_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            table, files = os.path.join(folder, "first.csv"), []
            for k, image in enumerate(scenes()):
                files.append(Path(folder, f"s{k}.pgm"))
                files[-1].write_bytes(
                    b"P5 128 128 65535\n"
                    + np.round(65535 * image).astype(">u2").tobytes())
            Path(table).write_text("x,y,point\n" + "".join(
                f"{x},{y},{name}\n" for name, (x, y) in EYES.items()))
            out = os.path.join(folder, "all.npz")
            command("match", *files, "--first", table, "--grid", 2,
                    "--no-cache", "--result", out)
            again = lapis.match_images(files, table, grid=2)
            self.assertEqual(again.points, list(EYES))
            self.assertEqual(again.names, [str(file) for file in files])
            with np.load(out) as there:
                np.testing.assert_array_equal(
                    there["xy"][there["match"]][:, :, :2], again.xy)
                np.testing.assert_array_equal(there["inlier"] > 0, again.sure)
        np.testing.assert_array_equal(again.xy, self.found.xy)

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("without pandas")
        frame = pandas.DataFrame([(name, x, y) for name, (x, y)
                                  in EYES.items()], columns=["point", "x", "y"])
        again = lapis.match_images(scenes(), frame, grid=2).frame()
        self.assertEqual(list(again.columns),
                         ["image", "point", "x", "y", "sure"])
        np.testing.assert_array_equal(again[["x", "y"]],
                                      self.found.xy.reshape(-1, 2))
        self.assertEqual(list(again["point"][:3]), list(EYES))
        raises(self, ValueError, "first has no column 'y'; it has 'point', 'x'",
               lambda: lapis.match_images(scenes(), frame[["point", "x"]]))

    def test_without_points_keypoints_are_matched(self):
        found = lapis.match_images(scenes(), inliers=8)
        self.assertEqual(found.xy.shape, (3, 8, 2))

    def test_what_is_wrong_is_said(self):
        nowhere = {**EYES, "ear": (5, 300)}
        for kind, first, more, said in (
                (TypeError, [(1, 2), (3,)], {}, "first holds what is no place"),
                (ValueError, {"a": (1, 2, 3)}, {}, "first has shape (1, 3)"),
                (ValueError, {}, {}, "first has shape (0,)"),
                (ValueError, {"a": (1, 2), "b": (1, 2)}, {},
                 "'b' is where 'a' is"),
                (ValueError, {"a": (1, np.nan)}, {}, "first['a'] is 1, nan"),
                (ValueError, nowhere, {}, "first['ear']: the point 5,300 lies "
                 "outside the 128 x 128 pixels of images[0]"),
                (ValueError, EYES, {"inliers": 3},
                 "inliers goes without first"),
                (TypeError, EYES, {"grids": 3}, "there is no parameter 'grids'; "
                 "there are inliers")):
            raises(self, kind, said,
                   lambda: lapis.match_images(scenes(), first, **more))
        raises(self, ValueError, "only one image",
               lambda: lapis.match_images(scenes()[:1], EYES))


class Boxes(unittest.TestCase):
    """One thing at PLACES of its own in each picture."""
    PLACES = [(20, 30), (80, 20), (50, 90), (90, 80)]

    def setUp(self):
        rng = np.random.default_rng(0)
        thing = rng.random((60, 60))
        self.images = np.full((4, 160, 160), .5)
        for image, (x, y) in zip(self.images, self.PLACES):
            image[y:y + 60, x:x + 60] = thing

    def test_the_thing_is_found(self):
        found = lapis.locate_images(self.images, candidates=40)
        self.assertEqual(found.names, [0, 1, 2, 3])
        self.assertEqual(found.sure.shape, (4,))
        for (x, y), (left, top, width, height) in zip(self.PLACES,
                                                      found.boxes):
            both = (max(0, min(x + 60, left + width) - max(x, left)) *
                    max(0, min(y + 60, top + height) - max(y, top)))
            self.assertGreater(both / (3600 + width * height - both), .5)

    def test_they_are_the_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, f"{k}.pgm") for k in range(4)]
            for file, image in zip(files, self.images):
                file.write_bytes(b"P5 160 160 255\n" + np.round(
                    255 * image).astype(np.uint8).tobytes())
            out = os.path.join(folder, "all.npz")
            command("locate", *files, "--no-cache", "--result", out)
            here = lapis.locate_images(files)
            whole = lapis.locate_images(folder)
            self.assertEqual(whole.names, [str(file) for file in files])
            np.testing.assert_array_equal(whole.boxes, here.boxes)
            with np.load(out) as there:
                np.testing.assert_array_equal(there["boxes"][:, :4],
                                              here.boxes)
                np.testing.assert_array_equal(
                    there["agreement"].ravel(),
                    here.result["agreement"].ravel())

    def test_a_network_s_map(self):
        library = os.environ.get("LAPIS_TEST_ONNX")
        if library is None:
            self.skipTest("LAPIS_TEST_ONNX, which ctest sets, is not there")
        os.environ["LAPIS_ONNXRUNTIME"] = library
        with tempfile.TemporaryDirectory() as folder:
            net = Path(folder, "n.onnx")
            net.write_text("stand-in\nin 1 3 40 40\nout f 1 5\n"
                           "hidden map 1 3 10 8\n")
            found = lapis.locate_images(self.images, net=net, layer="map",
                                        grid=4)
            self.assertEqual(found.boxes.shape, (4, 4))
            raises(self, ValueError, "'f'",
                   lambda: lapis.locate_images(self.images, net=net))
        for more, said in (({"layer": "map"}, "layer goes with net"),
                           ({"net": "n", "look": "gist"}, "net goes with look"),
                           ({"net": "n", "without": "."},
                            "net goes without without")):
            raises(self, ValueError, said,
                   lambda: lapis.locate_images(self.images, **more))


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
