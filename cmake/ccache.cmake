# The same core is compiled for the command, for Python and under sanitizers; ccache saves the repeats.
find_program(NEVE_CCACHE ccache)
if(NEVE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NEVE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${NEVE_CCACHE})
endif()
