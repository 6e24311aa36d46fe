"""check_npy.py LIBLAPIS.so: numpy and the library read each other's files.

Writes every type x byte order x memory order x header version with numpy,
reads it through the library and compares; then the other way round.  Needs
numpy.  Exit status 0 and a count if all agree.
"""
import ctypes as c
import io
import itertools
import os
import sys
import tempfile
import zipfile

import numpy as np

DTYPES = {0: np.float64, 1: np.float32, 2: np.int64, 3: np.uint8}


class Mat(c.Structure):
    _fields_ = [("dtype", c.c_int), ("rows", c.c_int64), ("cols", c.c_int64),
                ("ld", c.c_int64), ("val", c.c_void_p),
                ("colptr", c.c_void_p), ("rowidx", c.c_void_p)]


class Array(c.Structure):
    _fields_ = [("name", c.c_char_p), ("mat", Mat), ("axes", c.c_int),
                ("shape", c.c_int64 * 8), ("stored", c.c_char * 16),
                ("memory", c.c_void_p), ("bytes", c.c_size_t),
                ("kind", c.c_int)]


class Arrays(c.Structure):
    _fields_ = [("count", c.c_int), ("item", c.POINTER(Array))]


class Named(c.Structure):
    _fields_ = [("name", c.c_char_p), ("mat", Mat), ("flat", c.c_bool),
                ("axes", c.c_int), ("shape", c.c_int64 * 8)]


def load(path):
    lib = c.CDLL(path)
    lib.lapis_ctx_new.restype = c.c_void_p
    lib.lapis_ctx_error.restype = c.c_char_p
    lib.lapis_ctx_error.argtypes = [c.c_void_p]
    lib.lapis_arrays_read.argtypes = [c.c_void_p, c.c_char_p,
                                      c.POINTER(Arrays)]
    lib.lapis_arrays_write.argtypes = [c.c_void_p, c.c_char_p, c.c_char_p,
                                       c.POINTER(Named), c.c_int]
    return lib, lib.lapis_ctx_new()


def values(a):
    """The array's contents as numpy, in the shape it was stored with."""
    shape = tuple(a.shape[:a.axes])
    count = a.mat.rows * a.mat.cols
    if a.mat.dtype == 4:
        text = c.cast(a.mat.val, c.POINTER(c.c_char_p))
        items = [text[i].decode() for i in range(count)]
        return np.array(items, dtype=object).reshape(shape)
    if count == 0:
        return np.zeros(shape, DTYPES[a.mat.dtype])
    kind = np.ctypeslib.as_ctypes_type(DTYPES[a.mat.dtype])
    return np.ctypeslib.as_array(c.cast(a.mat.val, c.POINTER(kind)),
                                 (count,)).reshape(shape).copy()


def read(lib, ctx, path):
    all_ = Arrays()
    if lib.lapis_arrays_read(ctx, path.encode(), c.byref(all_)) != 0:
        raise RuntimeError(lib.lapis_ctx_error(ctx).decode())
    out = {}
    for i in range(all_.count):
        a = all_.item[i]
        out[a.name.decode()] = (values(a), a.stored.decode())
    lib.lapis_arrays_free(c.byref(all_))
    return out


def expected(a):
    if a.dtype.kind == "U":
        return a.astype(object)
    if a.dtype.kind == "S":
        items = [s.decode() for s in a.ravel()]
        return np.array(items, dtype=object).reshape(a.shape)
    if a.dtype.kind == "f":
        return a.astype(np.float64 if a.dtype.itemsize == 8 else np.float32)
    return a.astype(np.uint8 if a.dtype.str[1:] in ("u1", "b1") else np.int64)


def same(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype == object:
        return bool(np.all(a == b))
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def random_array(rng, code, shape):
    if code[0] == "f":
        a = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 4, shape))
        a = np.array(a).astype(code)
        if a.size > 3:
            a.flat[0], a.flat[1], a.flat[2] = np.nan, np.inf, 0.0
        return a
    if code == "b1":
        return np.array(rng.integers(0, 2, shape)).astype(bool)
    if code[0] in "US":
        pool = ["", "a", "Zeile", "déjà", "日本", "𝔘"] if code[0] == "U" else \
            ["", "a", "abc", "abcdefg"]
        return np.array(rng.choice(pool, shape)).astype(code)
    info = np.iinfo(code)
    high = min(info.max, 2 ** 63 - 1)
    return np.array(rng.integers(info.min, high, shape, dtype=np.int64 if
                    code != "u8" else np.uint64, endpoint=True)).astype(code)


CODES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8",
         "b1", "U5", "S9"]
SHAPES = [(), (1,), (7,), (4, 3), (1, 5), (5, 1), (3, 0), (0, 3), (2, 3, 4),
          (3, 1, 2, 2), (300, 41)]


def check_reading(lib, ctx, folder, rng):
    done = 0
    path = os.path.join(folder, "a.npy")
    for code, order, memory, version, shape in itertools.product(
            CODES, "<>", "CF", [(1, 0), (2, 0), (3, 0)], SHAPES):
        a = random_array(rng, code, shape)
        a = np.asarray(a.astype(a.dtype.newbyteorder(order)), order=memory)
        with open(path, "wb") as f:
            np.lib.format.write_array(f, a, version=version)
        got, stored = read(lib, ctx, path)["a"]
        assert stored == a.dtype.str, (stored, a.dtype.str)
        assert same(got, expected(a)), (code, order, memory, version, shape)
        done += 1
    return done


def check_archives(lib, ctx, folder, rng):
    path = os.path.join(folder, "b.npz")
    members = {f"m_{code}": random_array(rng, code, (9, 4)) for code in CODES}
    for save in (np.savez, np.savez_compressed):
        save(path, **members)
        got = read(lib, ctx, path)
        assert list(got) == list(members)
        for name, a in members.items():
            assert same(got[name][0], expected(a)), name
    buffer = io.BytesIO()
    np.save(buffer, members["m_f8"])
    with zipfile.ZipFile(path, "w") as z:
        with z.open("x.npy", "w", force_zip64=True) as f:
            f.write(buffer.getvalue())
        z.writestr("notes.txt", "not an array")
    assert same(read(lib, ctx, path)["x"][0], members["m_f8"])
    return 2 * len(members) + 1


def named(name, a, keep):
    """A Named view of a C-ordered numpy array."""
    n = Named()
    n.name = name.encode()
    n.axes = a.ndim
    n.shape[:a.ndim] = a.shape
    if a.dtype == object:
        flat = [s.encode() for s in a.ravel()]
        keep.append((c.c_char_p * max(len(flat), 1))(*flat))
        n.mat.val, n.mat.dtype = c.cast(keep[-1], c.c_void_p), 4
    else:
        keep.append(a)
        n.mat.val = a.ctypes.data
        n.mat.dtype = [k for k, t in DTYPES.items() if t == a.dtype.type][0]
    n.mat.cols = a.shape[0]
    n.mat.rows = a.size // a.shape[0] if a.shape[0] else 1
    n.mat.ld = max(n.mat.rows, 1)
    return n


def check_writing(lib, ctx, folder, rng):
    keep, wanted = [], {}
    for shape in [(6,), (5, 3), (2, 3, 4), (3, 0)]:
        for code in ["f8", "f4", "i8", "u1", "U5"]:
            wanted[f"{code}_{len(wanted)}"] = expected(
                random_array(rng, code, shape))
    path = os.path.join(folder, "c.npz")
    items = (Named * len(wanted))(*[named(k, a, keep)
                                    for k, a in wanted.items()])
    assert lib.lapis_arrays_write(ctx, path.encode(), b"npz", items,
                                  len(wanted)) == 0
    assert zipfile.ZipFile(path).testzip() is None
    with np.load(path) as z:
        assert z.files == list(wanted)
        for name, a in wanted.items():
            b = z[name].astype(object) if a.dtype == object else z[name]
            assert same(b, a), name
    for item in items:
        one = os.path.join(folder, "d.npy")
        assert lib.lapis_arrays_write(ctx, one.encode(), b"npy",
                                      c.byref(item), 1) == 0
        a = wanted[item.name.decode()]
        b = np.load(one, mmap_mode="r")
        assert same(np.array(b.astype(a.dtype)), a)
    return 2 * len(wanted)


def main():
    lib, ctx = load(sys.argv[1])
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        done = check_reading(lib, ctx, folder, rng)
        done += check_archives(lib, ctx, folder, rng)
        done += check_writing(lib, ctx, folder, rng)
    print(f"{done} arrays agree")


if __name__ == "__main__":
    main()
