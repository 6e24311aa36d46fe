"""Contexts, solves and models: the library's nouns as Python objects.

A solve runs in a thread of its own while the main thread waits, so that a
signal is handled at once: Ctrl-C cancels the solve and what it has found
travels with the exception.  ctypes releases the GIL around every call.
"""
from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import exceptions as failures
from ._arrays import (array_of, as_float, is_sparse, packed_view, plain,
                      sparse_view, text_row, view)
from ._library import (READS, Data, Mat, lib, on_message,
                       on_progress)
from ._progress import Bar
from ._settings import Table, table
from ._spread import current as current_spread, refuse_several
from ._words import in_python

PATIENCE = 0.5  # seconds that Ctrl-C waits for a solve to end by itself


def warn(text, category):
    """A warning that points at the first line outside this package."""
    level, frame = 1, sys._getframe()
    package = __name__.partition(".")[0]
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in (
            package, "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


class Note(NamedTuple):
    """What a method remarked of its data or its answer."""

    level: str  # "note" or "warning"
    name: str   # stays as it is: "never-predicted"
    text: str


class _Talk:
    """What the library says during a call; knows nothing of its context."""

    def __init__(self, verbose):
        self.warnings, self.verbose = [], verbose

    def hear(self, level, text, _):
        text = text.decode(errors="replace")
        if level == 0:
            self.warnings.append(text)
        elif level > 0 or self.verbose > 1:
            print("lapis: " + in_python(text), file=sys.stderr)


class Context:
    """Seed, threads and talk of one piece of work."""

    spread = None  # the processes that samples are divided among
    unsaid = frozenset()  # names of notes that are kept without a warning

    def __init__(self, seed=0, threads=0, verbose=0, deterministic=False):
        self._as_parameter_ = handle = lib.ctx_new()
        if not handle:
            raise MemoryError("lapis: no memory for a context")
        lib.ctx_set(self, b"spelling", b"options")  # _words.py says the rest
        self.talk = _Talk(int(verbose))
        self._hear = on_message(self.talk.hear)
        lib.ctx_on_message(self, self._hear, None)
        if verbose:
            self.bar = Bar()
            self._show = on_progress(self.bar.show)
            lib.ctx_on_progress(self, self._show, None)
        for key, value in (("seed", seed), ("threads", threads),
                           ("verbose", max(0, int(verbose) - 1)),
                           ("deterministic", int(bool(deterministic)))):
            self.check(lib.ctx_set(self, key.encode(), str(value).encode()))

    def __del__(self, free=lib.ctx_free):
        if getattr(self, "_as_parameter_", None):
            free(self._as_parameter_)

    @property
    def error(self):
        return in_python(lib.ctx_error(self).decode(errors="replace"))

    def check(self, status):
        """A failure as an exception with the library's sentence."""
        if status < 0:
            kind = failures.OF_STATUS.get(status, RuntimeError)
            raise kind(self.error) from getattr(self.spread, "error", None)
        return status

    def cancel(self):
        lib.ctx_cancel(self)

    def end(self, solver=None):
        """Work is over: wipe the bar, pass the warnings on."""
        if hasattr(self, "bar"):
            self.bar.close()
        said, self.talk.warnings[:] = self.talk.warnings[:], []
        names = {text: name for _, name, text in _notes(solver)}
        for text in said:
            category = failures.LapisWarning
            if text in names:
                category = category.named(names[text])
            if names.get(text) not in self.unsaid:
                warn(in_python(text), category)


class _Job:
    """A call of the library that may take long."""

    def __init__(self, context, work):
        self._context, self._work = context, work
        self._over = threading.Event()
        self._value = self._error = None

    def _run(self):
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error
        finally:
            self._work = None
            self._over.set()

    def wait(self):
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=self._run, daemon=True).start()
            self._wait_for_signals()
        else:
            self._run()  # signals go to the main thread only
        self._context.end(self._value)
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None
        return self._value

    def _wait_for_signals(self):
        try:
            self._over.wait()
        except BaseException as signal:
            self._context.cancel()
            self._over.wait(PATIENCE)
            self._context.end()
            if type(signal) is KeyboardInterrupt:
                raise failures.Interrupted(self) from None
            raise

    def partial(self):
        """What a cancelled solve left, waiting for its last step."""
        self._over.wait()
        solver = self._value
        return Result(solver) if isinstance(solver, Solver) else None


def run(context, work):
    """work() where Ctrl-C can end it: what it returns, or raises."""
    return _Job(context, work).wait()


_own = threading.local()


def own_context():
    """The context that this thread of Python keeps for small things."""
    if not hasattr(_own, "context"):
        _own.context = Context(threads=1)
    return _own.context


def at_once(work):
    """work(context) here and now, by one thread: for what is over before
    Ctrl-C could matter."""
    context = own_context()
    try:
        return work(context)
    finally:
        context.end()


# ---- data ------------------------------------------------------------------
class Inputs:
    """lapis_data over arrays that it keeps alive."""

    def __init__(self, X=None, Y=None, P=None, group=None, weight=None,
                 xy=None, words=None, feature_names=None):
        self.data, self._kept = Data(), []
        for name, value in (("X", X), ("Y", Y), ("P", P), ("xy", xy)):
            if value is not None:
                setattr(self.data, name, self._matrix(name, value))
        if words is not None:
            self.data.words, kept = text_row(words)
            self._kept.append(kept)
        if feature_names is not None:
            self.data.feature_names, kept = text_row(feature_names)
            self._kept.append(kept)
        if group is not None:
            self.data.group = self._vector("group", group, np.int64)
        if weight is not None:
            self.data.weight = self._vector("weight", weight, np.float64)

    def _matrix(self, name, value):
        if is_sparse(value):
            mat, kept = sparse_view(value)
        else:
            mat, kept = view(as_float(plain(value), name))
        self._kept.append(kept)
        return mat

    def _vector(self, name, value, dtype):
        array = np.require(value, dtype, ["C"]).reshape(-1)
        if array.size != self.data.X.cols:
            raise ValueError(f"{name} has {array.size} entries, X has "
                             f"{self.data.X.cols} samples")
        self._kept.append(array)
        return array.__array_interface__["data"][0]


# ---- solvers and results -----------------------------------------------------
class Solver:
    """A solve that has been done; everything it borrows lives as long."""

    def __init__(self, context, create, table, *kept):
        handle = ctypes.c_void_p()
        self.context, self.table, self._kept = context, table, kept
        self._as_parameter_ = None
        context.check(create(ctypes.byref(handle)))
        self._as_parameter_ = handle.value
        self.status = context.check(lib.solve(self))

    def __del__(self, free=lib.solver_free):
        if getattr(self, "_as_parameter_", None):
            free(self._as_parameter_)


def _notes(solver):
    """What a solver remarked, as the library says it."""
    if not isinstance(solver, Solver) or not solver._as_parameter_:
        return []
    mat = Mat()
    lib.result_get(solver, b"notes", mat)
    return [Note(*map(str, row)) for row in array_of(mat, solver)]


class Info:
    """Numbers about a solve: iterations, objective, gap, seconds, ..."""

    def __init__(self, solver):
        raw = lib.result_info(solver).contents
        for name, _ in raw._fields_:
            setattr(self, name, getattr(raw, name))
        self.status = lib.status_name(raw.status).decode()
        self.threads = lib.ctx_threads(solver.context)
        self.backend = lib.ctx_backend(solver.context).decode()
        self.kernels = lib.ctx_kernels(solver.context).decode()

    def __repr__(self):
        return "Info(%s)" % ", ".join(
            f"{key}={value!r}" for key, value in vars(self).items())


class Result(Mapping):
    """The arrays a solve has found, by name, and `info`, `settings` and
    `notes`, what the method remarked: a list of (level, name, text).

    The arrays are the library's own memory, which lives as long as any of
    them; they have the names and shapes of the command's result files.  A
    pickled one holds copies of them.
    """

    def __init__(self, solver):
        self._solver, self._kept = solver, None
        self._method = solver.table.name
        self.info = Info(solver)
        self.settings = solver.table.read(lib.result_settings(solver))
        self.notes = [note._replace(text=in_python(note.text))
                      for note in _notes(solver)]

    def _mat(self, name):
        mat = Mat()
        if lib.result_get(self._solver, name.encode(), mat) < 0:
            raise KeyError(self._solver.context.error)
        return mat

    def __getitem__(self, name: str) -> np.ndarray:
        if self._kept is not None:
            return self._kept[name]
        mat = self._mat(name)
        array = array_of(mat, self._solver)
        if name == "labels" and mat.rows == 1:
            return array[:, 0]
        if name in ("low_rank", "sparse") and "match" in self:
            slots = self._mat("match").rows
            return array.reshape(mat.cols, slots, mat.rows // slots)
        if name == "transform":
            return array.reshape(mat.cols, 2, 3)
        return array

    def __iter__(self):
        if self._kept is not None:
            yield from self._kept
            return
        i = 0
        while (name := lib.result_name(self._solver, i)) is not None:
            if name != b"notes":  # .notes
                yield name.decode()
            i += 1

    def __contains__(self, name):
        return name in list(self)

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        arrays = ", ".join(f"{name}: {self[name].shape}" for name in self)
        return f"<{self._method}, {self.info.status}: {arrays}>"

    def __getstate__(self):
        return {**vars(self), "_solver": None,
                "_kept": {name: self[name].copy() for name in self}}

    def model(self) -> Model:
        """What was learnt, standing alone."""
        if self._solver is None:
            raise ValueError("this Result was pickled, and its solver is "
                             "gone; take model() first, which pickles, too")
        handle = ctypes.c_void_p()
        self._solver.context.check(
            lib.model_new(self._solver, ctypes.byref(handle)))
        return Model(handle.value)


def _finish(context, work):
    return Result(run(context, work))


def solve(method: str, X: ArrayLike, Y: Optional[ArrayLike] = None,
          P: Optional[ArrayLike] = None, group: Optional[ArrayLike] = None,
          sample_weight: Optional[ArrayLike] = None,
          xy: Optional[ArrayLike] = None, *,
          context: Optional[Context] = None,
          words: Optional[Sequence[str]] = None, **settings: object) -> Result:
    """Solve a method on data, as ``lapis fit METHOD`` does.

    Parameters
    ----------
    method : str
        "mc", "rr", "svmplus", ...: one of ``lapis.methods()``.
    X : array (n_samples, n_features)
    Y, P, group, sample_weight, xy : arrays, optional
        The other members of the command's data files, a row a sample
        (`sample_weight` is `weight` there).
    words : sequence of str, optional
        What the values 0, 1, ... of Y are called, in what is said of them.
    **settings
        Those of ``lapis fit METHOD --help`` with underscores, and arrays in
        place of files.

    Returns
    -------
    Result
        The arrays that ``lapis info METHOD`` lists, by name.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.outer(np.arange(1.0, 9), np.ones(8))
    >>> X[2, 3] += 20
    >>> result = lapis.solve("rpca", X)
    >>> sorted(result)
    ['history', 'history_columns', 'low_rank', 'sparse']
    >>> result.info.status
    'solved'
    """
    return solve_given(method, X, Y, P, group, sample_weight, xy,
                       context=context, words=words, **settings)


def solve_given(method, X, Y=None, P=None, group=None, sample_weight=None,
                xy=None, *, context=None, words=None, feature_names=None,
                strict=True, **settings):
    """solve; not strict: settings that say nothing beside the others are left
    out, as estimators have all of them."""
    if context is None:
        spread = current_spread()
        context = Context(threads=spread.threads if spread else 0)
        if spread:
            spread.join(context)
    else:
        refuse_several("fit")
    rows = table(method)
    inputs = Inputs(X, Y, P, group, sample_weight, xy, words=words,
                    feature_names=feature_names)
    struct, kept = rows.fill(context, settings)
    if not strict:
        settings, idle = rows.with_effect(
            context, struct, lib.data_has(inputs.data), settings)
        for why in idle:
            warn(why, failures.LapisWarning)
        struct, kept = rows.fill(context, settings)
    rows.check_given(context, struct, inputs.data, settings if strict else {})

    def work():
        if not lib.method_reads(rows.method, struct) & READS["group"]:
            inputs.data.group = None
        return Solver(context, lambda out: lib.solver_new(
            context, rows.method, inputs.data, struct, out),
            rows, inputs, struct, kept)
    return _finish(context, work)


class Warm:
    """Solves of one problem for one setting after another, each warm from the
    one before.  X is an array, or (values, starts, columns, shape) of
    compressed rows.

    The arrays of a result are overwritten by the next solve.
    """

    def __init__(self, method, X, context, **settings):
        refuse_several("fit")
        self._context, self._rows = context, table(method)
        self._inputs = Inputs()
        self._inputs.data.X, kept = (
            packed_view(*X) if isinstance(X, tuple) else view(X))
        self._inputs._kept.append(kept)
        self._settings, self._solver = settings, None

    def solve(self, **settings):
        rows, context = self._rows, self._context
        struct, kept = rows.fill(context, {**self._settings, **settings})

        def work():
            if self._solver is None:
                self._solver = Solver(context, lambda out: lib.solver_new(
                    context, rows.method, self._inputs.data, struct, out),
                    rows, self._inputs, struct, kept)
            else:
                context.check(lib.solver_retune(self._solver, struct))
                self._solver.status = context.check(lib.solve(self._solver))
            return self._solver
        return _finish(context, work)


# ---- models ------------------------------------------------------------------
class Model:
    """What a method has learnt; pickled as the bytes of its file."""

    def __init__(self, handle):
        self._as_parameter_ = handle

    def __del__(self, free=lib.model_free):
        if getattr(self, "_as_parameter_", None):
            free(self._as_parameter_)

    @classmethod
    def load(cls, path):
        context, handle = Context(), ctypes.c_void_p()
        context.check(lib.model_load(context, os.fsencode(path),
                                     ctypes.byref(handle)))
        context.end()
        return cls(handle.value)

    def save(self, path):
        context = Context()
        context.check(lib.model_save(context, self, os.fsencode(path)))

    def to_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.lapis")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    @classmethod
    def from_bytes(cls, content):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.lapis")
            with open(path, "wb") as file:
                file.write(content)
            return cls.load(path)

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    @property
    def method(self):
        return lib.model_method(self).contents.name.decode()

    @property
    def n_features(self):
        return lib.model_features(self)

    @property
    def settings(self):
        return table(self.method).read(lib.model_settings(self))

    def get(self, name):
        """A learnt array or text, or None."""
        mat = Mat()
        if lib.model_get(None, self, name.encode(), mat) < 0:
            return None
        return array_of(mat, self)

    def set_text(self, name, words):
        mat, _kept = text_row(words)
        context = Context()
        context.check(lib.model_set_text(context, self, name.encode(), mat))

    def covering(self, coverage, by_class):
        """The model that answers with sets of this coverage; None: its own."""
        if coverage is None and by_class is None:
            return self
        own = self.get("coverage")
        if coverage is None:
            coverage = 0 if own is None else own.flat[0]
        if by_class is None:
            by_class = bool(own is not None and own.flat[1] > 0)
        other, context = Model.from_bytes(self.to_bytes()), Context()
        context.check(lib.model_set_coverage(context, other, coverage,
                                             by_class))
        return other

    def predict(self, X, *, group=None, context=None, **settings):
        """Answers for new samples: a `Result`."""
        context = context or Context()
        rows = Table(lib.predict_method(lib.model_method(self)))
        inputs = Inputs(X=X, group=group)
        struct, kept = rows.fill(context, settings)

        def work():
            return Solver(context, lambda out: lib.predict_new(
                context, inputs.data, self, struct, out),
                rows, inputs, struct, kept, self)
        return _finish(context, work)
