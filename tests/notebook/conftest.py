"""A shell of its own for each test, without a kernel and without a history file."""

import atexit

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@pytest.fixture
def shell():
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell(config=config)
    yield made
    made.atexit_operations()
    atexit.unregister(made.atexit_operations)
