# The sources that `tilewright codegen` writes into a firmware, inside the command: every device source and
# header, and the templates. Two generated files: their text, and which symbols each object defines and
# needs, as the linker sees them.
file(GLOB_RECURSE TW_DEVICE_HEADERS CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/tilewright/runtime.h
  ${PROJECT_SOURCE_DIR}/src/runtime/*.h
  ${PROJECT_SOURCE_DIR}/src/ops/*.h ${PROJECT_SOURCE_DIR}/src/ops/*.def
  ${PROJECT_SOURCE_DIR}/src/backends/*.h ${PROJECT_SOURCE_DIR}/src/backends/*.def)
list(FILTER TW_DEVICE_HEADERS EXCLUDE REGEX "/interface/")
file(GLOB_RECURSE TW_TEMPLATES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/emit/firmware/templates/*)
file(GLOB TW_FINDERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/Find*.cmake)
set(files ${TW_DEVICE} ${TW_DEVICE_HEADERS} ${TW_FINDERS} ${TW_TEMPLATES})
set(generated ${PROJECT_BINARY_DIR}/generated)
file(GENERATE OUTPUT ${generated}/firmware_files.txt CONTENT "$<JOIN:${files},\n>")
file(GENERATE OUTPUT ${generated}/firmware_objects.txt CONTENT
  "$<JOIN:$<TARGET_OBJECTS:tilewright-device>,\n>")

add_custom_command(
  OUTPUT ${generated}/firmware_text.c
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${generated}/firmware_files.txt
    -DOUT=${generated}/firmware_text.c -P ${PROJECT_SOURCE_DIR}/cmake/firmware/text.cmake
  DEPENDS ${files} ${generated}/firmware_files.txt ${PROJECT_SOURCE_DIR}/cmake/firmware/text.cmake
  VERBATIM)
add_custom_command(
  OUTPUT ${generated}/firmware_symbols.c
  COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIST=${generated}/firmware_objects.txt
    -DOUT=${generated}/firmware_symbols.c -P ${PROJECT_SOURCE_DIR}/cmake/firmware/symbols.cmake
  DEPENDS tilewright-device $<TARGET_OBJECTS:tilewright-device> ${PROJECT_SOURCE_DIR}/cmake/firmware/symbols.cmake
  VERBATIM)
set(TW_FIRMWARE_SOURCES ${generated}/firmware_text.c ${generated}/firmware_symbols.c)
set_source_files_properties(${generated}/firmware_text.c PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
