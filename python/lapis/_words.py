"""The library's sentences in Python's words.

It speaks as the command does: ``--mu-rel 2``, and rows counted from 1.  Here a
setting is a keyword and an array begins at 0.
"""
import re
from functools import lru_cache

from ._settings import methods, table

# What is the command's alone, and what does the same here.
_OTHER = {"threads": "n_jobs", "jobs": "n_jobs", "seed": "random_state"}
_MAPS = {"standard": "sklearn.preprocessing.StandardScaler()",
         "l1": "sklearn.preprocessing.Normalizer('l1')",
         "impute": "lapis.LowRankImputer()"}
# How a candidate's features are made, as a remark about it says.
_MADE = {"standard": "standardised features",
         "impute": "gaps filled in",
         "l1-sqrt": "roots of their shares"}
_CANDIDATE = re.compile(r"^([\w ]+: [\w ]+?) --map ([\w,:.-]+)"
                        r"(.* (?:answers|on the same) )")
_KEPT = ": no methods are compared: "  # words as `candidates` takes them
_VALUE = r"'[^']*'|[-+]?[\d.][\d.e+-]*\b|[A-Z]+\b|[a-z][\w-]*(?:,[a-z][\w-]*)*"
_OPTION = re.compile(rf"--([A-Za-z][\w-]*)(?: ({_VALUE}))?")
_PLACE = re.compile(r"\b(rows?|columns?|features?|samples?|slots?|class) (\d+)"
                    r"( (?:and|to) )?((?<=\s)\d+(?!\d|\.\d|e| more| other))?")
_LIST = re.compile(r"\b((?:rows|columns|samples) \d+)((?:, \d+\b)+)")


@lru_cache(maxsize=None)
def _rows():
    """{name: (keyword, words it may be)} of every setting of every method."""
    found = {}
    for method in methods():
        for row in table(method).rows:
            words = found.setdefault(row.name, (row.key, set()))[1]
            words.update(row.choices, {"auto"})
    return found


def _keyword(match):
    name, value = match.group(1), match.group(2)
    maps = value.split(",") if name in ("map", "map-priv") and value else ()
    if maps and all(one in _MAPS for one in maps):
        return " and ".join(_MAPS[one] for one in maps)
    key, words = _rows().get(
        name, (_OTHER.get(name, name.replace("-", "_")), ()))
    if value is None:
        return key
    if value[0] in "'+-.0123456789":
        return f"{key}={value}"
    if value in words:
        return f"{key}='{value}'"
    if value.isupper():
        return f"{key}={'ARRAY' if value == 'FILE' else value}"
    return f"{key} {value}"


def _candidate(match):
    maps = [one for one in match.group(2).split(",")
            if not one.startswith("nystrom:")]  # "kernel", as it is called
    if not all(one in _MADE for one in maps):
        return match.group()
    made = ", ".join(_MADE[one] for one in maps)
    return f"{match.group(1)} ({made}){match.group(3)}"


def _from_0(match):
    what, first, link, last = match.groups()
    said = f"{what} {int(first) - 1}{link or ''}"
    return said if last is None else said + str(int(last) - 1)


def _list_from_0(match):
    more = re.sub(r"\d+", lambda m: str(int(m.group()) - 1), match.group(2))
    return match.group(1) + more


def in_python(text):
    """A sentence of the library as Python says it."""
    if _KEPT in text:
        return text
    text = _CANDIDATE.sub(_candidate, text)
    text = _OPTION.sub(_keyword, text).replace("-G FILE says", "groups says")
    return _PLACE.sub(_from_0, _LIST.sub(_list_from_0, text))
