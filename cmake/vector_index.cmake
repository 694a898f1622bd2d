# Which operators occur in which src/ops/*.txt: a table for `tilewright ops`.
set(TW_VECTOR_INDEX ${PROJECT_BINARY_DIR}/generated/vector_index.c)
file(GLOB vectors CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.txt)
set(rows "")
foreach(path IN LISTS vectors)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  cmake_path(GET path FILENAME file)
  file(STRINGS ${path} lines REGEX "= *[A-Z][A-Za-z0-9]* *[(\"]")
  set(operators "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "= *([A-Z][A-Za-z0-9]*) *[(\"]" found "${line}")
    list(APPEND operators ${CMAKE_MATCH_1})
  endforeach()
  list(REMOVE_DUPLICATES operators)
  foreach(operator IN LISTS operators)
    string(APPEND rows "    {\"${operator}\", \"${file}\"},\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${TW_VECTOR_INDEX} CONTENT "#include \"vector_index.h\"

const tw_vector_index_row tw_vector_index[] = {
${rows}    {NULL, NULL},
};
const size_t tw_vector_index_count = sizeof tw_vector_index / sizeof *tw_vector_index - 1;
")
