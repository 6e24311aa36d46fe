# The Python package: installed where the Python of the prefix looks.  What
# lies under /usr is Debian's, under /usr/local the administrator's; elsewhere
# (a home folder, a virtual environment) it is site-packages.
find_program(LAPIS_PYTHON python3)
set(python_version 3)
if(LAPIS_PYTHON)
  execute_process(COMMAND ${LAPIS_PYTHON} -c
    "import sys; print('%d.%d' % sys.version_info[:2])"
    OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
install(CODE "
  set(lapis_python_folder lib/python${python_version}/site-packages)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr/?$\")
    set(lapis_python_folder lib/python3/dist-packages)
  elseif(CMAKE_INSTALL_PREFIX MATCHES \"/usr/local/?$\")
    set(lapis_python_folder lib/python${python_version}/dist-packages)
  endif()" COMPONENT python)
install(DIRECTORY python/lapis DESTINATION "\${lapis_python_folder}"
  COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
