"""placeholder until the helper's reader lands"""
from types import SimpleNamespace
def read_trace(path): return SimpleNamespace(spans=[], damage=[])
