"""The shared library: where it is, and what of it is used.

The structs below mirror include/lapis/*.h; python/tests/test_library.py
compiles a C program that prints their sizes and offsets and compares.
Settings are mirrored nowhere: they are set by name.
"""
import ctypes
import ctypes.util
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p,
                    c_double, c_int, c_int64, c_size_t, c_uint, c_void_p)
from pathlib import Path

SONAME = "liblapis.so.0"


# ---- structs ---------------------------------------------------------------
class Mat(Structure):
    _fields_ = [("dtype", c_int), ("rows", c_int64), ("cols", c_int64),
                ("ld", c_int64), ("val", c_void_p), ("colptr", c_void_p),
                ("rowidx", c_void_p)]


class Array(Structure):
    _fields_ = [("name", c_char_p), ("mat", Mat), ("axes", c_int),
                ("shape", c_int64 * 8), ("stored", c_char * 16),
                ("memory", c_void_p), ("bytes", c_size_t), ("kind", c_int)]


class Data(Structure):
    _fields_ = [("size", c_size_t), ("X", Mat), ("Y", Mat), ("P", Mat),
                ("xy", Mat), ("group", c_void_p), ("weight", c_void_p),
                ("words", Mat), ("stored", c_double),
                ("feature_names", Mat)]


on_reduce = CFUNCTYPE(c_int, c_void_p, POINTER(c_double), c_int64)


class Comm(Structure):
    _fields_ = [("rank", c_int), ("size", c_int), ("self", c_void_p),
                ("sum", on_reduce), ("max", on_reduce), ("gather", c_void_p)]


class Progress(Structure):
    _fields_ = [("size", c_size_t), ("method", c_char_p), ("iter", c_int64),
                ("rank", c_int64), ("objective", c_double), ("gap", c_double),
                ("residual", c_double), ("seconds", c_double),
                ("done", c_double)]


class Param(Structure):
    _fields_ = [("name", c_char_p), ("symbol", c_char_p), ("type", c_int),
                ("offset", c_size_t), ("value", c_double), ("low", c_double),
                ("high", c_double), ("above", c_bool), ("choices", c_char_p),
                ("arg", c_char_p), ("help", c_char_p), ("goes_with", c_char_p)]


class MatrixSetting(Structure):
    _fields_ = [("name", c_char_p), ("member", c_char_p),
                ("offset", c_size_t)]


class ResultRow(Structure):
    _fields_ = [("name", c_char_p), ("shape", c_char_p), ("type", c_int),
                ("when", c_char_p), ("where", c_char_p), ("help", c_char_p)]


class Method(Structure):
    _fields_ = [("name", c_char_p), ("title", c_char_p),
                ("summary", c_char_p), ("source", c_char_p),
                ("reads", c_uint), ("params", POINTER(Param)),
                ("n_params", c_int), ("settings_size", c_size_t),
                ("choose", c_char_p), ("unless", c_char_p),
                ("matrices", POINTER(MatrixSetting)), ("n_matrices", c_int),
                ("completes", c_bool), ("numbers", c_bool), ("joint", c_bool),
                ("each", c_bool), ("results", POINTER(ResultRow)),
                ("n_results", c_int), ("paper_grid", c_char_p),
                ("counted", c_char_p)]


class Info(Structure):
    _fields_ = [("size", c_size_t), ("iterations", c_int64),
                ("rank", c_int64), ("objective", c_double), ("dual", c_double),
                ("gap", c_double), ("residual", c_double),
                ("seconds", c_double), ("svd_seconds", c_double),
                ("status", c_int)]


class CvOptions(Structure):
    _fields_ = [("size", c_size_t), ("folds", c_int64), ("by_group", c_bool),
                ("metric", c_char_p), ("map", c_char_p),
                ("map_priv", c_char_p), ("keep_scores", c_bool),
                ("pooled", c_bool), ("folds_of", c_int), ("part", c_int64),
                ("parts", c_int64), ("part_file", c_char_p)]


def cv_options():
    """The defaults of the library."""
    options = CvOptions()
    lib.settings_fill(lib.cv_table(), ctypes.byref(options),
                      ctypes.sizeof(options))
    return options


class MetricKind(Structure):
    _fields_ = [("name", c_char_p), ("reads", c_int),
                ("less_is_better", c_bool)]


class MatchScores(Structure):
    _fields_ = [("match_ratio", c_double), ("identification_ratio", c_double),
                ("precision", c_double), ("recall", c_double)]


class SvtInfo(Structure):
    _fields_ = [("rank", c_int64), ("nuclear", c_double),
                ("sigma_1", c_double), ("way", c_char_p), ("why", c_char_p)]


class Assignment(Structure):
    _fields_ = [("match", c_void_p), ("price", c_void_p), ("warm", c_bool),
                ("objective", c_double)]


class Words(Structure):
    _fields_ = [("word", Mat), ("xy", Mat), ("vocabulary", c_int64),
                ("width", c_int64), ("height", c_int64)]


class Box(Structure):
    _fields_ = [("x", c_double), ("y", c_double), ("width", c_double),
                ("height", c_double), ("score", c_double)]


class FeaturesOptions(Structure):
    _fields_ = [("size", c_size_t), ("keep_going", c_bool),
                ("cache", c_char_p), ("study", c_void_p)]


class Member(Structure):
    _fields_ = [("bit", c_uint), ("name", c_char_p), ("what", c_char_p)]


# The C names, for the test of the layouts.
C_NAMES = {Mat: "lapis_mat", Array: "lapis_array", Data: "lapis_data",
           Comm: "lapis_comm",
           Progress: "lapis_progress",
           Param: "lapis_param", MatrixSetting: "lapis_matrix_setting",
           ResultRow: "lapis_result_row", Method: "lapis_method", Info: "lapis_info",
           CvOptions: "lapis_cv_options", Member: "lapis_member",
           MetricKind: "lapis_metric_kind",
           MatchScores: "lapis_match_scores", SvtInfo: "lapis_svt_info",
           Assignment: "lapis_assignment", Words: "lapis_words",
           Box: "lapis_box", FeaturesOptions: "lapis_features_options"}

F64, F32, I64, U8, TEXT = range(5)  # lapis_dtype
REAL, INT, BOOL, ENUM, WORDS = range(5)  # lapis_param_type

on_progress = CFUNCTYPE(c_bool, POINTER(Progress), c_void_p)
on_message = CFUNCTYPE(None, c_int, c_char_p, c_void_p)

# ---- functions: name -> (result, arguments) ----------------------------------
_ctx = _handle = c_void_p
_out = POINTER(c_void_p)
_mat = POINTER(Mat)
_data = POINTER(Data)
_method = POINTER(Method)
_reals = POINTER(c_double)
_text = c_char_p
_status = c_int
FUNCTIONS = {
    "status_name": (_text, [c_int]),
    "version": (_text, []),
    "ctx_new": (_ctx, []),
    "ctx_free": (None, [_ctx]),
    "ctx_set": (_status, [_ctx, _text, _text]),
    "ctx_cancel": (None, [_ctx]),
    "ctx_set_comm": (None, [_ctx, POINTER(Comm)]),
    "ctx_limit": (None, [_ctx, c_double]),
    "ctx_error": (_text, [_ctx]),
    "ctx_backend": (_text, [_ctx]),
    "ctx_kernels": (_text, [_ctx]),
    "ctx_threads": (c_int, [_ctx]),
    "ctx_on_progress": (None, [_ctx, on_progress, c_void_p]),
    "ctx_on_message": (None, [_ctx, on_message, c_void_p]),
    "method_at": (_method, [c_int]),
    "method_find": (_method, [_text]),
    "method_param": (POINTER(Param), [_method, c_int]),
    "method_matrix": (POINTER(MatrixSetting), [_method, c_int]),
    "method_result": (POINTER(ResultRow), [_method, c_int]),
    "predict_method": (_method, [_method]),
    "method_reads": (c_uint, [_method, c_void_p]),
    "data_has": (c_uint, [_data]),
    "member_at": (POINTER(Member), [c_int]),
    "settings_fill": (None, [_method, c_void_p, c_size_t]),
    "settings_check_effect": (_status, [_ctx, _method, c_void_p, c_uint, _text,
                                        _text]),
    "settings_set": (_status, [_ctx, _method, c_void_p, _text, _text]),
    "settings_get": (_status, [_ctx, _method, c_void_p, _text, c_char_p,
                               c_size_t]),
    "settings_set_matrix": (_status, [_ctx, _method, c_void_p, _text, _mat]),
    "solver_new": (_status, [_ctx, _method, _data, c_void_p, _out]),
    "solve": (_status, [_handle]),
    "solver_retune": (_status, [_handle, c_void_p]),
    "solver_free": (None, [_handle]),
    "result_get": (_status, [_handle, _text, _mat]),
    "result_name": (_text, [_handle, c_int]),
    "result_info": (POINTER(Info), [_handle]),
    "result_settings": (c_void_p, [_handle]),
    "model_new": (_status, [_handle, _out]),
    "model_free": (None, [_handle]),
    "model_set_map": (_status, [_ctx, _handle, _handle, c_bool]),
    "model_set_coverage": (_status, [_ctx, _handle, c_double, c_int]),
    "model_set_text": (_status, [_ctx, _handle, _text, _mat]),
    "model_method": (_method, [_handle]),
    "model_settings": (c_void_p, [_handle]),
    "model_features": (c_int64, [_handle]),
    "model_get": (_status, [_ctx, _handle, _text, _mat]),
    "model_save": (_status, [_ctx, _handle, _text]),
    "model_load": (_status, [_ctx, _text, _out]),
    "predict_new": (_status, [_ctx, _data, _handle, c_void_p, _out]),
    "map_new": (_status, [_ctx, _text, _out]),
    "map_free": (None, [_handle]),
    "map_fit": (_status, [_ctx, _handle, _mat]),
    "map_rows": (c_int64, [_handle, c_int64]),
    "map_apply": (_status, [_ctx, _handle, _mat, c_void_p]),
    "cv_table": (_method, []),
    "cv_draw": (_status, [_ctx, _data, POINTER(CvOptions), c_void_p]),
    "suspects": (_status, [_ctx, _method, _data, c_void_p,
                           POINTER(CvOptions), c_int64, c_void_p, c_void_p,
                           POINTER(c_int64), c_void_p]),
    "doubts": (_status, [_ctx, _mat, c_void_p, _mat, c_int64, c_void_p,
                         c_void_p, POINTER(c_int64), c_void_p]),
    "doubts_shown": (c_int64, [c_void_p, c_int64]),
    "doubts_text": (c_char_p, [c_void_p, c_void_p, c_size_t]),
    "metric_at": (POINTER(MetricKind), [c_int]),
    "metric_classes": (_status, [_ctx, _text, _mat, POINTER(c_int64)]),
    "metric": (_status, [_ctx, _text, _mat, _mat, c_void_p, _reals]),
    "match_ratio": (_status, [_ctx, _mat, _mat, _mat, POINTER(MatchScores)]),
    "iou": (_status, [_ctx, _mat, _mat, c_void_p, _reals, _reals]),
    "heat_map": (_status, [_ctx, POINTER(Words), c_void_p, c_int64, c_int64,
                           c_void_p]),
    "windows_find": (_status, [_ctx, POINTER(Words), _mat, c_void_p, c_int64,
                               POINTER(Box), POINTER(c_int64), c_void_p]),
    "feature_at": (_method, [c_int]),
    "feature_named": (_method, [_text, POINTER(c_size_t), POINTER(c_size_t)]),
    "features_new": (_status, [_ctx, _method, c_void_p, c_void_p, c_int64,
                               POINTER(FeaturesOptions), _out]),
    "image_list": (_status, [_ctx, c_void_p, c_int64, POINTER(Array)]),
    "array_free": (None, [POINTER(Array)]),
    "flow_find": (_method, [_text]),
    "flow_new": (_status, [_ctx, _method, c_void_p, c_int64, c_void_p, _out]),
    "svt": (_status, [_ctx, _mat, c_double, _mat, POINTER(SvtInfo)]),
    "singular_values": (_status, [_ctx, _mat, c_void_p]),
    "prox_soft": (None, [c_int64, c_void_p, c_double, c_void_p]),
    "prox_chi2": (None, [c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
    "prox_logistic": (None, [c_int64, c_void_p, c_void_p, c_void_p, c_double,
                             c_void_p, c_void_p]),
    "prox_chi2_simplex": (None, [c_int64, c_void_p, c_void_p, c_double,
                                 c_void_p]),
    "project_simplex": (None, [c_int64, c_void_p, c_void_p, c_void_p]),
    "text_missing": (c_bool, [_text]),
    "assign": (_status, [_ctx, _mat, POINTER(Assignment)]),
    "assign_batch": (_status, [_ctx, c_int64, c_void_p, c_void_p]),
}


# ---- finding it ------------------------------------------------------------
def _candidates():
    """Files and names to try, in order.

    ``LAPIS_LIBRARY`` alone where it is set; beside the package (a wheel that
    carries the library); the library folders of the prefix under which the
    package was installed; the system's own search.
    """
    named = os.environ.get("LAPIS_LIBRARY")
    if named:
        yield named
        return
    package = Path(__file__).resolve().parent
    yield package / SONAME
    for prefix in package.parents:
        for folder in ("lib", "lib64"):
            if (prefix / folder).is_dir():
                yield prefix / folder / SONAME
                yield from sorted((prefix / folder).glob(f"*-*/{SONAME}"))
    yield SONAME
    found = ctypes.util.find_library("lapis")
    if found:
        yield found


def _open():
    # OpenBLAS 0.3.21 takes a processor newer than itself for an old one
    # unless this is set, be it empty; too late once numpy has loaded it.
    os.environ.setdefault("OPENBLAS_CORETYPE", "")
    tried = []
    for name in _candidates():
        if isinstance(name, Path) and not name.exists():
            continue
        try:
            return ctypes.CDLL(str(name))
        except OSError as error:
            tried.append(str(error))
    raise ImportError(
        f"lapis: {SONAME} was not found; install it (cmake --install build) "
        "or name the file in the environment variable LAPIS_LIBRARY"
        + "".join("\n  " + line for line in tried))


class _Library:
    """lib.NAME is lapis_NAME with its types declared."""

    def __init__(self, dll):
        self.path = dll._name
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(dll, "lapis_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


lib = _Library(_open())


def _members():
    i = 0
    while row := lib.member_at(i):
        yield row.contents.name.decode(), row.contents.bit
        i += 1


READS = dict(_members())  # members of data: bits of lapis_method.reads
