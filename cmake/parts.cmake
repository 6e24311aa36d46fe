# Optional parts are files left out, never #ifdef.
#
#   lapis_part(IMAGES "image files and features"
#     MODULES libpng libjpeg               # pkg-config
#     HEADER vl/generic.h LIBRARY vl       # a library that has no .pc file
#     FILES images/image/png.c               # compiled when it is there
#     ABSENT images/image/png_absent.c)      # answers LAPIS_ENOTBUILT otherwise
#
# declares LAPIS_WITH_IMAGES, by default LAPIS_WITH_PARTS (OFF in the preset
# minimal).  Call it below, before lapis_choose_parts is used.

option(LAPIS_WITH_PARTS "Build the optional parts that can be found" ON)
set(LAPIS_PART_DEPENDENCIES "")
set(LAPIS_PART_MODULES "") # for those who link the static library
set(LAPIS_PART_LIBRARIES "") # the same, as -lNAME
set(LAPIS_FILES_LEFT_OUT "")

macro(lapis_part name what)
  cmake_parse_arguments(part "" "HEADER;LIBRARY" "MODULES;FILES;ABSENT"
    ${ARGN})
  option(LAPIS_WITH_${name} "Build ${what}" ${LAPIS_WITH_PARTS})
  if(LAPIS_WITH_${name})
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${part_MODULES})
  endif()
  if(${name}_FOUND AND part_LIBRARY)
    find_path(${name}_HEADER_FOLDER ${part_HEADER})
    find_library(${name}_LIBRARY_FILE ${part_LIBRARY})
    mark_as_advanced(${name}_HEADER_FOLDER ${name}_LIBRARY_FILE)
    if(${name}_HEADER_FOLDER AND ${name}_LIBRARY_FILE)
      list(APPEND LAPIS_PART_DEPENDENCIES ${part_LIBRARY})
      list(APPEND LAPIS_PART_LIBRARIES -l${part_LIBRARY})
    else()
      set(${name}_FOUND 0)
    endif()
  endif()
  if(LAPIS_WITH_${name} AND ${name}_FOUND)
    list(APPEND LAPIS_PART_DEPENDENCIES PkgConfig::${name})
    list(APPEND LAPIS_PART_MODULES ${part_MODULES})
    string(APPEND LAPIS_PART_LOOKUPS
      "  pkg_check_modules(${name} REQUIRED QUIET IMPORTED_TARGET "
      "${part_MODULES})\n")
    list(APPEND LAPIS_FILES_LEFT_OUT ${part_ABSENT})
  else()
    message(STATUS "Without ${what} (LAPIS_WITH_${name}: ${part_MODULES})")
    list(APPEND LAPIS_FILES_LEFT_OUT ${part_FILES})
  endif()
endmacro()

# One BLAS; the others' files are left out.
foreach(blas openblas reference)
  if(NOT blas STREQUAL LAPIS_BLAS)
    list(APPEND LAPIS_FILES_LEFT_OUT src/la/host/blas_${blas}.c)
  endif()
endforeach()

# Plain "hdf5" may be the build for MPI: only the serial one is taken.
lapis_part(HDF5 "HDF5 and MATLAB 7.3 files (Debian: libhdf5-dev)"
  MODULES hdf5-serial
  FILES src/files/matlab/hdf5.c src/files/matlab/hdf5_apart.c
  ABSENT src/files/matlab/hdf5_absent.c)

# VLFeat's own package has neither a .pc file nor a static library.
if(LAPIS_IMAGES)
  lapis_part(IMAGES
    "PNG, JPEG, HOG, SIFT (Debian: libpng-dev libjpeg62-turbo-dev libvlfeat-dev)"
    MODULES libpng libjpeg
    HEADER vl/generic.h LIBRARY vl
    FILES images/image/png.c images/image/jpeg.c images/features/hog_vl.c
      images/features/sift_vl.c images/places/slic.c
    ABSENT images/image/png_absent.c images/image/jpeg_absent.c
      images/features/hog_absent.c images/features/sift_absent.c images/places/slic_absent.c)
endif()

# Removes what is left out from a list of absolute paths.
function(lapis_choose_parts list)
  foreach(file IN LISTS LAPIS_FILES_LEFT_OUT)
    list(REMOVE_ITEM ${list} ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# lapis_plugin(opencl "devices" MODULES OpenCL FILES plugin/opencl.c) makes
# lapis-opencl.so, a library of its own, where the modules are there, of which
# there may be none; OUTPUT names the file where it is another.
function(lapis_plugin name what)
  cmake_parse_arguments(plugin "" "OUTPUT" "MODULES;FILES" ${ARGN})
  if(NOT plugin_OUTPUT)
    set(plugin_OUTPUT lapis-${name})
  endif()
  string(TOUPPER ${name} part)
  option(LAPIS_WITH_${part} "Build ${what}" ${LAPIS_WITH_PARTS})
  set(modules "")
  if(LAPIS_WITH_${part} AND plugin_MODULES)
    pkg_check_modules(${part} QUIET IMPORTED_TARGET ${plugin_MODULES})
    set(modules PkgConfig::${part})
  endif()
  if(NOT LAPIS_WITH_${part} OR (plugin_MODULES AND NOT ${part}_FOUND))
    message(STATUS "Without ${what} (LAPIS_WITH_${part}: ${plugin_MODULES})")
    return()
  endif()
  add_library(lapis_plugin_${name} MODULE ${plugin_FILES})
  target_include_directories(lapis_plugin_${name} PRIVATE include src .)
  target_link_libraries(lapis_plugin_${name} PRIVATE
    lapis_flags ${modules} ${CMAKE_DL_LIBS})
  set_target_properties(lapis_plugin_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${plugin_OUTPUT}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(LAPIS_INSTALL)
    install(TARGETS lapis_plugin_${name} LIBRARY
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/lapis COMPONENT plugin_${name})
  endif()
endfunction()
