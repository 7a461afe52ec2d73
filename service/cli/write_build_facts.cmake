# Writes OUTPUT with the version and the commit of SOURCE_DIR, touching it only when they changed.
#
# The version is that of the tag at the commit: v1.2.3 makes 1.2.3, and 4 commits later it is 1.2.3+4.
# Where no tag leads to the commit, or nothing is known of it, it is BASE_VERSION-dev. An archive made
# by `git archive` says in version.txt what git would.
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(tag "")
set(commit "")
if(EXISTS ${SOURCE_DIR}/.git AND Git_FOUND)
  # One question each: a description by a tag has no commit in it where the tag is at the commit.
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} describe --tags --match v[0-9]* --abbrev=12
    OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
            --exclude *
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else()
  file(STRINGS ${SOURCE_DIR}/version.txt archived)
  foreach(line ${archived})
    if(line MATCHES "^tag: (v[0-9].*)$")
      set(tag ${CMAKE_MATCH_1})
    elseif(line MATCHES "^commit: ([0-9a-f]+)$")
      string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
    endif()
  endforeach()
endif()
if(NOT commit)
  set(commit "unknown commit")
endif()
if(tag MATCHES "^v(.+)-([0-9]+)-g[0-9a-f]+$")
  set(version "${CMAKE_MATCH_1}+${CMAKE_MATCH_2}")
elseif(tag MATCHES "^v(.+)$")
  set(version ${CMAKE_MATCH_1})
else()
  set(version "${BASE_VERSION}-dev")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY
  CONTENT "#define ESPALIER_VERSION \"@version@\"\n#define ESPALIER_COMMIT \"@commit@\"\n")
