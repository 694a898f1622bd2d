# Which operators are named in which test data: a table for `tilewright ops`. Names of the IR as they are,
# those of other systems behind SYSTEM and a dot.
set(TW_VECTOR_INDEX ${PROJECT_BINARY_DIR}/generated/vector_index.c)
set(rows "")

# PATH..., shown as the path relative to BASE: a row for each name that REGEX finds, PREFIX in front.
function(tw_index_names base prefix regex)
  foreach(path IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/${base} OUTPUT_VARIABLE file)
    file(STRINGS ${path} lines REGEX "${regex}")
    set(operators "")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "${regex}" found "${line}")
      list(APPEND operators ${CMAKE_MATCH_1})
    endforeach()
    list(REMOVE_DUPLICATES operators)
    foreach(operator IN LISTS operators)
      string(APPEND rows "    {\"${prefix}${operator}\", \"${file}\"},\n")
    endforeach()
  endforeach()
  set(rows "${rows}" PARENT_SCOPE)
endfunction()

set(text "= *([A-Z][A-Za-z0-9]*) *[(\"]")
set(dotted "= *([a-z_]+[.][A-Z][A-Za-z0-9]*) *[(\"]")
file(GLOB vectors CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.txt)
tw_index_names(src/ops "" "${text}" ${vectors})
file(GLOB vectors CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/import/foreign/*/*.txt)
tw_index_names(src/import/foreign "" "${dotted}" ${vectors})
file(GLOB cases CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/data/onnx-*.txt)
tw_index_names(tests/data "onnx." "^node ([A-Za-z0-9]+)" ${cases})
# Models of one operator are named after it.
file(GLOB models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/data/tflite-*/*.tflite
     ${PROJECT_SOURCE_DIR}/tests/data/tflite-*/*/*.tflite)
foreach(path IN LISTS models)
  cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/data OUTPUT_VARIABLE file)
  string(REGEX REPLACE "^[^/]*/([^/.]*).*" "\\1" name "${file}")
  string(TOUPPER "${name}" name)
  string(APPEND rows "    {\"tflite.${name}\", \"${file}\"},\n")
endforeach()

file(CONFIGURE OUTPUT ${TW_VECTOR_INDEX} CONTENT "#include \"vector_index.h\"

const tw_vector_index_row tw_vector_index[] = {
${rows}    {NULL, NULL},
};
const size_t tw_vector_index_count = sizeof tw_vector_index / sizeof *tw_vector_index - 1;
")
