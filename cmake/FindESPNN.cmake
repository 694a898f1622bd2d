# Finds ESP-NN, Espressif's library of neural network kernels, which is not part of this project. Builds
# under ESP-IDF need no finder: there it is the component espressif/esp-nn.
#
#   ESP_NN_DIR       variable or environment: a folder with
#                      include/esp_nn.h                the library's headers, as in its sources
#                      lib/TARGET/libesp-nn.a          its archive built for TARGET, or
#                      lib/libesp-nn.a                 for the one target there is
#   ESP_NN_TARGET    TARGET above: host, esp32s3 or any name; may be empty
#
# Defines ESPNN_FOUND, ESPNN_INCLUDE_DIR, ESPNN_LIBRARY and the target ESPNN::ESPNN. The library must be
# built without NN_SKIP_NUDGE: the results would differ from the host's.
if(NOT ESP_NN_DIR)
  set(ESP_NN_DIR "$ENV{ESP_NN_DIR}")
endif()
find_path(ESPNN_INCLUDE_DIR esp_nn.h
  HINTS "${ESP_NN_DIR}" PATH_SUFFIXES include NO_CMAKE_FIND_ROOT_PATH)
find_library(ESPNN_LIBRARY NAMES esp-nn libesp-nn.a
  HINTS "${ESP_NN_DIR}" PATH_SUFFIXES "lib/${ESP_NN_TARGET}" lib NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(ESPNN_INCLUDE_DIR ESPNN_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ESPNN
  REQUIRED_VARS ESPNN_LIBRARY ESPNN_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Get ESP-NN from Espressif (github.com/espressif/esp-nn), build it for the \
target (under ESP-IDF: the component espressif/esp-nn), and set ESP_NN_DIR to a folder with \
include/esp_nn.h and lib/libesp-nn.a, or lib/TARGET/libesp-nn.a and ESP_NN_TARGET")

if(ESPNN_FOUND AND NOT TARGET ESPNN::ESPNN)
  add_library(ESPNN::ESPNN STATIC IMPORTED)
  set_target_properties(ESPNN::ESPNN PROPERTIES
    IMPORTED_LOCATION "${ESPNN_LIBRARY}"
    INTERFACE_LINK_LIBRARIES m
    INTERFACE_INCLUDE_DIRECTORIES "${ESPNN_INCLUDE_DIR}")
endif()
