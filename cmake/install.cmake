# Libraries, headers, command, bundled data, lapis.pc, CMake package, manual
# pages, completions, Python package; in components, which cpack makes packages
# of (packages.cmake).  A plug-in is one of its own (parts.cmake).
include(CMakePackageConfigHelpers)

# ---- the command -----------------------------------------------------------
if(TARGET lapis_command)
  # What the command says about itself, written when it is built.
  set(generated ${PROJECT_BINARY_DIR}/generated)
  add_custom_command(TARGET lapis_command POST_BUILD
    COMMAND ${PROJECT_SOURCE_DIR}/tools/write-generated ${generated}
      ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:lapis_command>
    COMMENT "Writing manual pages and completions" VERBATIM)

  install(TARGETS lapis_command RUNTIME COMPONENT command)
  install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lapis
    COMPONENT command)
  install(FILES LICENSE README.md CHANGELOG.md CITATION.cff TYPE DOC
    COMPONENT command)
  install(DIRECTORY ${generated}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    COMPONENT command)
  install(FILES ${generated}/lapis.bash RENAME lapis
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT command)
  install(FILES ${generated}/_lapis
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
    COMPONENT command)
endif()

# ---- the shared library, and what is needed to build with it -----------------
install(TARGETS lapis EXPORT lapis-targets LIBRARY
  COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS lapis_static EXPORT lapis-static-targets
  ARCHIVE COMPONENT development)
set(left_out images.h)
if(LAPIS_IMAGES)
  set(left_out none)
endif()
install(DIRECTORY include/lapis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development PATTERN ${left_out} EXCLUDE)

# The .pc file finds its own prefix, so that an installation can be moved.
file(RELATIVE_PATH prefix_from_pc
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(JOIN LAPIS_PART_MODULES " " LAPIS_PART_MODULES_TEXT)
list(JOIN LAPIS_PART_LIBRARIES " " LAPIS_PART_LIBRARIES_TEXT)
# Named by Requires.private their headers would be searched, too, by programs
# that only use LAPIS.
execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --libs ${LAPIS_BLAS_MODULE} lapacke libzip
    zlib jansson ${LAPIS_PART_MODULES}
  OUTPUT_VARIABLE LAPIS_PRIVATE_LIBRARIES OUTPUT_STRIP_TRAILING_WHITESPACE)
configure_file(cmake/lapis.pc.in lapis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lapis.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lapis)
configure_package_config_file(cmake/lapis-config.cmake.in lapis-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(lapis-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lapis-config.cmake
  ${PROJECT_BINARY_DIR}/lapis-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)
foreach(export lapis-targets lapis-static-targets)
  install(EXPORT ${export} NAMESPACE lapis:: DESTINATION ${package_dir}
    COMPONENT development)
endforeach()

if(LAPIS_IMAGES) # Python has functions for both; packages have all
  include(cmake/python.cmake)
  include(cmake/packages.cmake)
endif()
