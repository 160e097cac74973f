"""Profiler traces (XPlane, Chrome) → spans, and the statistics that XProf derives from them."""
