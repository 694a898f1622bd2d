/* Who uses the library's scratch. The library keeps its address in a variable of its own, so two
 * contexts that run at the same time, in two tasks or on two cores, would write into each other's; the
 * second is refused instead. This is the one variable of the device code, because the library's is.
 *
 * Where the processor has no atomic exchange the library has no function that uses scratch either; a
 * plain flag is enough there. */
#include "backends/esp_nn/scratch.h"

static int taken;

#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_4
int tw_esp_nn_take(void)
{
    return __atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE) == 0;
}

void tw_esp_nn_give(void)
{
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}
#else
int tw_esp_nn_take(void)
{
    const int was = taken;
    taken = 1;
    return was == 0;
}

void tw_esp_nn_give(void)
{
    taken = 0;
}
#endif
