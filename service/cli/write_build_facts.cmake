# Writes OUTPUT with the commit of SOURCE_DIR, touching it only when that changed.
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(commit "")
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit "unknown commit")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define ESPALIER_COMMIT \"@commit@\"\n" @ONLY)
