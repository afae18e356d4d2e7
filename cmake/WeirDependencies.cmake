# SPDX-License-Identifier: Apache-2.0
#
# Every library that weir stands on; all of them are Debian packages (scripts/packages installs them).

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_library(WEIR_URING uring REQUIRED)
find_library(WEIR_HIREDIS hiredis REQUIRED)
find_package(SQLite3 REQUIRED)
find_library(WEIR_MARIADB mariadb REQUIRED)
find_path(WEIR_MARIADB_INCLUDE mysql.h PATH_SUFFIXES mariadb mysql REQUIRED)
find_library(WEIR_JOSE jose REQUIRED)
find_library(WEIR_JANSSON jansson REQUIRED)
find_package(CURL REQUIRED)
find_package(cctz REQUIRED)  # by Findcctz.cmake
if(WEIR_TESTS)
  find_package(GTest REQUIRED)
  find_package(Boost REQUIRED)  # Beast's parser is an oracle in tests
endif()
if(WEIR_BENCH)
  find_package(benchmark REQUIRED)
endif()
