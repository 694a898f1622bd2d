# The page that `tilewright report` writes, inside the command: the files of cli/page/ as arrays of bytes
# (cli/page.h), cli_page_NAME for page.NAME.
file(GLOB TW_PAGE CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/page/page.*)
set(TW_PAGE_SOURCES ${PROJECT_BINARY_DIR}/generated/page_text.c)
add_custom_command(
  OUTPUT ${TW_PAGE_SOURCES}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${TW_PAGE}" -DOUT=${TW_PAGE_SOURCES}
    -P ${PROJECT_SOURCE_DIR}/cmake/page/text.cmake
  DEPENDS ${TW_PAGE} ${PROJECT_SOURCE_DIR}/cmake/page/text.cmake
  VERBATIM)
