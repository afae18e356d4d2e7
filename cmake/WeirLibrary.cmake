# SPDX-License-Identifier: Apache-2.0
#
# What is installed for other programs: the algorithms and the store in memory, as the CMake package `weir` with the
# targets weir::limit and weir::store. `cmake --install BUILD --component library` installs it alone.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(WEIR_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/weir)

# weir_publish(NAME HEADERS...): weir_NAME is installed as weir::NAME with these headers of the current folder. They may
# include one another and published headers of other folders, nothing else.
function(weir_publish name)
  set(target weir_${name})
  add_library(weir::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(CMAKE_INTERPROCEDURAL_OPTIMIZATION AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -ffat-lto-objects)  # for linkers that are not this very GCC
  endif()
  install(TARGETS ${target} EXPORT weirTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  foreach(header ${ARGN})
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    cmake_path(GET path PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT library)
  endforeach()
endfunction()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weirConfig.cmake.in ${CMAKE_BINARY_DIR}/weirConfig.cmake
                              INSTALL_DESTINATION ${WEIR_PACKAGE_DIR})
# Before 1.0 a minor version may change what it likes.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT weirTargets NAMESPACE weir:: DESTINATION ${WEIR_PACKAGE_DIR} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/weirConfig.cmake ${CMAKE_BINARY_DIR}/weirConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/Findcctz.cmake
        DESTINATION ${WEIR_PACKAGE_DIR} COMPONENT library)
