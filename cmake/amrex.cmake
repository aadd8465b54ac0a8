# An installed AMReX, for the tests and benchmarks of its adapter (NEVE_AMREX).
find_package(AMReX QUIET)
if(NOT AMReX_FOUND)
  message(WARNING "NEVE_AMREX is ON but no installed AMReX was found (AMReX_ROOT, CMAKE_PREFIX_PATH); "
                  "the tests and benchmarks of the AMReX adapter are left out")
  return()
endif()

# AMReX's headers have kernels in them: with an AMReX for a device, that device's compiler compiles what includes them.
if(AMReX_GPU_BACKEND STREQUAL "CUDA")
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  set(neve_amrex_language CUDA)
else()
  set(neve_amrex_language CXX)
endif()
