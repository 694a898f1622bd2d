# Toolchain: RISC-V microcontrollers with 32-bit integers and no floating-point unit.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(TW_TARGETS rv32)
set(TW_FLAGS_rv32 -march=rv32imc -mabi=ilp32 -mcmodel=medany)
set(TW_FIRMWARE_rv32 rv32.c rv32.ld)
# The compiler keeps its 32-bit arithmetic library under the plain architecture's name.
set(TW_LINK_rv32 -march=rv32imc)
