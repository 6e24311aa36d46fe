# Libraries, headers, command, bundled data, lapis.pc, CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS lapis_command RUNTIME)
install(TARGETS lapis EXPORT lapis-targets)
install(TARGETS lapis_static EXPORT lapis-static-targets)
install(DIRECTORY include/lapis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lapis)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff TYPE DOC)

# The .pc file finds its own prefix, so that an installation can be moved.
file(RELATIVE_PATH prefix_from_pc
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(JOIN LAPIS_PART_MODULES " " LAPIS_PART_MODULES_TEXT)
configure_file(cmake/lapis.pc.in lapis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lapis.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lapis)
configure_package_config_file(cmake/lapis-config.cmake.in lapis-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(lapis-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lapis-config.cmake
  ${PROJECT_BINARY_DIR}/lapis-config-version.cmake
  DESTINATION ${package_dir})
foreach(export lapis-targets lapis-static-targets)
  install(EXPORT ${export} NAMESPACE lapis:: DESTINATION ${package_dir})
endforeach()
