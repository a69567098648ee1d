# SPDX-License-Identifier: MIT
#
# A folder of src/ is a module: its sources become the library belfry_<module>, its
# *_test.cpp files the program <module>_test. What a module may use is said once, here in
# CMake by what it links, and checked include by include by tools/tidy.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED)
# The archive, not the shared library: a twelfth less for the engine (docs/decisions/020). Under a
# name of our own, or a build folder that knows the shared one would go on with it.
find_library(BELFRY_SQLITE_ARCHIVE libsqlite3.a REQUIRED)
set(SQLite3_LIBRARY ${BELFRY_SQLITE_ARCHIVE})
find_package(SQLite3 REQUIRED)

add_library(belfry_flags INTERFACE)
target_include_directories(belfry_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
set(BELFRY_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
  -Wimplicit-fallthrough -Werror)
target_compile_options(belfry_flags INTERFACE ${BELFRY_WARNINGS})
if(BELFRY_SANITIZE)
  target_compile_options(belfry_flags INTERFACE -fsanitize=${BELFRY_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(belfry_flags INTERFACE -fsanitize=${BELFRY_SANITIZE})
endif()
if(BELFRY_SANITIZE STREQUAL "thread")
  # ThreadSanitizer does not understand fences; Asio's mutexes order the same things.
  target_compile_definitions(belfry_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  include(cmake/hardening.cmake)
endif()
find_program(MOLD mold)
if(MOLD)
  target_link_options(belfry_flags INTERFACE -fuse-ld=mold)
endif()

# One precompiled header for the whole tree, of the standard headers everybody uses.
file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp "")
add_library(belfry_pch OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
target_link_libraries(belfry_pch PUBLIC belfry_flags)
target_precompile_headers(belfry_pch PRIVATE <algorithm> <chrono> <functional> <map> <memory>
  <optional> <string> <string_view> <unordered_map> <variant> <vector>)

set(BELFRY_LIBRARIES_base fmt::fmt Threads::Threads OpenSSL::Crypto)
set(BELFRY_LIBRARIES_model Boost::json)
set(BELFRY_LIBRARIES_wire Boost::json)
set(BELFRY_LIBRARIES_dispatch Boost::json)
set(BELFRY_LIBRARIES_store SQLite::SQLite3 OpenSSL::Crypto)
set(BELFRY_LIBRARIES_metrics prometheus-cpp-core)
set(BELFRY_LIBRARIES_net Boost::headers OpenSSL::SSL cares qpid-proton)

set(BELFRY_TEST_LIST ${CMAKE_BINARY_DIR}/tests.list)
file(WRITE ${BELFRY_TEST_LIST} "")

# A line of tests.list is a suite's name, a tab, and its command (tools/run-tests reads it).
function(belfry_add_test name)
  string(JOIN " " command ${ARGN})
  file(APPEND ${BELFRY_TEST_LIST} "${name}\t${command}\n")
endfunction()

function(belfry_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE belfry_flags gtest gtest_main)
  target_precompile_headers(${name} REUSE_FROM belfry_pch)
  belfry_add_test(${name} ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()

# Under ThreadSanitizer only what has threads is worth its time.
set(BELFRY_THREADED net dispatch access)

function(belfry_module module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${module}/*_test.cpp)
  list(REMOVE_ITEM sources ${tests} ${CMAKE_SOURCE_DIR}/src/app/main.cpp)
  if(sources)
    add_library(belfry_${module} STATIC ${sources})
    set(scope PUBLIC)
    target_precompile_headers(belfry_${module} REUSE_FROM belfry_pch)
  else()
    add_library(belfry_${module} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM ARGN PREPEND belfry_ OUTPUT_VARIABLE uses)
  target_link_libraries(belfry_${module} ${scope} ${uses} belfry_flags
    ${BELFRY_LIBRARIES_${module}})
  if(BELFRY_SANITIZE STREQUAL "thread" AND NOT module IN_LIST BELFRY_THREADED)
    set(tests)
  endif()
  if(BELFRY_TESTS AND tests)
    belfry_test_program(${module}_test ${tests})
    target_link_libraries(${module}_test PRIVATE belfry_${module})
  endif()
endfunction()
