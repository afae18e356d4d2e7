# SPDX-License-Identifier: Apache-2.0
#
# How targets are made: flags for all, and one function for a folder under src/weir.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Links test programs several times faster. Not where the linker runs the optimiser: that is GCC's own business.
find_program(MOLD mold)
if(MOLD AND NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  add_link_options(-fuse-ld=mold)
endif()

add_library(weir_flags INTERFACE)
target_include_directories(weir_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(weir_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                                            -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 reports these inside its own library headers.
  target_compile_options(weir_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # A designated initialiser that leaves members at their defaults is what we mean.
  # GCC 12's std::stable_sort uses what is deprecated; GCC itself tells us about such uses of our own.
  target_compile_options(weir_flags INTERFACE -Wno-missing-designated-field-initializers -Wno-deprecated-declarations)
endif()
if(WEIR_STRICT)
  target_compile_options(weir_flags INTERFACE -Werror)
endif()
if(WEIR_SANITIZE)
  target_compile_options(weir_flags INTERFACE -fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(weir_flags INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()

# The headers of others that nearly every source needs are read once for each library, which is a third of the work.
# Nothing may rely on it: headers_alone and clang-tidy do without.
set(WEIR_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <expected> <functional> <map> <memory> <mutex> <optional>
    <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
function(weir_precompile target)
  if(WEIR_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${WEIR_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# headers_alone compiles every header by itself: none may count on what its users include before it.
add_custom_target(headers_alone)
function(weir_headers target)
  if(ARGN)
    # A target of its own: CMake installs all headers of a library or none.
    add_library(${target}_headers INTERFACE)
    target_link_libraries(${target}_headers INTERFACE ${target})
    target_sources(${target}_headers INTERFACE FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${ARGN})
    set_target_properties(${target}_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    add_dependencies(headers_alone ${target}_headers_verify_interface_header_sets)
  endif()
endfunction()

# weir_part(NAME FILES...): the library weir_NAME from some files of the current folder; weir_folder, which has to come
# after it, leaves them out. For users who must not get all that the folder links.
function(weir_part name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(headers ${ARGN})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  add_library(weir_${name} STATIC ${ARGN})
  target_link_libraries(weir_${name} PUBLIC $<BUILD_INTERFACE:weir_flags>)
  weir_headers(weir_${name} ${headers})
  set_property(DIRECTORY APPEND PROPERTY WEIR_PARTS ${ARGN})
endfunction()

# Folders whose code is used by one thread at a time: ThreadSanitizer has nothing to find in their tests.
set(WEIR_UNTHREADED config http limit route explain)

# weir_folder(NAME DEPS...): the library weir_NAME from all sources of the current folder (and below it, but for folders
# that have a CMakeLists.txt of their own), and the test program NAME_test from its *_test.cc files.
function(weir_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  file(GLOB own ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(file ${own})
    cmake_path(GET file PARENT_PATH folder)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
    list(FILTER headers EXCLUDE REGEX "^${folder}/")
  endforeach()
  get_property(parts DIRECTORY PROPERTY WEIR_PARTS)
  list(REMOVE_ITEM sources ${parts})
  list(REMOVE_ITEM headers ${parts})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(WEIR_SANITIZE)
    list(FILTER tests EXCLUDE REGEX "/allocation_test\\.cc$")  # replaces operator new, as the sanitizers do
  endif()
  if(WEIR_SANITIZE STREQUAL thread AND name IN_LIST WEIR_UNTHREADED)
    set(tests)
  endif()
  if(sources)
    add_library(weir_${name} STATIC ${sources})
    target_link_libraries(weir_${name} PUBLIC $<BUILD_INTERFACE:weir_flags> ${ARGN})
    weir_precompile(weir_${name})
  else()
    add_library(weir_${name} INTERFACE)
    target_link_libraries(weir_${name} INTERFACE weir_flags ${ARGN})
  endif()
  weir_headers(weir_${name} ${headers})
  if(WEIR_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE weir_${name} GTest::gtest_main)
    weir_precompile(${name}_test <gtest/gtest.h>)
    add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS unit)
  endif()
endfunction()

# weir_texts(TARGET NAMESPACE FILES...): adds the text of each file to the target, as the std::string_view
# NAMESPACE::kName for a file name.lua, declared where it is used.
function(weir_texts target namespace)
  set(code "// SPDX-License-Identifier: Apache-2.0\n#include <string_view>\n\nnamespace ${namespace} {\n")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    cmake_path(GET file STEM stem)
    string(SUBSTRING ${stem} 0 1 first)
    string(SUBSTRING ${stem} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND code "extern const std::string_view k${first}${rest};\n"
                       "const std::string_view k${first}${rest} = R\"text(${text})text\";\n")
  endforeach()
  string(APPEND code "}  // namespace ${namespace}\n")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}_texts.cc CONTENT "${code}" @ONLY)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}_texts.cc)
endfunction()
