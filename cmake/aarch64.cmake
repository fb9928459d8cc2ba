# SPDX-License-Identifier: Apache-2.0
# Toolchain: programs for aarch64 on another machine, run there by qemu-user (tests/aarch64.sh).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Debian has the libraries of both machines beside each other, in folders of their own.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
