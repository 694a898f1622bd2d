# What each device object defines and needs: tw_firmware_objects (src/emit/firmware/sources.h).
# -DNM: the tool; -DLIST: a file that names the objects, one a line; -DOUT: what to write.
file(STRINGS ${LIST} objects)
list(SORT objects)
set(rows "")
set(count 0)
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} -g ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\\.o(bj)?$" "" source "${object}")
  string(REGEX REPLACE "^.*/tilewright-device\\.dir/(\\./)?" "" source "${source}")
  string(REGEX MATCHALL "[A-Z] _?tw_[A-Za-z0-9_]+" symbols "${symbols}")
  set(defines " ")
  set(needs " ")
  foreach(symbol IN LISTS symbols)
    string(REGEX REPLACE "^. _?" "" name "${symbol}")
    if(symbol MATCHES "^U")
      string(APPEND needs "${name} ")
    else()
      string(APPEND defines "${name} ")
    endif()
  endforeach()
  string(APPEND rows "    {\"${source}\", \"${defines}\", \"${needs}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUT} "#include \"emit/firmware/sources.h\"

const tw_firmware_object tw_firmware_objects[] = {
${rows}};
const int tw_firmware_object_count = ${count};
")
