# SPDX-License-Identifier: MIT
#
# What makes a mistake in memory end the process instead of being of use to somebody
# (docs/decisions/030-hardening.md); tests/packaging/hardening.py reads it from the binary. The
# builds with sanitizers find more, and are not given to anybody.

include(CheckCXXCompilerFlag)

target_compile_options(belfry_flags INTERFACE -fPIE -fstack-protector-strong)
target_compile_definitions(belfry_flags INTERFACE _FORTIFY_SOURCE=3 _GLIBCXX_ASSERTIONS)
target_link_options(belfry_flags INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack)

# x86 has it. Not -z ibt: Debian's SQLite, which is linked in, has no marks where it may be called.
check_cxx_compiler_flag(-fcf-protection BELFRY_CF_PROTECTION)
if(BELFRY_CF_PROTECTION)
  target_compile_options(belfry_flags INTERFACE -fcf-protection)
  target_link_options(belfry_flags INTERFACE -Wl,-z,shstk)
endif()
