/* The library's scratch, which is one for the whole process: set before a function is called, and no
 * other's until it has returned. Device code. */
#ifndef TW_BACKENDS_ESP_NN_SCRATCH_H
#define TW_BACKENDS_ESP_NN_SCRATCH_H

/* Take it: 0 where another task is using it. Give it back when the call has returned. */
int tw_esp_nn_take(void);
void tw_esp_nn_give(void);

#endif
