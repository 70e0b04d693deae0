"""A shell of its own for each test, without a kernel and without a history file."""

import atexit
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@pytest.fixture
def shell():
    config = Config()
    config.HistoryManager.enabled = False
    main = sys.modules["__main__"]  # which a shell replaces by its own
    made = InteractiveShell(config=config)
    yield made
    sys.modules["__main__"] = main
    made.atexit_operations()
    atexit.unregister(made.atexit_operations)
