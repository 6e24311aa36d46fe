# Debian packages: cpack in a build of the preset "package".  Each has its own
# files, what it needs, and the licence.
set(LAPIS_MAINTAINER "The LAPIS authors <nobody@lapis.invalid>" CACHE STRING
  "Who answers for the Debian packages: Name <address>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${LAPIS_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_COMPONENTS_ALL command library development python)
if(TARGET lapis_plugin_mpi)
  list(APPEND CPACK_COMPONENTS_ALL plugin_mpi)
endif()
if(TARGET lapis_plugin_mpich)
  list(APPEND CPACK_COMPONENTS_ALL plugin_mpich)
endif()
if(TARGET lapis_plugin_opencl)
  list(APPEND CPACK_COMPONENTS_ALL plugin_opencl)
endif()
if(TARGET lapis_plugin_cuda)
  list(APPEND CPACK_COMPONENTS_ALL plugin_cuda)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME lapis)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS
  "lapis-opencl, lapis-cuda, lapis-mpi-openmpi | lapis-mpi-mpich")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
  "Low-rank and privileged-information solvers: the command
 Learns from visual data as it really is: labels missing or wrong, features
 occluded or absent, extra information that exists only at training time.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liblapis${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS
  "lapis-opencl, lapis-cuda, lapis-mpi-openmpi | lapis-mpi-mpich")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "Low-rank and privileged-information solvers: the shared library")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblapis-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "liblapis${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${LAPIS_BLAS_PACKAGE}, "
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
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-mpi4py)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
  "Low-rank and privileged-information solvers: Python package
 Estimators that behave like scikit-learn's over the shared library.")
# Opened at run time where they are there; nothing links them.
set(CPACK_DEBIAN_PLUGIN_MPI_PACKAGE_NAME lapis-mpi-openmpi)
set(CPACK_DEBIAN_PLUGIN_MPI_PACKAGE_ENHANCES
  "lapis, liblapis${PROJECT_VERSION_MAJOR}")
set(CPACK_DEBIAN_PLUGIN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_COMPONENT_PLUGIN_MPI_DESCRIPTION
  "Low-rank and privileged-information solvers: processes of Open MPI
 A plug-in for lapis and its library: samples divided by mpirun.")
set(CPACK_DEBIAN_PLUGIN_MPICH_PACKAGE_NAME lapis-mpi-mpich)
set(CPACK_DEBIAN_PLUGIN_MPICH_PACKAGE_ENHANCES
  "lapis, liblapis${PROJECT_VERSION_MAJOR}")
set(CPACK_DEBIAN_PLUGIN_MPICH_PACKAGE_RECOMMENDS mpich)
set(CPACK_COMPONENT_PLUGIN_MPICH_DESCRIPTION
  "Low-rank and privileged-information solvers: processes of MPICH
 A plug-in for lapis and its library: samples divided by mpirun.")
set(CPACK_DEBIAN_PLUGIN_OPENCL_PACKAGE_NAME lapis-opencl)
set(CPACK_DEBIAN_PLUGIN_OPENCL_PACKAGE_ENHANCES
  "lapis, liblapis${PROJECT_VERSION_MAJOR}")
set(CPACK_DEBIAN_PLUGIN_OPENCL_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PLUGIN_OPENCL_PACKAGE_SUGGESTS "libclblast1")
set(CPACK_COMPONENT_PLUGIN_OPENCL_DESCRIPTION
  "Low-rank and privileged-information solvers: devices by OpenCL
 A plug-in for lapis and its library: mc, rpca, rr, rlda and clean on a GPU.")
set(CPACK_DEBIAN_PLUGIN_CUDA_PACKAGE_NAME lapis-cuda)
set(CPACK_DEBIAN_PLUGIN_CUDA_PACKAGE_ENHANCES
  "lapis, liblapis${PROJECT_VERSION_MAJOR}")
set(CPACK_COMPONENT_PLUGIN_CUDA_DESCRIPTION
  "Low-rank and privileged-information solvers: devices of NVIDIA
 A plug-in for lapis and its library, which opens the CUDA that is installed.")

# ---- copyright: LICENSE as a field of Debian's format has it -----------------
file(READ LICENSE text)
string(REGEX REPLACE "^.*\n\nPermission" "Permission" text "${text}")
string(STRIP "${text}" text)
string(REPLACE "\n" "\n " text " ${text}")
string(REPLACE "\n \n" "\n .\n" LAPIS_LICENSE_TEXT "${text}")
configure_file(cmake/copyright.in copyright @ONLY)
# ---- changelog: in Debian's format, a line that points at ours ---------------
execute_process(COMMAND date -u -d ${LAPIS_DATE} -R
  OUTPUT_VARIABLE LAPIS_PACKAGE_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)
configure_file(cmake/changelog.in changelog @ONLY)
execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/changelog)
set(CPACK_PRE_BUILD_SCRIPTS
  ${PROJECT_SOURCE_DIR}/cmake/compress-manual.cmake)
# The library's package asks for ldconfig by a trigger.
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  install(FILES ${PROJECT_BINARY_DIR}/copyright
      ${PROJECT_BINARY_DIR}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

include(CPack)
