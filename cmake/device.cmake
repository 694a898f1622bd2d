# Device code for every target of the toolchain file, at -Os and -O2: one archive each, named
# TARGET-LEVEL (m4-Os, m4-O2, ...). With TW_FIRMWARE_CASES (a list of folders, each with plan.twp,
# input.bin and expected.bin, or pack.bin) also firmware that runs it: NAME-TARGET. TW_ONLY: one target; TW_LEVELS: other levels.
# TW_WITH_CMSIS_NN: a folder with Include/ and lib/TARGET/libcmsis-nn.a, whose kernels are linked too.
if(NOT TW_LEVELS)
  set(TW_LEVELS Os O2)
endif()
if(TW_ONLY)
  set(TW_TARGETS ${TW_ONLY})
endif()
if(TW_WITH_CMSIS_NN)
  list(FILTER TW_ADAPTERS EXCLUDE REGEX "/cmsis_nn/")
endif()
list(REMOVE_ITEM TW_DEVICE ${TW_ADAPTERS})
foreach(target IN LISTS TW_TARGETS)
  foreach(level IN LISTS TW_LEVELS)
    add_library(${target}-${level} STATIC ${TW_DEVICE})
    target_include_directories(${target}-${level} PUBLIC include src)
    target_compile_options(${target}-${level} PUBLIC ${TW_FLAGS_${target}} PRIVATE
      -${level} -ffunction-sections -fdata-sections ${TW_DEVICE_FLAGS})
    if(TW_WITH_CMSIS_NN)
      target_include_directories(${target}-${level} SYSTEM PUBLIC ${TW_WITH_CMSIS_NN}/Include
        ${PROJECT_SOURCE_DIR}/tests/device/libc)
      target_compile_definitions(${target}-${level} PUBLIC TW_WITH_CMSIS_NN)
      string(REPLACE m7 m4 built ${target}) # one archive serves both
      target_link_libraries(${target}-${level} PUBLIC ${TW_WITH_CMSIS_NN}/lib/${built}/libcmsis-nn.a)
    endif()
  endforeach()
endforeach()

foreach(case IN LISTS TW_FIRMWARE_CASES)
  cmake_path(GET case FILENAME name)
  foreach(target IN LISTS TW_TARGETS)
    if(NOT TW_FIRMWARE_${target})
      continue()
    endif()
    list(GET TW_FIRMWARE_${target} 0 startup)
    list(GET TW_FIRMWARE_${target} 1 script)
    set(folder ${PROJECT_SOURCE_DIR}/tests/device)
    add_executable(${name}-${target} ${folder}/harness.c ${folder}/libc.c ${folder}/case.c
      ${folder}/${startup})
    # -fno-tree-loop-distribute-patterns: libc.c defines memcpy and must not call it from there.
    target_compile_options(${name}-${target} PRIVATE -std=gnu99 -O2 -ffreestanding
      -fno-tree-loop-distribute-patterns ${TW_NUMERICS} -Wall -Wextra -Werror)
    target_compile_definitions(${name}-${target} PRIVATE TW_CASE="${case}")
    set(files ${case}/plan.twp ${case}/input.bin ${case}/expected.bin)
    if(EXISTS ${case}/pack.bin)
      target_compile_definitions(${name}-${target} PRIVATE TW_PACK)
      set(files ${case}/pack.bin)
    endif()
    target_include_directories(${name}-${target} PRIVATE ${case})
    set_property(SOURCE ${folder}/case.c APPEND PROPERTY OBJECT_DEPENDS ${files})
    set_target_properties(${name}-${target} PROPERTIES SUFFIX .elf LINK_DEPENDS ${folder}/${script})
    target_link_options(${name}-${target} PRIVATE ${TW_FLAGS_${target}} ${TW_LINK_${target}} -nostdlib -nostartfiles
      -T ${folder}/${script} -Wl,--gc-sections)
    target_link_libraries(${name}-${target} PRIVATE ${target}-O2 gcc)
  endforeach()
endforeach()
