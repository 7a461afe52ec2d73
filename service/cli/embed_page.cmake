# Writes OUTPUT, a header with the page of SOURCE_DIR in two parts: what stands before the data and
# what stands behind it.
cmake_minimum_required(VERSION 3.25)
file(READ ${SOURCE_DIR}/page.html page)
file(READ ${SOURCE_DIR}/page.css style)
set(script "")
foreach(name tree_map drawing atlas page)
  file(READ ${SOURCE_DIR}/${name}.js part)
  string(APPEND script "${part}\n")
endforeach()
string(REPLACE "<!-- style -->" "${style}" page "${page}")
string(REPLACE "<!-- script -->" "${script}" page "${page}")
string(FIND "${page}" "<!-- data -->" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR after "${at} + 13")
string(SUBSTRING "${page}" ${after} -1 behind)
file(WRITE ${OUTPUT} "// Made by embed_page.cmake.\n#pragma once\n\n#include <string_view>\n
namespace espalier {\n
inline constexpr std::string_view kPageBeforeData = R\"page(${before})page\";
inline constexpr std::string_view kPageBehindData = R\"page(${behind})page\";\n
}  // namespace espalier\n")
