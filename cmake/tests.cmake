# Tests, derived from the tree: tests/unit/test_*.c is a program each, the rest are scripts. Data that
# is not the project's own is read from TILEWRIGHT_TEST_DATA or ../shared/data; a test that misses
# its data or tools says so and is reported as skipped (exit status 77).
file(GLOB TW_SUPPORT CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
file(GLOB TW_UNIT CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/test_*.c)
find_library(CMOCKA NAMES cmocka REQUIRED)
set(TW_TEST_DEFINITIONS _POSIX_C_SOURCE=200809L TW_TEST_WORK="${PROJECT_BINARY_DIR}/work")

add_library(tilewright-test-support STATIC ${TW_SUPPORT})
target_include_directories(tilewright-test-support PUBLIC tests)
target_compile_options(tilewright-test-support PRIVATE ${TW_HOST_FLAGS})
target_compile_definitions(tilewright-test-support PRIVATE ${TW_TEST_DEFINITIONS})
target_link_libraries(tilewright-test-support PUBLIC tilewright-host ${CMOCKA})

foreach(source IN LISTS TW_UNIT)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_compile_options(${name} PRIVATE ${TW_HOST_FLAGS})
  target_compile_definitions(${name} PRIVATE ${TW_TEST_DEFINITIONS})
  target_link_libraries(${name} PRIVATE tilewright-test-support)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endforeach()

# With CMSIS-NN built for this machine, its back end's test runs it (cmake/FindCMSISNN.cmake).
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
set(CMSIS_NN_TARGET host)
find_package(CMSISNN QUIET)
if(CMSISNN_FOUND AND TARGET test_cmsis_nn)
  target_link_libraries(test_cmsis_nn PRIVATE
    -Wl,--whole-archive ${CMSISNN_LIBRARY} -Wl,--no-whole-archive)
endif()
# The same with ESP-NN (cmake/FindESPNN.cmake).
set(ESP_NN_TARGET host)
find_package(ESPNN QUIET)
if(ESPNN_FOUND AND TARGET test_esp_nn)
  target_link_libraries(test_esp_nn PRIVATE
    -Wl,--whole-archive ${ESPNN_LIBRARY} -Wl,--no-whole-archive)
endif()

# Single-operator plans for test firmware (tests/device/qemu).
add_executable(device-pack tests/device/pack.c)
target_compile_options(device-pack PRIVATE ${TW_HOST_FLAGS})
target_compile_definitions(device-pack PRIVATE ${TW_TEST_DEFINITIONS})
target_link_libraries(device-pack PRIVATE tilewright-test-support m)

# The command line: tests/cli/test_*.c are programs that run the command under test.
file(GLOB TW_CLI_TESTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/test_*.c)
file(GLOB TW_CLI_SUPPORT CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/*.c)
if(TW_CLI)
  list(REMOVE_ITEM TW_CLI_SUPPORT ${TW_CLI_TESTS})
  foreach(source IN LISTS TW_CLI_TESTS)
    cmake_path(GET source STEM name)
    add_executable(${name} ${source} ${TW_CLI_SUPPORT})
    target_compile_options(${name} PRIVATE ${TW_HOST_FLAGS})
    target_link_libraries(${name} PRIVATE ${CMOCKA} ${JANSSON})
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS command
      ENVIRONMENT
      "TILEWRIGHT=${PROJECT_BINARY_DIR}/tilewright;TILEWRIGHT_SOURCE=${PROJECT_SOURCE_DIR}")
  endforeach()
endif()

# NAME COMMAND...: a script, with the command under test and a folder of its own in the environment.
function(tw_script_test name)
  set(work ${PROJECT_BINARY_DIR}/work/${name})
  file(MAKE_DIRECTORY ${work})
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1500 LABELS command
    ENVIRONMENT
    "TILEWRIGHT=${PROJECT_BINARY_DIR}/tilewright;DEVICE_PACK=$<TARGET_FILE:device-pack>;WORK=${work}")
endfunction()

if(TW_CLI)
  tw_script_test(demo scripts/demo)
  tw_script_test(digits tests/digits)
endif()

# Scripts that say nothing about the host's code need no second run under a sanitizer.
if(NOT TW_SANITIZED)
  tw_script_test(device-includes tests/device/includes)
  tw_script_test(device-languages tests/device/languages)
  tw_script_test(device-symbols-thumb tests/device/symbols thumb)
  tw_script_test(device-symbols-rv32 tests/device/symbols rv32)
  foreach(target m0 m4 m55 rv32)
    tw_script_test(math-bits-${target} tests/device/math-bits ${target})
  endforeach()
  if(TW_CLI)
    foreach(target m0 m4 m55 rv32)
      tw_script_test(qemu-${target} tests/device/qemu ${target})
    endforeach()
    tw_script_test(device-dumps tests/device/dumps)
    tw_script_test(firmware-builds tests/builds/check)
    tw_script_test(one-row tests/one_row/check)
    tw_script_test(esp-nn tests/esp_nn/check)
    if(ESP_NN_DIR)
      set_property(TEST esp-nn APPEND PROPERTY ENVIRONMENT "ESP_NN_DIR=${ESP_NN_DIR}")
    endif()
    tw_script_test(docs-current scripts/docs)
    set_tests_properties(docs-current PROPERTIES DEPENDS test_onnx_suite) # whose outcomes it compares
  endif()
endif()
