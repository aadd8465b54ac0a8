# The same core is compiled for the command, for Python and under sanitizers; ccache saves the repeats. Paths are taken
# relative to the checkout, so that what one clone has compiled serves the next one; file names in debug information are
# then relative to the checkout, too.
find_program(NEVE_CCACHE ccache)
if(NEVE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${NEVE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()
