# Files of the project as one C file of texts: tw_firmware_files (src/emit/firmware/sources.h).
# -DROOT: the project; -DLIST: a file that names the files, one a line; -DOUT: what to write.
file(STRINGS ${LIST} files)
list(SORT files)
set(texts "")
set(rows "")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "?" "\\?" text "${text}") # no trigraphs
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE name)
  string(APPEND texts "static const char text_${count}[] = \"${text}\";\n")
  string(APPEND rows "    {\"${name}\", text_${count}, sizeof text_${count} - 1},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUT} "#include \"emit/firmware/sources.h\"

${texts}
const tw_firmware_file tw_firmware_files[] = {
${rows}};
const int tw_firmware_file_count = ${count};
")
