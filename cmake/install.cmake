# Libraries, headers, command, bundled data, lapis.pc, CMake package, manual
# pages, completions, Python package; in four components, which cpack makes
# packages of.
include(CMakePackageConfigHelpers)

# What the command says about itself, written when it is built.
set(generated ${PROJECT_BINARY_DIR}/generated)
add_custom_command(TARGET lapis_command POST_BUILD
  COMMAND ${PROJECT_SOURCE_DIR}/tools/write-generated
    $<TARGET_FILE:lapis_command> ${generated}
  COMMENT "Writing manual pages and completions" VERBATIM)

# ---- the command -----------------------------------------------------------
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

# ---- the shared library, and what is needed to build with it -----------------
install(TARGETS lapis EXPORT lapis-targets LIBRARY
  COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS lapis_static EXPORT lapis-static-targets
  ARCHIVE COMPONENT development)
install(DIRECTORY include/lapis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)

# The .pc file finds its own prefix, so that an installation can be moved.
file(RELATIVE_PATH prefix_from_pc
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(JOIN LAPIS_PART_MODULES " " LAPIS_PART_MODULES_TEXT)
list(JOIN LAPIS_PART_LIBRARIES " " LAPIS_PART_LIBRARIES_TEXT)
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

include(cmake/python.cmake)

# ---- packages: cpack in a build of the preset "package" ----------------------
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The LAPIS authors <lapis@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_COMPONENTS_ALL command library development python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME lapis)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
  "Low-rank and privileged-information solvers: the command
 Learns from visual data as it really is: labels missing or wrong, features
 occluded or absent, extra information that exists only at training time.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liblapis${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "Low-rank and privileged-information solvers: the shared library")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblapis-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "liblapis${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libopenblas-dev, "
  "liblapacke-dev, libzip-dev, zlib1g-dev, libjansson-dev") # if static
if(HDF5_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libhdf5-dev")
endif()
if(IMAGES_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libpng-dev, "
    "libjpeg62-turbo-dev, libvlfeat-dev")
endif()
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Low-rank and privileged-information solvers: headers, static library")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-lapis)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "python3, python3-numpy, liblapis${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-sklearn, python3-matplotlib")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
  "Low-rank and privileged-information solvers: Python package
 Estimators that behave like scikit-learn's over the shared library.")
include(CPack)
