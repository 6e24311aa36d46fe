"""Samples that are divided among processes: `set_comm`."""
import os

import numpy as np

from ._library import Comm, lib, on_reduce

AT_ONCE = 1 << 20  # MPI counts in 32 bits
_current = None


class _Spread:
    """The processes of an mpi4py communicator."""

    def __init__(self, comm):
        from mpi4py import MPI
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            raise RuntimeError(
                "set_comm: MPI was started for calls from one thread alone, "
                "and LAPIS solves in another; leave "
                "mpi4py.rc.thread_level at its default")
        self._comm, self._in_place = comm, MPI.IN_PLACE
        self._double, self.error = MPI.DOUBLE, None
        self.size = comm.Get_size()
        self._calls = [on_reduce(self._reducer(op))
                       for op in (MPI.SUM, MPI.MAX)]
        self._struct = Comm(rank=comm.Get_rank(), size=self.size,
                            sum=self._calls[0], max=self._calls[1])
        near = comm.Split_type(MPI.COMM_TYPE_SHARED)
        cores = min(len(os.sched_getaffinity(0)),
                    os.cpu_count() // near.Get_size())
        near.Free()
        self.threads = max(1, comm.allreduce(cores, op=MPI.MIN))

    def _reducer(self, op):
        def reduce(_, x, n):
            try:
                for first in range(0, n, AT_ONCE):
                    part = np.ctypeslib.as_array(x, (n,))[first:first + AT_ONCE]
                    self._comm.Allreduce(self._in_place,
                                         [part, self._double], op=op)
                return 0
            except Exception as error:  # passes no C: the library fails
                self.error = error
                return 1
        return reduce

    def join(self, context):
        lib.ctx_set_comm(context, self._struct)
        context.spread = self  # the calls live as long as it does


def set_comm(comm):
    """Divide the samples of `lapis.solve` among the processes of `comm`.

    `comm` is mpi4py's ``MPI.COMM_WORLD``, or a communicator made from it; None
    goes back to one process.  From then on every process gives its own samples
    to the same calls of `solve`, with the same settings, and gets their part of
    the answer; a `Result` 's ``model()`` is called by all, and is that of the
    whole.  Estimators learn in one process and refuse to fit while it is set;
    predicting is every process's own.
    """
    global _current
    spread = None if comm is None else _Spread(comm)
    _current = spread if spread is not None and spread.size > 1 else None


def current():
    return _current


def refuse_several(what):
    if _current is not None:
        raise ValueError(
            f"{what}: set_comm divides samples among {_current.size} "
            "processes, and this runs in one; lapis.solve divides them, or "
            "set_comm(None) goes back")
