"""The bar that `verbose` shows: on a terminal, or in a notebook."""
import math
import sys

CELLS = 24
AFTER = 0.5  # seconds: quick solves need no bar


def _in_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _number(value, form):
    return "" if math.isnan(value) else form % value


def line(now):
    """One line about a lapis_progress."""
    full = 0 if math.isnan(now.done) else int(now.done * CELLS)
    cells = "#" * full + "." * (CELLS - full)
    parts = [f"{now.method.decode()} [{cells}] {now.iter}",
             _number(now.objective, "objective %.6g"),
             _number(now.gap, "gap %.1e") or
             _number(now.residual, "residual %.1e"),
             f"rank {now.rank}"]
    if now.done > 0.02:
        parts.append("%.0f s left" % (now.seconds * (1 - now.done)
                                      / now.done))
    return "  ".join(part for part in parts if part)


class Bar:
    """Shows progress in one place that is overwritten and wiped."""

    def __init__(self):
        self._display = self._shown = None
        self._notebook = _in_notebook()

    def show(self, now, _):
        try:
            now = now.contents
            if now.seconds >= AFTER:
                self._put(line(now))
        except Exception:  # a broken screen must not end a solve
            pass
        return True

    def _put(self, text):
        if self._notebook:
            from IPython.display import Pretty, display
            if self._display is None:
                self._display = display(Pretty(text), display_id=True)
            else:
                self._display.update(Pretty(text))
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + text + "\033[K")
            sys.stderr.flush()
            self._shown = True

    def close(self):
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        self._shown = None
