# lapis_embed(LIST HEADER NAME FILE...): a C file, appended to LIST, that holds
# the files, one after the other, as the bytes `NAME` and their number
# `NAME_size`, which HEADER declares; a file may be edited any time.  Of C files
# the lines that include others are left out.
function(lapis_embed list header name)
  set(to ${PROJECT_BINARY_DIR}/${name}.c)
  set(all "")
  foreach(file IN LISTS ARGN)
    set(from ${PROJECT_SOURCE_DIR}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from})
    file(READ ${from} bytes HEX)
    if(file MATCHES "\\.h$")
      file(READ ${from} text)
      string(REGEX REPLACE "#include [^\n]*" "" text "${text}")
      string(HEX "${text}" bytes)
    endif()
    string(APPEND all "${bytes}")
  endforeach()
  set(bytes "${all}")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REPEAT "0x..," 12 line)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${to} @ONLY CONTENT
"/* Made from @ARGN@. */
#include \"@header@\"

const unsigned char @name@[] = {
@bytes@};
const int64_t @name@_size = sizeof @name@;
")
  set(${list} ${${list}} ${to} PARENT_SCOPE)
endfunction()
