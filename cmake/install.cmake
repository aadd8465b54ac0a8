# What `cmake --install` leaves: the rooms joined into shared libraries (neve; and neve_mpi, which has all of neve, too:
# a program links one of them),
# the public headers, the command, the plugin, and what find_package and pkg-config need.
# The wheel installs its own files only.
if(SKBUILD)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(neve_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/neve)
set(neve_plugin_dir ${CMAKE_INSTALL_LIBDIR}/neve/plugin)

# The static rooms are position-independent, so the shared libraries are made of the same objects.
function(neve_shared_library target output_name)
  set(objects)
  foreach(room IN LISTS ARGN)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endforeach()
  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${output_name}
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINK_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exported.map
    INSTALL_RPATH $ORIGIN)
  target_compile_features(${target} INTERFACE cxx_std_17)
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exported.map -Wl,--no-undefined)
  target_link_libraries(${target} PRIVATE
    neve_flags neve_fmt Threads::Threads PkgConfig::ZSTD PkgConfig::LZ4 ZLIB::ZLIB PkgConfig::HWY ${CMAKE_DL_LIBS})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

set(neve_rooms neve_core neve_files neve_plotfile neve_c)
neve_shared_library(neve_shared neve ${neve_rooms})
set_target_properties(neve_shared PROPERTIES EXPORT_NAME neve)
set(neve_libraries neve_shared)

if(NEVE_MPI)
  neve_shared_library(neve_mpi_shared neve_mpi ${neve_rooms} neve_hdf5 neve_mpi neve_mpi_c)
  target_link_libraries(neve_mpi_shared PUBLIC MPI::MPI_C PRIVATE neve_hdf5_dep)
  # The C++ bindings of MPI are gone from the standard; without these an MPI library's header asks for them.
  target_compile_definitions(neve_mpi_shared INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set_target_properties(neve_mpi_shared PROPERTIES EXPORT_NAME mpi)
  list(APPEND neve_libraries neve_mpi_shared)
endif()
if(NEVE_COMMAND)
  install(TARGETS neve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(NEVE_BENCH)
  install(TARGETS neve-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/python/neve_bench DESTINATION share/neve/bench
    PATTERN __pycache__ EXCLUDE)
  # What `neve study amric` measures where no file is named.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/samples/nyx_lya32_plt00113 DESTINATION share/neve/samples)
endif()
foreach(preloaded neve_trace neve_pmpi)
  if(TARGET ${preloaded})
    install(TARGETS ${preloaded} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/neve)
  endif()
endforeach()
if(TARGET neve_h5plugin)
  get_property(neve_plugins GLOBAL PROPERTY neve_plugins)
  install(TARGETS ${neve_plugins} LIBRARY DESTINATION ${neve_plugin_dir})
  set(NEVE_PLUGIN_SIGNING_KEY "" CACHE FILEPATH
    "RSA private key (PEM) that installing signs the plugin with, for an HDF5 that loads only signed ones")
  find_program(NEVE_H5SIGN h5sign DOC "HDF5's tool that signs plugins; from 2.2 on, if HDF5 was built with it")
  if(NEVE_PLUGIN_SIGNING_KEY)
    # In what is installed, for installing may change the bytes (RPATH, --strip), and signatures do not survive that.
    foreach(plugin IN LISTS neve_plugins)
      install(CODE "set(PLUGIN \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${neve_plugin_dir}/$<TARGET_FILE_NAME:${plugin}>\")
        set(KEY \"${NEVE_PLUGIN_SIGNING_KEY}\")
        set(TOOL \"${NEVE_H5SIGN}\")
        include(\"${CMAKE_CURRENT_LIST_DIR}/sign_plugin.cmake\")")
    endforeach()
  endif()
endif()

install(TARGETS ${neve_libraries} EXPORT neveTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT neveTargets NAMESPACE neve:: DESTINATION ${neve_package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/neve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/neveConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/neveConfig.cmake
  INSTALL_DESTINATION ${neve_package_dir}
  PATH_VARS neve_plugin_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/neveConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/neveConfig.cmake
              ${PROJECT_BINARY_DIR}/package/neveConfigVersion.cmake
        DESTINATION ${neve_package_dir})

# pkg-config finds its own place, so that `cmake --install --prefix` may differ from the configured one.
file(RELATIVE_PATH neve_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(package neve neve_mpi)
  if(package STREQUAL neve_mpi AND NOT NEVE_MPI)
    continue()
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${PROJECT_BINARY_DIR}/package/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
