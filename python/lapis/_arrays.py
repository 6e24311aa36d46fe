"""numpy arrays as lapis_mat and back, without copies where none is needed.

A C-ordered float64 array (samples, features) is the library's matrix
(features x samples) byte for byte.  Everything else is converted once, with a
note at level DEBUG of the logger "lapis".
"""
import ctypes
import logging

import numpy as np

from ._library import F32, F64, I64, TEXT, U8, Mat

_log = logging.getLogger("lapis")
_DTYPES = {F64: "<f8", F32: "<f4", I64: "<i8", U8: "|u1"}
_CODES = {np.dtype(text): code for code, text in _DTYPES.items()}


def is_sparse(array):
    return hasattr(array, "tocsr")


def plain(array):
    """pandas' frames and columns, and masked arrays, as plain arrays, in which
    NA or masked is NaN; all else as it is."""
    if isinstance(array, np.ma.MaskedArray):
        return _unmasked(array)
    if isinstance(array, np.ndarray) or not hasattr(array, "isna"):
        return array
    types = list(array.dtypes) if array.ndim == 2 else [array.dtype]
    numbers = all(getattr(kind, "kind", "O") in "iufb" for kind in types)
    if numbers and not all(isinstance(kind, np.dtype) for kind in types):
        if array.ndim == 1 and not array.isna().any():
            return array.to_numpy(types[0].numpy_dtype)
        return array.to_numpy(np.float64, na_value=np.nan)
    out = np.asarray(array)
    return objects(array) if out.dtype == object else out


def _unmasked(array):
    if not np.ma.is_masked(array):
        return array.data
    kind = array.dtype.kind
    return objects(array) if kind not in "fiub" else array.astype(
        array.dtype if kind == "f" else np.float64).filled(np.nan)


def objects(array):
    """A new array of what was given, one by one; NA or masked is NaN."""
    if isinstance(array, np.ma.MaskedArray):
        return array.astype(object).filled(np.nan)
    if not hasattr(array, "isna"):
        return np.array(array, dtype=object)
    out = np.array(array.astype(object), dtype=object)
    out[np.asarray(array.isna())] = np.nan
    return out


def as_float(array, name="X", ndim=2):
    """float64 in C order: the same object where it is that already."""
    given = array
    array = np.require(given, np.float64, ["C", "ALIGNED"])
    if array is not given and isinstance(given, np.ndarray) and not (
            np.may_share_memory(array, given)):
        _log.debug("%s: %s %s was copied to C-ordered float64", name,
                   given.dtype, given.shape)
    if array.ndim > 2 and ndim == 2:
        raise ValueError(f"{name} has shape {array.shape}; it is a table, a "
                         f"row a sample: {name}.reshape(len({name}), -1)")
    if array.ndim < ndim:
        array = array.reshape(-1, 1)
    return array


def address(array):
    try:  # a quarter of the time of what is below
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (BufferError, TypeError, ValueError):  # read-only, empty, not in C
        return array.__array_interface__["data"][0]


def view(array):
    """(lapis_mat, what must outlive it) of a C-ordered array (n, d) or (n,).

    One axis is one row of the library's matrix.
    """
    shape = array.shape if array.ndim == 2 else (array.size, 1)
    mat = Mat(_CODES[array.dtype], shape[1], shape[0], max(shape[1], 1),
              address(array), None, None)
    return mat, array


def sparse_view(matrix):
    """The same of a scipy matrix: compressed rows are compressed columns."""
    csr = matrix.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is matrix else csr
        csr.sum_duplicates()
    val = as_float(csr.data, "X.data", ndim=1)
    start = np.require(csr.indptr, np.int64, ["C"])
    index = np.require(csr.indices, np.int32, ["C"])
    mat = Mat(F64, csr.shape[1], csr.shape[0], csr.shape[1], address(val),
              address(start), address(index))
    return mat, (val, start, index)


def packed_view(value, start, column, shape):
    """The same of compressed rows given as arrays."""
    val = as_float(value, "X", ndim=1)
    start = np.require(start, np.int64, ["C"])
    column = np.require(column, np.int32, ["C"])
    mat = Mat(F64, shape[1], shape[0], shape[1], address(val),
              address(start), address(column))
    return mat, (val, start, column)


def text_row(words):
    """A TEXT row of these words, and what must outlive it."""
    kept = [str(word).encode() for word in words]
    pointers = (ctypes.c_char_p * max(len(kept), 1))(*kept)
    mat = Mat(TEXT, 1, len(kept), 1, ctypes.addressof(pointers), None, None)
    return mat, (pointers, kept)


def _stored(address, count, dtype):
    """A copy of count numbers of the library's memory."""
    bytes_ = ctypes.string_at(address, count * np.dtype(dtype).itemsize)
    return np.frombuffer(bytes_, dtype)


def sparse_of(mat):
    """A scipy matrix (cols, rows) of compressed columns; a copy."""
    from scipy.sparse import csr_matrix
    start = _stored(mat.colptr, mat.cols + 1, "<i8")
    count = int(start[-1])
    return csr_matrix((_stored(mat.val, count, "<f8"),
                       _stored(mat.rowidx, count, "<i4"), start),
                      shape=(mat.cols, mat.rows))


class _Memory:
    """Memory of the library, for numpy; keeps its owner alive."""

    def __init__(self, mat, owner):
        dtype = np.dtype(_DTYPES[mat.dtype])
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "typestr": _DTYPES[mat.dtype],
            "shape": (mat.cols, mat.rows), "data": (mat.val, False),
            "strides": (mat.ld * dtype.itemsize, dtype.itemsize)}


def array_of(mat, owner):
    """An array (cols, rows) over a lapis_mat; owner lives as long as it.  A row
    of texts is (cols,)."""
    if mat.dtype == TEXT:
        texts = ctypes.cast(mat.val, ctypes.POINTER(ctypes.c_char_p))
        all_ = np.array([[texts[j * mat.ld + i].decode(errors="replace")
                          for i in range(mat.rows)] for j in range(mat.cols)],
                        str).reshape(mat.cols, mat.rows)
        return all_[:, 0] if mat.rows == 1 else all_
    if mat.colptr:
        return sparse_of(mat)
    if mat.rows == 0 or mat.cols == 0 or not mat.val:
        return np.empty((mat.cols, mat.rows), _DTYPES[mat.dtype])
    return np.asarray(_Memory(mat, owner))
