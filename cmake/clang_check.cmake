# SPDX-License-Identifier: MIT
#
# clang 19 reads every source too (-fsyntax-only): a second opinion on warnings, and on
# coroutines, where g++ 12 is known to be wrong. Part of the debug build.

find_program(CLANG clang++-19)
if(NOT CLANG)
  return()
endif()
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.cpp
  ${CMAKE_SOURCE_DIR}/tests/*.cpp ${CMAKE_SOURCE_DIR}/fuzz/*.cpp)
set(stamps)
foreach(source ${sources})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
  string(REPLACE "/" "_" name ${name})
  set(stamp ${CMAKE_BINARY_DIR}/clang-check/${name}.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CLANG} -std=c++20 -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_SOURCE_DIR}
      -I${CMAKE_BINARY_DIR}/generated ${BELFRY_WARNINGS} -DTABLES=\"\" -fsyntax-only
      -MMD -MF ${stamp}.d -MT ${stamp} ${source}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${source} build_commit DEPFILE ${stamp}.d COMMENT "clang reads ${name}")
  list(APPEND stamps ${stamp})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/clang-check)
add_custom_target(clang_check ALL DEPENDS ${stamps})
