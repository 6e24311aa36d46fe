"""The library's parameter tables, as Python sees them.

Keywords, defaults and their descriptions come from here and nowhere else.
"""
from __future__ import annotations

import ctypes
import keyword
import numbers
import re
import textwrap
from functools import lru_cache
from itertools import count
from typing import List

import numpy as np

from ._arrays import as_float, view
from ._library import BOOL, ENUM, INT, READS, REAL, WORDS, lib

_KINDS = {REAL: "float", INT: "int", BOOL: "bool", WORDS: "str"}


def _text(raw):
    return None if raw is None else raw.decode()


def _all(at, method):
    """What at(method, i) gives until there is no more."""
    for i in count():
        found = at(method, i)
        if not found:
            return
        yield found.contents


class Row:
    """One parameter: `key` in Python, `name` in the table."""

    def __init__(self, raw, matrices):
        self.name = raw.name.decode()
        self.key = self.name.replace("-", "_")
        if keyword.iskeyword(self.key):
            self.key += "_"
        self.type = raw.type
        self.is_matrix = self.name in matrices
        arg = _text(raw.arg) or ""  # "M,M"
        self.is_list = self.type == WORDS and ("," in arg or arg == "MAP")
        self.choices = (_text(raw.choices) or "").split("|")
        self.help = raw.help.decode()
        self.default = None

    def describe(self):
        kind = _KINDS.get(self.type) or "{%s}" % ", ".join(
            repr(word) for word in self.choices)
        if self.is_list:
            kind = "str or list"
        if self.is_matrix:
            words = [repr(word) for word in self.choices if word]
            kind = ", ".join(words + ["array"])
        head = f"{self.key} : {kind}, default={self.default!r}"
        return _entry(head, self.help)

    def parse(self, text):
        """What the library wrote, as a Python value."""
        if self.type == BOOL:
            return text == "true"
        if self.type == WORDS:
            return text or None
        if self.type == ENUM or text == "auto":
            return text
        return int(text) if self.type == INT else float(text)

    def to_text(self, value):
        """A Python value as the library reads it."""
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if self.type == REAL and isinstance(value, numbers.Real):
            return repr(float(value))
        if self.is_list:
            if isinstance(value, (list, tuple)):
                value = ",".join(map(str, value))
            return re.sub(", +", ",", str(value))
        return str(value)


_SIDES = {"n": "n_samples", "d": "n_features", "c": "n_targets",
          "K": "n_classes or n_labels"}


def _entry(head, text):
    return head + "\n" + textwrap.indent(textwrap.fill(text, 74), "    ")


class Table:
    """The parameters of one method, or of predicting with its models."""

    def __init__(self, method):
        raw = method.contents
        self.method = method
        self.name = raw.name.decode()
        self.title = raw.title.decode()
        self.summary = raw.summary.decode()
        self.source = raw.source.decode()
        self.reads = {key for key, bit in READS.items() if raw.reads & bit}
        self.size = raw.settings_size
        matrices = {m.name.decode()
                    for m in _all(lib.method_matrix, method)}
        self.rows = [Row(p, matrices) for p in _all(lib.method_param, method)]
        self._by_key = {row.key: row for row in self.rows}
        defaults = self.read(self.settings())
        for row in self.rows:
            row.default = defaults[row.key]

    @property
    def keys(self):
        return list(self._by_key)

    @property
    def defaults(self):
        return {row.key: row.default for row in self.rows}

    def settings(self):
        """A settings struct with the defaults."""
        buffer = (ctypes.c_double * (self.size // 8 + 1))()
        lib.settings_fill(self.method, buffer, self.size)
        return buffer

    def read(self, settings):
        """Every setting of a struct, as {key: value}."""
        text = ctypes.create_string_buffer(4096)
        found = {}
        for row in self.rows:
            lib.settings_get(None, self.method, settings, row.name.encode(),
                             text, len(text))
            found[row.key] = row.parse(text.value.decode())
        return found

    def fill(self, context, values):
        """A struct with these values, and what must outlive it."""
        settings, kept = self.settings(), []
        for key, value in values.items():
            row = self._by_key.get(key)
            if row is None:
                raise TypeError(f"{self.name}: there is no parameter {key!r}; "
                                f"there are {', '.join(self.keys)}")
            if value is None or value is row.default:
                continue
            kept.append(self._set(context, settings, row, value))
        return settings, kept

    def check_given(self, context, settings, data, values):
        """Refuses members of data, and values, of which no use is made."""
        has = lib.data_has(data)
        used = lib.method_reads(self.method, settings)
        for name, bit in READS.items():
            if has & bit & ~used:
                said = "sample_weight" if name == "weight" else name
                raise ValueError(
                    f"{self.name}: {said} is given, and no use is made of it"
                    + (" with these settings" if name in self.reads else ""))
        self.check_effects(context, settings, has, values)

    def check_effects(self, context, settings, has, values):
        """Refuses values of which no use is made."""
        for key, value in values.items():
            row = self._by_key.get(key)
            if row is None or value is None or value is row.default:
                continue
            context.check(lib.settings_check_effect(
                context, self.method, settings, has, row.name.encode(), None))

    def with_effect(self, context, settings, has, values):
        """Those of the values that say something beside the others, and of
        those that say nothing and are not the usual ones why, in sentences."""
        used, idle = {}, []
        for key, value in values.items():
            row = self._by_key.get(key)
            if row is None or lib.settings_check_effect(
                    context, self.method, settings, has, row.name.encode(),
                    None) >= 0:
                used[key] = value
            elif not (row.is_matrix or value is None or value == row.default):
                idle.append(context.error + "; here it has no effect")
        return used, idle

    def _set(self, context, settings, row, value):
        name = row.name.encode()
        if row.is_matrix and not isinstance(value, str):
            mat, kept = view(as_float(np.asarray(value), row.key))
            context.check(lib.settings_set_matrix(
                context, self.method, settings, name, ctypes.byref(mat)))
            return kept
        text = row.to_text(value).encode()
        context.check(lib.settings_set(context, self.method, settings, name,
                                       text))
        return text

    def _setting(self, item):
        """An item of a result's `when`, as `solver=factored|admm`."""
        name, _, words = item.partition("=")
        row = next((row for row in self.rows if row.name == name), None)
        if row is None:
            return name  # of the data
        if words:
            return f"{row.key}=" + " or ".join(map(repr, words.split("|")))
        return row.key + "=True" * (row.type == BOOL)

    def when_there(self, raw):
        """The settings and data with which there is this result, as words."""
        there = []
        if raw.when:
            there.append("with " + " and ".join(
                f"`{self._setting(item)}`" for item in _text(raw.when).split()))
        if raw.where:
            there.append("where " + _text(raw.where))
        return ", ".join(there)

    def _results(self, names):
        return [row for row in _all(lib.method_result, self.method)
                if row.name.decode() in names]

    def why_missing(self, name):
        """With what there would be this result; "": with nothing."""
        there = [self.when_there(row) for row in self._results([name])]
        return f", which a fit has {there[0]}" if there else ""

    def describe_results(self, names):
        """The part of a docstring that lists these arrays as attributes."""
        said = ""
        for row in self._results(names):
            sides = [_SIDES.get(side, side)
                     for side in _text(row.shape).split(" x ")]
            there = self.when_there(row)
            said += _entry(
                f"{_text(row.name)}_ : ndarray ({', '.join(sides)})",
                (there[:1].upper() + there[1:] + ": " if there else "")
                + _text(row.help) + ".") + "\n"
        return said

    def describe(self, leave_out=()):
        """The section of a docstring that lists the parameters."""
        return "\n".join(row.describe() for row in self.rows
                         if row.key not in leave_out)


@lru_cache(maxsize=None)
def table(name, predict=False):
    """The table of a method by its name."""
    method = lib.method_find(name.encode())
    if not method:
        raise ValueError(f"there is no method {name!r}; there are "
                         + ", ".join(methods()))
    if predict:
        method = lib.predict_method(method)
    return Table(method)


def methods() -> List[str]:
    """Names of all methods.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import lapis
    >>> "mc" in lapis.methods()
    True
    """
    found, i = [], 0
    while lib.method_at(i):
        found.append(lib.method_at(i).contents.name.decode())
        i += 1
    return found
