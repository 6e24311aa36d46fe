"""In a notebook: Ctrl-C ends a cell, and the bar is one line."""
# needs: numpy jupyter_client ipykernel
import os
import queue
import sys
import time
import unittest

from jupyter_client.manager import start_new_kernel

SLOW = "lapis.solve('rpca', context=lapis._core.Context(verbose=1), **slow())"


PATIENCE = 500  # seconds; the machine may be busy, only a hang takes longer


class Notebook(unittest.TestCase):
    def setUp(self):
        self.manager, self.client = start_new_kernel(
            startup_timeout=PATIENCE, kernel_name="python3",
            stderr=open(os.devnull, "w"))
        self.addCleanup(self.manager.shutdown_kernel, now=True)
        self.addCleanup(self.client.stop_channels)

    def run_cell(self, code, interrupt=False):
        """What the cell showed; with `interrupt` it is interrupted when it
        shows something for the first time."""
        # else cells that follow a failed one at once are thrown away
        cell, shown = self.client.execute(code, stop_on_error=False), []
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            content = message["content"]
            shown.append((message["msg_type"], content))
            if interrupt and message["msg_type"] == "display_data":
                self.manager.interrupt_kernel()
                interrupt = False
            if content.get("execution_state") == "idle":
                return shown
        self.fail("the cell did not end")

    def test_ctrl_c_in_a_cell(self):
        here = os.path.dirname(os.path.abspath(__file__))
        self.run_cell(f"import sys; sys.path.insert(0, {here!r})\n"
                      "import lapis\nfrom test_solving import slow")
        shown = self.run_cell(SLOW, interrupt=True)  # it never ends by itself
        error, = [content for kind, content in shown if kind == "error"]
        self.assertEqual(error["ename"], "Interrupted")
        bars = [content["data"]["text/plain"] for kind, content in shown
                if kind in ("display_data", "update_display_data")]
        self.assertEqual([kind for kind, _ in shown].count("display_data"), 1)
        self.assertTrue(all(bar.startswith("rpca [") for bar in bars), bars)
        shown = self.run_cell(
            "found = sys.last_value.result\n"
            "found.info.status, found.info.iterations > 0,"
            " found['low_rank'].shape")
        values = [content["data"]["text/plain"] for kind, content in shown
                  if kind == "execute_result"]
        self.assertEqual(values, ["('cancelled', True, (400, 300))"])


if __name__ == "__main__":
    sys.exit(unittest.main())
