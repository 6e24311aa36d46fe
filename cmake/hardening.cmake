# What keeps a defect from becoming a way in, where compiler and linker have
# it: canaries in front of return addresses, stacks that cannot jump over their
# guard page, checked copies, addresses at random (PIE), tables of the loader
# that cannot be written.  tools/check-hardening looks at what was built.
#
# Not with sanitizers, which put their own checks at the same places.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

option(LAPIS_HARDEN "Build with the protections of compiler and linker" ON)
if(NOT LAPIS_HARDEN OR CMAKE_C_FLAGS MATCHES "-fsanitize")
  return()
endif()

check_pie_supported()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

foreach(flag -fstack-protector-strong -fstack-clash-protection
    -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "LAPIS_HAS${flag}" has)
  check_c_compiler_flag("-Werror ${flag}" ${has})
  if(${has})
    target_compile_options(lapis_flags INTERFACE ${flag})
  endif()
endforeach()
# Copies are checked where there is an optimiser; a level that the compiler or
# the distribution sets already is taken back first.
target_compile_options(lapis_flags INTERFACE
  $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "LAPIS_HAS${flag}" has)
  check_linker_flag(C ${flag} ${has})
  if(${has})
    add_link_options(${flag})
  endif()
endforeach()
