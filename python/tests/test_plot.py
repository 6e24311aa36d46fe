"""What the pictures show is what was found."""
# needs: numpy matplotlib
import subprocess
import sys
import unittest

import matplotlib
import numpy as np

import lapis
import lapis.plot
from common import low_rank, two_classes

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  after the backend is chosen


def pixels(figure):
    """What the figure looks like: (height, width, 4)."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def shares(figure, colour):
    """Share of the pixels that are of this colour."""
    wanted = (255 * np.array(matplotlib.colors.to_rgba(colour))).astype(int)
    return (np.abs(pixels(figure).astype(int) - wanted) < 3).all(-1).mean()


class Plots(unittest.TestCase):
    def tearDown(self):
        pyplot.close("all")

    def test_matches_join_what_corresponds(self):
        rng = np.random.default_rng(0)
        xy = rng.uniform(2, 18, (9, 2))
        found = np.array([[0, 1, 2], [5, 3, -1], [6, 7, 8]])
        images = [np.full((20, 20 + k), k + 1.0) for k in range(3)]
        ax = lapis.plot.matches(found, xy, images, gap=5)
        self.assertEqual(len(ax.lines), 3)
        starts = [0, 25, 51]  # 20 + 5, then 21 + 5 more
        for slot, line in enumerate(ax.lines):
            want = [xy[row] + [starts[k], 0]
                    for k, row in enumerate(found[:, slot]) if row >= 0]
            np.testing.assert_allclose(line.get_xydata(), want)
        self.assertEqual(ax.images[0].get_array().shape, (20, 73))
        self.assertEqual(len({line.get_color().tobytes()
                              for line in ax.lines}), 3)

    def test_matches_takes_what_the_matcher_returns(self):
        rng = np.random.default_rng(1)
        part = rng.normal(size=(4, 12))
        features = [np.vstack([part, rng.normal(size=(3, 12))])
                    for _ in range(5)]
        found = lapis.MultiImageMatcher(inliers=4).match(features)
        xy = rng.uniform(0, 50, (35, 2))
        ax = lapis.plot.matches(found, xy)
        self.assertEqual(len(ax.lines), 4)
        self.assertEqual({len(line.get_xdata()) for line in ax.lines}, {5})
        self.assertEqual({tuple(sorted(row)) for row in found.local},
                         {(0, 1, 2, 3)})

    def test_a_heatmap_covers_its_image(self):
        values = np.arange(6.0).reshape(2, 3)
        ax = lapis.plot.heatmap(values, image=np.zeros((40, 60)))
        self.assertEqual(len(ax.images), 2)
        np.testing.assert_array_equal(ax.images[1].get_array(), values)
        self.assertEqual(ax.images[0].get_extent(),
                         ax.images[1].get_extent())

    def test_missing_values_are_magenta(self):
        values = np.zeros((4, 4))
        self.assertEqual(shares(lapis.plot.heatmap(values).figure,
                                "magenta"), 0)
        values[:2] = np.nan
        self.assertGreater(shares(lapis.plot.heatmap(values).figure,
                                  "magenta"), 0.1)

    def test_a_decomposition_adds_up(self):
        clean, X = low_rank(30, 24)
        X[0, 0] = np.nan
        model = lapis.RobustPCA().fit(X)
        figure = lapis.plot.decomposition(X, model.low_rank_, model.sparse_,
                                          (4, 6), samples=[0, 3, 7])
        drawn = [ax.images[0].get_array() for ax in figure.axes]
        self.assertEqual([a.shape for a in drawn], [(4, 6)] * 9)
        for seen, kept, removed in zip(drawn[:3], drawn[3:6], drawn[6:]):
            np.testing.assert_allclose(seen, kept + removed, atol=1e-6)
        self.assertTrue(drawn[0].mask[0, 0])
        self.assertEqual(figure.axes[1].get_title(), "3")

    def test_convergence_shows_the_history(self):
        _, X = low_rank()
        model = lapis.RobustPCA(tol=1e-8).fit(X)
        ax = lapis.plot.convergence(model)
        self.assertEqual(ax.get_yscale(), "log")
        drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
        self.assertIn("gap", drawn)
        last = drawn["gap"][np.isfinite(drawn["gap"])][-1]
        self.assertLessEqual(last, 1e-8)
        result = lapis.solve("rpca", X, tol=1e-8)
        again = lapis.plot.convergence(result)
        self.assertEqual(again.lines[0].get_ydata().tobytes(),
                         ax.lines[0].get_ydata().tobytes())

    def test_what_is_not_iterated_shows_what_was_compared(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 2))
        y = X[:, 0] + np.sin(3 * X[:, 1])
        for candidates in ("rr", "linear", "trees", "linear,trees"):
            model = lapis.AutoRegressor(candidates=candidates).fit(X, y)
            ax = lapis.plot.convergence(model)
            widths = [bar.get_width() for bar in ax.patches]
            self.assertEqual(widths, [one["squared_error"]
                                      for one in model.candidates_])
            self.assertIn("squared error", ax.get_xlabel())
        model = lapis.AutoClassifier(candidates="trees").fit(X, y > 0)
        self.assertIn("log loss", lapis.plot.convergence(model).get_xlabel())
        with self.assertRaisesRegex(ValueError, "no iterations"):
            lapis.plot.convergence({"iteration": [], "gap": []})

    def test_suspects_are_named(self):
        X, y, _ = two_classes(40, d=6)
        index, margin = np.array([[7, 0], [3, 0]]), np.array([0.75, -0.25])
        figure = lapis.plot.suspects(index, margin, X, (2, 3), ["smile"])
        self.assertEqual([ax.get_title() for ax in figure.axes],
                         ["7: smile\n+0.75", "3: smile\n-0.25"])
        np.testing.assert_array_equal(
            figure.axes[0].images[0].get_array(), X[7].reshape(2, 3))

    def test_roc_has_the_area_of_the_metric(self):
        rng = np.random.default_rng(3)
        y = rng.integers(0, 3, 60)
        scores = rng.normal(size=(60, 3)).round(1) + np.eye(3)[y]
        ax = lapis.plot.roc(y, scores)
        for k in range(3):
            area = lapis.metrics.auroc((y == k).astype(float), scores[:, k])
            self.assertEqual(ax.lines[k].get_label(), f"{k}  AUROC {area:.3f}")
        words = np.array(["no", "yes", None], object)[np.minimum(y, 2)]
        ax = lapis.plot.roc(words, scores[:, 1])
        known = y < 2
        area = lapis.metrics.auroc(y[known].astype(float), scores[known, 1])
        self.assertEqual(ax.lines[0].get_label(), f"yes  AUROC {area:.3f}")
        with self.assertRaisesRegex(ValueError, "y has 3 labels"):
            lapis.plot.roc(y, scores[:, :2])

    def test_calibration_is_of_those_that_were_right(self):
        p = np.array([.95, .95, .95, .95, .35, .35, .65, np.nan])
        y = np.array(["b", "b", "b", "a", "a", "b", "b", "b"])
        ax = lapis.plot.calibration(y, p)
        dots = ax.collections[0].get_offsets()
        np.testing.assert_allclose(dots, [[.65, 2 / 3], [.95, .75]])
        twice = lapis.plot.calibration(y, np.stack([1 - p, p], axis=1))
        np.testing.assert_allclose(twice.collections[0].get_offsets(), dots)

    def test_confusion_counts_pairs(self):
        ax = lapis.plot.confusion(["a", "b", "a", "c"], ["a", "a", "b", "c"])
        np.testing.assert_array_equal(ax.images[0].get_array(),
                                      [[1, 1, 0], [1, 0, 0], [0, 0, 1]])
        self.assertEqual([t.get_text() for t in ax.get_yticklabels()],
                         ["a", "b", "c"])

    def test_names_of_many_classes_stand_apart(self):
        for count in 2, 9, 30:
            names = [f"a long name of class {k:02}" for k in range(count)]
            own = pyplot.figure(figsize=(3, 3)).subplots()
            for ax in own, None:
                ax = lapis.plot.confusion(names, names[::-1], ax=ax)
                ax.figure.canvas.draw()
                for axis, low, high in ((ax.xaxis, "x0", "x1"),
                                        (ax.yaxis, "y0", "y1")):
                    at = sorted((getattr(b, low), getattr(b, high)) for b in (
                        t.get_window_extent() for t in axis.get_ticklabels()))
                    for (_, end), (start, _) in zip(at, at[1:]):
                        self.assertLessEqual(end, start + .5)
            frame = ax.figure.bbox
            for t in ax.get_xticklabels() + ax.get_yticklabels():
                box = t.get_window_extent()
                self.assertGreaterEqual(min(box.x0, box.y0), 0)
                self.assertLessEqual(box.x1, frame.x1)

    def test_holes_are_magenta(self):
        X = np.zeros((10, 4))
        X[:5, 1] = np.nan
        ax = lapis.plot.holes(X, names=["a", "b", "c", "d"])
        self.assertEqual(ax.get_xticklabels()[1].get_text(), "b\n50%")
        self.assertGreater(shares(ax.figure, "magenta"), .05)
        self.assertEqual(shares(lapis.plot.holes(X[5:]).figure, "magenta"), 0)

    def test_coefficients_are_sorted_by_size(self):
        ax = lapis.plot.coefficients([.5, -2, 0, 1], names="abcd", most=3)
        self.assertEqual([t.get_text() for t in ax.get_yticklabels()],
                         ["b", "d", "a"])
        self.assertEqual([b.get_width() for b in ax.patches], [-2, 1, .5])
        X, y, _ = two_classes(60, d=6)
        model = lapis.RobustLDA().fit(X, y)
        ax = lapis.plot.coefficients(model)
        largest = np.abs(model.coef_).max()
        self.assertAlmostEqual(abs(ax.patches[0].get_width()), largest)

    def test_without_matplotlib_a_sentence(self):
        program = ("import sys; sys.modules['matplotlib'] = None\n"
                   "import lapis.plot\n"
                   "lapis.plot.heatmap([[1.0]])")
        done = subprocess.run([sys.executable, "-c", program], text=True,
                              capture_output=True)
        self.assertIn("ImportError: lapis.plot draws by matplotlib",
                      done.stderr)


if __name__ == "__main__":
    unittest.main()
