"""docs/papers.md, and the programs of bench/papers that its rows come from."""
# needs: numpy scipy sklearn
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from common import COMMAND

ROOT = Path(__file__).resolve().parents[2]


class Page(unittest.TestCase):
    def says(self, *words):
        done = subprocess.run([sys.executable, *words], check=False, cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_the_page_is_made_of_the_results(self):
        self.says("tools/papers", "--check")

    def test_rows_are_the_items_of_the_programs(self):
        kept = json.loads((ROOT / "bench/results/papers.json").read_text())
        self.assertEqual(len(kept), 5)
        for paper, items in kept.items():
            listed = self.says(f"bench/papers/{paper}.py").splitlines()
            self.assertEqual([line.split()[0] for line in listed],
                             list(items))


class Items(unittest.TestCase):
    """A cheap one of each paper says again what was kept."""
    def again(self, paper, item, folder=""):
        if not COMMAND:
            self.skipTest("LAPIS_COMMAND names no command")
        if folder and not Path(os.environ.get("LAPIS_DATA", ""),
                               folder).is_dir():
            self.skipTest(f"LAPIS_DATA has no {folder}")
        Page.says(self, f"bench/papers/{paper}.py", "--check", item)

    def test_mc11(self):
        self.again("mc11", "fig3")

    def test_mc15(self):
        self.again("mc15", "fig4")

    def test_svmp16(self):
        self.again("svmp16", "fig2", "mnist_plus")

    def test_rr16(self):
        self.again("rr16", "fig2")

    def test_roml16(self):
        self.again("roml16", "fig2")


if __name__ == "__main__":
    unittest.main()
