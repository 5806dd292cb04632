"""What generated things are called: in the code for the device, and in the code of the launcher for the host."""

KERNEL = "kernel"  # the function that runs on the device
HANDLER = "handler"  # the function that XLA calls
HANDLE = "kernel_handle"  # the variable in which the launcher finds the kernel, if there is one device
HANDLES = "kernel_handles"  # the variable in which it finds the address of the kernels by device, if there are several
