"""Profiler traces (XPlane, Chrome) → spans, and what XProf says of them."""
