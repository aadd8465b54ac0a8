# SPDX-License-Identifier: BSD-3-Clause
# Signs a plugin in place, for an HDF5 that was built with HDF5_REQUIRE_SIGNED_PLUGINS:
#   cmake -D PLUGIN=libh5neve.so -D KEY=private.pem -D TOOL=h5sign -P cmake/sign_plugin.cmake
# An earlier signature is replaced.
if(NOT TOOL)
  message(FATAL_ERROR "${PLUGIN} cannot be signed: h5sign, HDF5's tool for it, was not found; name it in NEVE_H5SIGN")
endif()
foreach(file PLUGIN KEY)
  if(NOT EXISTS "${${file}}")
    message(FATAL_ERROR "${PLUGIN} cannot be signed: there is no file ${${file}}")
  endif()
endforeach()
execute_process(COMMAND "${TOOL}" -p "${PLUGIN}" -k "${KEY}" -f
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PLUGIN} is not signed: ${TOOL} ends with ${status}: ${said}")
endif()
message(STATUS "Signed: ${PLUGIN}")
