"""Places in a user's files stay findable, however long their names are."""

from analyzer.render.sanitize import keep_ends


def test_a_long_place_keeps_its_file_and_line() -> None:
    """Docker names a log by the 64 characters of a container's id."""
    shown = keep_ends(f"{'3cd945e912aac728ad89' * 4}/{'f' * 64}-json.log:110", 60)
    assert len(shown) == 60
    assert shown.endswith("-json.log:110")
    assert keep_ends("worker-0.log:12", 60) == "worker-0.log:12"
