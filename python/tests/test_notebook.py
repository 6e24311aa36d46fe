"""In a notebook: Ctrl-C ends a cell, and the bar is one line."""
# needs: numpy jupyter_client ipykernel
import os
import queue
import sys
import time
import unittest

from jupyter_client.manager import start_new_kernel

SLOW = "lapis.solve('rpca', context=lapis._core.Context(verbose=1), **slow())"


class Notebook(unittest.TestCase):
    def setUp(self):
        self.manager, self.client = start_new_kernel(
            kernel_name="python3", stderr=open(os.devnull, "w"))
        self.addCleanup(self.manager.shutdown_kernel, now=True)
        self.addCleanup(self.client.stop_channels)

    def run_cell(self, code, interrupt=None):
        """(what the cell showed, seconds from the interruption to its end);
        `interrupt` is how long after its first output it is interrupted."""
        cell, shown = self.client.execute(code), []
        first = sent = None
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            now = time.monotonic()
            if interrupt and first and not sent and now > first + interrupt:
                self.manager.interrupt_kernel()
                sent = now
            try:
                message = self.client.get_iopub_msg(timeout=0.05)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            shown.append((message["msg_type"], content))
            if message["msg_type"] in ("display_data", "stream"):
                first = first or time.monotonic()
            if content.get("execution_state") == "idle":
                return shown, time.monotonic() - (sent or now)
        self.fail("the cell did not end")

    def test_ctrl_c_in_a_cell(self):
        here = os.path.dirname(os.path.abspath(__file__))
        self.run_cell(f"import sys; sys.path.insert(0, {here!r})\n"
                      "import lapis\nfrom test_solving import slow")
        shown, took = self.run_cell(SLOW, interrupt=0.5)
        self.assertLess(took, 1)
        error, = [content for kind, content in shown if kind == "error"]
        self.assertEqual(error["ename"], "Interrupted")
        bars = [content["data"]["text/plain"] for kind, content in shown
                if kind in ("display_data", "update_display_data")]
        self.assertEqual([kind for kind, _ in shown].count("display_data"), 1)
        self.assertTrue(all(bar.startswith("rpca [") for bar in bars), bars)
        shown, _ = self.run_cell(
            "found = sys.last_value.result\n"
            "print(found.info.status, found.info.iterations > 0,"
            " found['low_rank'].shape)")
        said = "".join(content["text"] for kind, content in shown
                       if kind == "stream")
        self.assertEqual(said, "cancelled True (400, 300)\n")


if __name__ == "__main__":
    sys.exit(unittest.main())
