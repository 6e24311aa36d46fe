# lapis_embed(LIST NAME FILE): a C file, appended to LIST, that holds FILE as
# the bytes `NAME` and their number `NAME_size`; FILE may be edited any time.
function(lapis_embed list name file)
  set(from ${PROJECT_SOURCE_DIR}/${file})
  set(to ${PROJECT_BINARY_DIR}/${name}.c)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from})
  file(READ ${from} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REPEAT "0x..," 12 line)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${to} @ONLY CONTENT
"/* Made from @file@. */
#include \"report/page.h\"

const unsigned char @name@[] = {
@bytes@};
const int64_t @name@_size = sizeof @name@;
")
  set(${list} ${${list}} ${to} PARENT_SCOPE)
endfunction()
