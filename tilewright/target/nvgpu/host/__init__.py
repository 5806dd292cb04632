"""The host side of a kernel: compilation, launch, lifetime and log.

compiled    the code of a kernel: compiled once, kept on disk, loaded
handler     the launcher: an FFI handler in LLVM that fills tensor maps and launches on XLA's stream
families    devices of different architectures in one process, each with its own code
lifetime    code stays on the devices while a program exists that may launch it
device_log  what a kernel prints, and which check failed
profile     what the marks of a profiled kernel recorded: timelines, totals, traces
peer_memory symmetric memory of GPUs: a heap on each, which all of them map
peer_launch the launcher of a kernel that accesses other devices
symbols     names in generated code
"""
