# SPDX-License-Identifier: MIT
#
# The simulation as a library: for its tests, and for bench/ where tests are not built.

include_guard(GLOBAL)

if(NOT TARGET naive_calendar)
  add_library(naive_calendar STATIC ${CMAKE_SOURCE_DIR}/tests/oracle/naive_calendar.cpp)
  target_link_libraries(naive_calendar PUBLIC belfry_model)
  target_precompile_headers(naive_calendar REUSE_FROM belfry_pch)
endif()

set(parts chaos checker clerk faulty_store job_replay job_replay_rows long_run planned_instants
  random_jobs record simulated_dispatcher simulation watcher)
list(TRANSFORM parts PREPEND ${CMAKE_SOURCE_DIR}/tests/simulation/)
list(TRANSFORM parts APPEND .cpp)
add_library(simulation STATIC ${parts})
target_link_libraries(simulation PUBLIC belfry_engine naive_calendar)
target_precompile_headers(simulation REUSE_FROM belfry_pch)
