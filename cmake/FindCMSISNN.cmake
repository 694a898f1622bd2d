# Finds CMSIS-NN, Arm's library of neural network kernels, which is not part of this project.
#
#   CMSIS_NN_DIR       variable or environment: a folder with
#                        Include/arm_nnfunctions.h           the library's headers, as in its sources
#                        lib/TARGET/libcmsis-nn.a            its archive built for TARGET, or
#                        lib/libcmsis-nn.a                   for the one target there is
#   CMSIS_NN_TARGET    TARGET above: host, m0, m4, m55 or any name; may be empty
#
# Defines CMSISNN_FOUND, CMSISNN_INCLUDE_DIR, CMSISNN_LIBRARY and the target CMSISNN::CMSISNN. The library
# must be built without CMSIS_NN_USE_SINGLE_ROUNDING: the results would differ from the host's.
if(NOT CMSIS_NN_DIR)
  set(CMSIS_NN_DIR "$ENV{CMSIS_NN_DIR}")
endif()
find_path(CMSISNN_INCLUDE_DIR arm_nnfunctions.h
  HINTS "${CMSIS_NN_DIR}" PATH_SUFFIXES Include include NO_CMAKE_FIND_ROOT_PATH)
find_library(CMSISNN_LIBRARY NAMES cmsis-nn libcmsis-nn.a
  HINTS "${CMSIS_NN_DIR}" PATH_SUFFIXES "lib/${CMSIS_NN_TARGET}" lib NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(CMSISNN_INCLUDE_DIR CMSISNN_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CMSISNN
  REQUIRED_VARS CMSISNN_LIBRARY CMSISNN_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Get CMSIS-NN from Arm (github.com/ARM-software/CMSIS-NN), build it for the \
target as its README says, and set CMSIS_NN_DIR to a folder with Include/arm_nnfunctions.h and \
lib/libcmsis-nn.a, or lib/TARGET/libcmsis-nn.a and CMSIS_NN_TARGET")

if(CMSISNN_FOUND AND NOT TARGET CMSISNN::CMSISNN)
  add_library(CMSISNN::CMSISNN STATIC IMPORTED)
  set_target_properties(CMSISNN::CMSISNN PROPERTIES
    IMPORTED_LOCATION "${CMSISNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CMSISNN_INCLUDE_DIR}")
endif()
