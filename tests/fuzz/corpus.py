#!/usr/bin/python3
"""corpus.py LAPIS FOLDER: small files that each reader takes, to start from."""
import io
import pathlib
import struct
import subprocess
import sys
import zipfile

import numpy as np

lapis = str(pathlib.Path(sys.argv[1]).resolve())
folder = pathlib.Path(sys.argv[2])
random = np.random.default_rng(0)
X = random.normal(size=(12, 3)).round(2)
Y = (X[:, 0] > 0) * 1.0


def put(reader, name, data):
    (folder / reader).mkdir(parents=True, exist_ok=True)
    (folder / reader / name).write_bytes(data)


def members(path):
    """The members of a zip, as tests/fuzz/fuzz.c puts them together again."""
    out = b""
    with zipfile.ZipFile(path) as z:
        for name in z.namelist():
            data = z.read(name)
            out += bytes([len(name)]) + name.encode()
            out += struct.pack("<I", len(data)) + data
    return out


def npy(array, **how):
    f = io.BytesIO()
    np.lib.format.write_array(f, np.asanyarray(array), **how)
    return f.getvalue()


for code in "<f8 >f8 <f4 <f2 <i8 >i4 <i2 |i1 |u1 <u8 |b1".split():
    put("npy", code.strip("<>|") + str(ord(code[0])), npy(X.astype(code)))
put("npy", "fortran", npy(np.asfortranarray(X)))
put("npy", "empty", npy(np.zeros((0, 3))))
put("npy", "cube", npy(np.zeros((2, 3, 2))))
put("npy", "text", npy(np.array(["a", "bc", ""])))
put("npy", "bytes", npy(np.array([b"a", b"bc"])))
for version in (1, 0), (2, 0), (3, 0):
    put("npy", f"v{version[0]}", npy(X, version=version))

work = folder / "work"
work.mkdir(parents=True, exist_ok=True)
P = random.normal(size=(12, 2))
np.savez(work / "all.npz", X=X, Y=Y, P=P, group=np.arange(12) // 3,
         weight=np.ones(12), names=np.array(list("abcdefghijkl")),
         feature_names=np.array(["u", "v", "w"]), real=X @ [1.0, 2.0, 3.0])
np.savez(work / "text.npz", X=X.astype("f4"), Y=np.where(Y > 0, "yes", "no"))
np.savez_compressed(work / "packed.npz", X=X, Y=Y)
for path in work.glob("*.npz"):
    put("zip", path.name, path.read_bytes())
    put("npz", path.name, members(path))


def run(*words):
    subprocess.run([lapis, *map(str, words)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


np.savez(work / "real.npz", X=X, Y=X @ [1.0, 2.0, 3.0])
for method, data, *rest in (
    ("mc", "text", "--mu-rel", ".1"), ("mc", "all", "--mu-rel", ".1", "--map", "standard"),
    ("rpca", "all"), ("rr", "real"), ("rlda", "all"), ("svmplus", "all"),
    ("svmplus", "all", "--kernel", "rbf"), ("misvm", "all", "--map", "chi2,l2"),
):
    model = work / f"{method}{len(rest)}.lapis"
    # misvm: a label a bag
    bags = work / "bags.npz"
    np.savez(bags, X=np.abs(X), Y=(np.arange(12) // 3 % 2) * 1.0, P=P,
             group=np.arange(12) // 3)
    source = bags if method == "misvm" else work / f"{data}.npz"
    run("fit", method, source, "--model", model, *rest)
    put("model", model.name, members(model))

# the numbers of read_checkpoint in fuzz.c
small = np.array([1, 2, 3, 4, 0, -1, 2, .5, .25, 1, 1, 1]).reshape(4, 3)
np.savez(work / "small.npz", X=small)
(work / "ck").unlink(missing_ok=True)  # of a run before, maybe another build
run("fit", "rpca", work / "small.npz", "--max-iters", "5", "--checkpoint", work / "ck")
put("checkpoint", "rpca", members(work / "ck"))

put("arff", "all", b"@relation r\n@attribute a real\n@attribute 'b c' "
    b"{x,'y z'}\n@attribute y integer\n@data\n1.5,x,0\n?,'y z',1\n{0 2,2 1}\n")
for suffix in "svm", "mat":
    for name in "all", "text":
        path = work / f"{name}.{suffix}"
        run("convert", work / f"{name}.npz", path)
        put(suffix, name, path.read_bytes())

csv = "id;class;a;b\nx1;yes;1,5;2\nx2;no;;-3e2\nx3;yes;nan;0\n"
put("csv", "semicolons", csv.encode())
put("csv", "quotes", b'"id","class","a ""b"""\r\n"x, 1",1,2\r\n"y",0,"3"\r\n')
put("csv", "plain", b"1,2,3\n4,5,6\n7,,9\n")
put("csv", "bom", b"\xef\xbb\xbfname,class,f\nkim,no,1.58\n")
put("tsv", "tabs", b"id\tclass\ta\nx\t1\t2.5\ny\t0\tNA\n")
put("json", "settings", b'{"lambda": "0.1", "tol": 1e-4, "b": true, "n": null}')
put("json", "nested", b'[1, {"a": [2, -3.5e-7, "\\u00e9\\n"]}]')

images = work / "images"
images.mkdir(exist_ok=True)
subprocess.run(["/usr/bin/python3", pathlib.Path(__file__).parent.parent /
                "checks" / "write_images.py", images], check=True)
for reader, suffixes in ("png", (".png", ".bad")), ("jpeg", (".jpg",)):
    for path in images.iterdir():
        if path.suffix in suffixes:
            put(reader, path.name, path.read_bytes())
for kind, body in enumerate((b"10 01", b"3 2 1 0", b"3 2 1 " * 4, b"\x80\x40",
                             b"\0\1\2\3", b"\0\1\2" * 4), 1):
    most = b"" if kind in (1, 4) else b"3\n"
    put("pnm", f"p{kind}", b"P%d\n# c\n2 2\n" % kind + most + body)
put("pnm", "deep", b"P5 2 1 65535\n\0\1\xff\xff")
