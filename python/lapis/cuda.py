"""Where pip put CUDA's libraries, for the plug-in lapis-cuda:

    export LAPIS_CUDA_LIBRARIES=$(python3 -m lapis.cuda)
"""
from importlib.util import find_spec
from pathlib import Path


def folders():
    """The folders of the packages nvidia-* that hold libraries, sorted."""
    spec = find_spec("nvidia")
    roots = spec.submodule_search_locations if spec is not None else ()
    return sorted(str(folder) for root in roots
                  for folder in Path(root).glob("*/lib")
                  if any(folder.glob("*.so*")))


if __name__ == "__main__":
    print(":".join(folders()))
