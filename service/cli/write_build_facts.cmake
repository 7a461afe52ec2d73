# Writes OUTPUT with the version and the commit of SOURCE_DIR, as release/version.sh has them, touching
# it only when they changed.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../release/version.sh ${SOURCE_DIR}
  OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" facts "${facts}")
list(GET facts 0 version)
list(GET facts 1 commit)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY
  CONTENT "#define ESPALIER_VERSION \"@version@\"\n#define ESPALIER_COMMIT \"@commit@\"\n")
