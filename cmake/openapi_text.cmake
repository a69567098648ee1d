# SPDX-License-Identifier: MIT
#
# Writes openapi_text.h: src/api/openapi.json as text, with the version in it.
file(READ ${CMAKE_SOURCE_DIR}/src/api/openapi.json document)
string(CONFIGURE "${document}" document @ONLY)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/openapi_text.h CONTENT
"// Made by cmake/openapi_text.cmake.
inline constexpr char kOpenApiText[] = R\"openapi(@document@)openapi\";
" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/api/openapi.json)
