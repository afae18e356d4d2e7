# SPDX-License-Identifier: Apache-2.0
#
# The target cctz::cctz: civil time and the zones of the IANA database. Debian packages cctz without files for CMake.
# Installed beside weirConfig.cmake, which needs it too.

find_library(CCTZ_LIBRARY cctz)
find_path(CCTZ_INCLUDE_DIR cctz/time_zone.h)
mark_as_advanced(CCTZ_LIBRARY CCTZ_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cctz REQUIRED_VARS CCTZ_LIBRARY CCTZ_INCLUDE_DIR)

if(cctz_FOUND AND NOT TARGET cctz::cctz)
  add_library(cctz::cctz UNKNOWN IMPORTED)
  set_target_properties(cctz::cctz PROPERTIES
    IMPORTED_LOCATION "${CCTZ_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CCTZ_INCLUDE_DIR}")
endif()
