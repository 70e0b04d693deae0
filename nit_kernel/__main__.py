"""The NIT kernel as a program: `python -m nit_kernel -f CONNECTION_FILE`."""

from ipykernel.kernelapp import IPKernelApp

from nit_kernel.notebook.kernel import NitKernel

if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=NitKernel)
