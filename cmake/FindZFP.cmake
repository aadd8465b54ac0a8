# Debian's zfp, a peer of the mini-apps, has no package file of its own.
find_path(NEVE_ZFP_INCLUDE_DIR zfp.h)
find_library(NEVE_ZFP_LIBRARY zfp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZFP REQUIRED_VARS NEVE_ZFP_LIBRARY NEVE_ZFP_INCLUDE_DIR)
