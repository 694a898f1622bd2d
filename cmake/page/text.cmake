# -DFILES: the page's files; -DOUT: the C file to write. A zero byte ends each.
set(text "#include \"page.h\"\n")
foreach(file IN LISTS FILES)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "(0a',)" "\\1\n" bytes "${bytes}") # a line of the file a line
  cmake_path(GET file EXTENSION LAST_ONLY name)
  string(SUBSTRING ${name} 1 -1 name)
  string(APPEND text "\nconst char cli_page_${name}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
