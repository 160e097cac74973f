"""Many runs, night after night: which are new, what is known, what came back, which machine is guilty again.

roots ─find→ runs ─examine→ diagnoses ─record→ history ─tell→ index page, digest, metrics
"""
