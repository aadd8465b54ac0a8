# Builds for 64-bit Arm on another machine, and runs what was built under qemu-user: scripts/test-aarch64.sh.
# NEVE_AARCH64_ROOT (environment): a folder into which Debian's arm64 packages were unpacked.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH $ENV{NEVE_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64;-L;/usr/aarch64-linux-gnu;-E;LD_LIBRARY_PATH=$ENV{NEVE_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu:$ENV{NEVE_AARCH64_ROOT}/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $ENV{NEVE_AARCH64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} $ENV{NEVE_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
