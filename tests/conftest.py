"""Where the tests find the shared folder: specs, corpus and cases."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with `spec/`, `corpus/` and `cases/`: `NIT_SHARED`, else beside the repository."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("NIT_SHARED", default))
    if not folder.is_dir():
        message = f"the shared folder is not at {folder}; set NIT_SHARED"
        if os.environ.get("NIT_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return folder
