# Toolchain: Arm microcontrollers. TW_TARGETS lists target,flags...; one set of objects is built each.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(TW_TARGETS m0 m4 m55)
set(TW_FLAGS_m0 -mthumb -mcpu=cortex-m0)
set(TW_FLAGS_m4 -mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16)
set(TW_FLAGS_m55 -mthumb -mcpu=cortex-m55 -mfloat-abi=hard)
# Only for whole firmware (scripts/test-device): its instructions are the M4's.
set(TW_FLAGS_m7 -mthumb -mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16)
# Firmware for QEMU: start-up code and linker script in tests/device/.
set(TW_FIRMWARE_m0 cortex-m.c mps2.ld)
set(TW_FIRMWARE_m4 cortex-m.c mps2.ld)
set(TW_FIRMWARE_m55 cortex-m.c mps3.ld)
set(TW_FIRMWARE_m7 cortex-m.c mps2.ld)
