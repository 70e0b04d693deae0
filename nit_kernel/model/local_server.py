"""The process behind `LocalServer`: llama.cpp's own HTTP server, from the wheel `xllamacpp`.

`python -m nit_kernel.model.local_server FILE.gguf`: prints `NIT-READY http://127.0.0.1:PORT/v1`
when it answers, and ends when its standard input does.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="nit_kernel.model.local_server")
    parser.add_argument("file")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--alias", default="local")
    options = parser.parse_args()
    # Threads that wait must not spin: the notebook needs the processors, too.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    library: Any = importlib.import_module("xllamacpp")
    settings = library.CommonParams()
    settings.model.path = options.file
    single = isinstance(settings.model_alias, str)
    settings.model_alias = options.alias if single else {options.alias}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = options.context
    settings.n_parallel = 1
    settings.cpuparams.n_threads = options.threads
    settings.cpuparams_batch.n_threads = options.threads
    settings.use_jinja = True
    settings.ui = False
    settings.verbosity = 1
    server = library.Server(settings)
    sys.stdout.write(f"NIT-READY {server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
