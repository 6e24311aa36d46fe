"""Several objects in an image, and images that come later."""
# needs: numpy
import unittest

import numpy as np

import lapis

IMAGES, LATER, EACH, OBJECTS = 12, 3, 6, 2


def scene(rng):
    """Images of two objects among others: features, and rows of the parts."""
    things = rng.normal(size=(OBJECTS * EACH, 30))
    images, truth = [], []
    for _ in range(IMAGES + LATER):
        parts = things + 0.2 * rng.normal(size=things.shape)
        order = rng.permutation(len(things) + 8)
        images.append(np.concatenate([parts, rng.normal(size=(8, 30))])[order])
        truth.append(np.argsort(order)[:len(things)])
    return images, np.array(truth)


class Instances(unittest.TestCase):
    def setUp(self):
        self.images, self.truth = scene(np.random.default_rng(5))
        self.found = lapis.MultiImageMatcher(
            inliers=EACH, instances="auto").match(self.images[:IMAGES])

    def test_both_are_found(self):
        self.assertEqual(sorted(self.found.instance),
                         [1] * EACH + [2] * EACH)
        order = [list(self.found.local[0]).index(row)
                 for row in self.truth[0]]
        np.testing.assert_array_equal(self.found.local[:, order],
                                      self.truth[:IMAGES])

    def test_later_images(self):
        later = self.images[IMAGES:]
        first = np.cumsum([0] + [len(f) for f in later[:-1]])
        got = self.found.predict(later) - first[:, None]
        order = [list(self.found.local[0]).index(row)
                 for row in self.truth[0]]
        np.testing.assert_array_equal(got[:, order], self.truth[IMAGES:])

    def test_one_image_without_its_object(self):
        alone = np.random.default_rng(6).normal(size=(20, 30))
        self.assertTrue((self.found.predict([alone]) == -1).all())

    def test_the_model_outlives_its_matches(self):
        model = lapis.Model.from_bytes(self.found.model.to_bytes())
        np.testing.assert_array_equal(model.get("instance").ravel(),
                                      self.found.instance)
        X = np.concatenate(self.images[IMAGES:])
        group = np.repeat(np.arange(LATER), len(self.images[0]))
        np.testing.assert_array_equal(
            model.predict(X, group=group)["match"],
            self.found.predict(self.images[IMAGES:]))

    def test_nothing_in_common(self):
        rng = np.random.default_rng(7)
        with self.assertRaisesRegex(ValueError, "nothing that the images"):
            lapis.MultiImageMatcher(inliers=5, instances="auto").match(
                [rng.normal(size=(15, 30)) for _ in range(10)])


class Points(unittest.TestCase):
    """Points of images that are turned against each other."""

    def setUp(self):
        rng = np.random.default_rng(4)
        thing, self.images, self.truth = rng.normal(size=(7, 2)), [], []
        for k in range(5):
            turn, order = rng.uniform(0, 6), rng.permutation(7)
            c, s = np.cos(turn), np.sin(turn)
            moved = thing @ [[c, s], [-s, c]] + rng.normal(size=2)
            self.images.append(moved[order])
            self.truth.append(np.argsort(order))

    def match(self, **more):
        return lapis.MultiImageMatcher(
            inliers=7, layout="coordinates", **more).match(self.images)

    def test_it_says_how_images_were_moved(self):
        found = self.match()
        self.assertEqual(found.invariance, "rotation")
        self.assertEqual(found.transform.shape, (5, 2, 3))
        both = found.result["low_rank"] + found.result["sparse"]
        for k, A in enumerate(found.transform):
            points = self.images[k][found.local[k]]
            np.testing.assert_allclose(points @ A[:, :2].T + A[:, 2],
                                       both[k], atol=1e-12)
            np.testing.assert_allclose(both[k], both[0], atol=1e-8)
        order = [list(found.local[0]).index(row) for row in self.truth[0]]
        np.testing.assert_array_equal(found.local[:, order], self.truth)

    def test_what_it_chose_can_be_told(self):
        found = self.match()
        told = self.match(invariance=found.result.settings["invariance"])
        self.assertEqual(told.invariance, "rotation")
        np.testing.assert_array_equal(found.match, told.match)
        np.testing.assert_array_equal(found.transform, told.transform)

    def test_descriptors_are_not_moved(self):
        found = lapis.MultiImageMatcher(inliers=7).match(self.images)
        self.assertIsNone(found.transform)
        self.assertIsNone(found.invariance)


if __name__ == "__main__":
    unittest.main()
