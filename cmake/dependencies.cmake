# What LAPIS always needs.  Each miss names the Debian package; all of them
# are listed before stopping.

find_package(PkgConfig)
if(NOT PKG_CONFIG_FOUND)
  message(FATAL_ERROR
    "pkg-config is missing; on Debian: apt-get install pkg-config")
endif()

set(LAPIS_DEPENDENCIES "")
set(missing "")

# need(PREFIX pkg-config-module debian-package)
macro(need prefix module package)
  pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  if(${prefix}_FOUND)
    list(APPEND LAPIS_DEPENDENCIES PkgConfig::${prefix})
  else()
    list(APPEND missing ${package})
  endif()
endmacro()

need(OPENBLAS openblas libopenblas-dev)
need(LAPACKE lapacke liblapacke-dev)
need(LIBZIP libzip libzip-dev)
need(ZLIB zlib zlib1g-dev)
need(JANSSON jansson libjansson-dev)

find_path(RANDOM123_INCLUDE Random123/philox.h)
mark_as_advanced(RANDOM123_INCLUDE)
if(RANDOM123_INCLUDE)
  add_library(random123 INTERFACE)
  target_include_directories(random123 SYSTEM INTERFACE ${RANDOM123_INCLUDE})
  list(APPEND LAPIS_DEPENDENCIES $<BUILD_INTERFACE:random123>)
else()
  list(APPEND missing librandom123-dev)
endif()

if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "Libraries are missing; on Debian: "
    "apt-get install ${missing}  (./quickstart build does it)")
endif()

find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
  message(FATAL_ERROR "The C compiler ${CMAKE_C_COMPILER} has no OpenMP; "
    "on Debian: gcc has it, clang needs libomp-dev")
endif()
list(APPEND LAPIS_DEPENDENCIES OpenMP::OpenMP_C m)
find_package(Threads REQUIRED) # of examples

pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka) # for tests only
