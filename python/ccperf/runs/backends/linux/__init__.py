"""The Linux kernel's own TCP: a kernel that runs as a process, in virtual time."""
