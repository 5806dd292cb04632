"""Names of generated symbols: in the code for the device, and in the code of the launcher for the host."""

KERNEL = "kernel"  # the function that runs on the device
HANDLER = "handler"  # the function that XLA calls
HANDLE = "kernel_handle"  # the variable in which the launcher finds the kernel, if there is one device
HANDLES = "kernel_handles"  # the variable in which it finds the address of the kernels by device, if there are several
INSTANTIATE = "instantiate"  # the function that XLA calls when it builds a program
USERS, GONE = (
  "users",
  "gone",
)  # the variables in which the launcher counts who uses the kernel, and finds that it is not loaded
DIRECTORY = (
  "heaps"  # the variable with the address of the list of heaps, where devices access each other (`peer_memory`)
)
RETAIN, RELEASE = "retain", "release"  # the functions that count one user more and one less
STATE_TYPE = "state_type"  # the variable with the place of the number that XLA gives to the type of the state
