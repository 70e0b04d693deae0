"""Shows NIT in Jupyter and IPython: the extension, the kernel, magics, mirror, live panels."""
