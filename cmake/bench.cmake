# Benchmarks, built by the target `bench` alone: bench/*.c. They print ratios against peers measured in
# the same run and are never tests. Meant for the preset release.
add_custom_target(bench)

# Posix with its older parts: mkstemp, wait4.
function(tw_bench name)
  add_executable(bench-${name} EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(bench-${name} PRIVATE bench)
  target_compile_options(bench-${name} PRIVATE ${TW_HOST_FLAGS})
  target_compile_definitions(bench-${name} PRIVATE _DEFAULT_SOURCE)
  target_link_libraries(bench-${name} PRIVATE tilewright-host)
  add_dependencies(bench bench-${name})
endfunction()

# The plain loops, twice, with the flags of the device code.
foreach(build scalar vectorised)
  add_library(bench-plain-${build} OBJECT EXCLUDE_FROM_ALL bench/plain.c)
  target_include_directories(bench-plain-${build} PRIVATE src include)
  target_compile_options(bench-plain-${build} PRIVATE ${TW_DEVICE_FLAGS} $<$<CONFIG:Release>:-O3>)
  target_compile_definitions(bench-plain-${build} PRIVATE TW_PLAIN_TABLE=tw_plain_${build})
endforeach()
target_compile_options(bench-plain-scalar PRIVATE -fno-tree-vectorize)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  target_compile_options(bench-plain-scalar PRIVATE -fno-slp-vectorize)
endif()

tw_bench(kernels bench/kernels.c bench/operator.c $<TARGET_OBJECTS:bench-plain-scalar>
  $<TARGET_OBJECTS:bench-plain-vectorised>)
tw_bench(model bench/model.c)
tw_bench(rolling bench/rolling.c)
tw_bench(compile bench/compile.c)
