"""What the pages say of how often `locate` is right is what bench/results
keeps."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results/localisation.md"


def rows(title):
    """Numbers of the rows that begin so."""
    return [[float(cell) for cell in re.findall(r"\d*\.\d+", line)]
            for line in RESULTS.read_text().splitlines()
            if line.startswith(f"| {title} |")]


def said(path):
    return " ".join(re.sub(r'"\s*"', "", (ROOT / path).read_text()).split())


@unittest.skipUnless(RESULTS.exists(), "the sources are not there")
class Locate(unittest.TestCase):
    def setUp(self):
        highest, alone, found, without, _ = rows("mean")[1]
        net = rows("mean, shown on")[0][1]
        self.highest, self.alone, self.found, self.without, self.net = (
            f"{share:.2f}".lstrip("0")
            for share in (highest, alone, found, without, net))

    def test_the_page_says_what_was_measured(self):
        page = said("docs/locate.md")
        self.assertIn(f"is found in {self.found} of the images "
                      f"({self.highest} by the highest score", page)
        self.assertIn(f"with `--without` in {self.without}, "
                      f"with `--net` in {self.net}", page)

    def test_help_and_answers_say_it(self):
        page = said("images/pipeline/pipeline_settings.c")
        self.assertIn(f"{self.found} of the boxes were right, the highest "
                      f"score alone, {self.highest}", page)
        page = said("images/locate/locate.c")
        self.assertIn(f"{self.found} of the boxes were right; the highest "
                      f"score alone, {self.highest}", page)
        for share in (self.alone, self.without, self.net):
            self.assertIn(f"photographs {share} of the boxes were right", page)
        self.assertIn(f"{self.found} without one; the highest score alone, "
                      f"{self.highest}", page)
        self.assertEqual(set(re.findall(r"highest score alone, (\.\d+)", page)),
                         {self.highest})

    def test_python_says_it(self):
        self.assertIn(f"Of nine sets of photographs {self.found} of the boxes",
                      said("python/lapis/images.py"))


if __name__ == "__main__":
    unittest.main()
