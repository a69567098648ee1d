# SPDX-License-Identifier: MIT
#
# Writes build_commit.h when the commit changed, so that only one small file is compiled anew.
cmake_policy(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"// Made by cmake/build_commit.cmake.
#define BELFRY_VERSION \"@VERSION@\"
#define BELFRY_COMMIT \"@commit@\"
" @ONLY)
