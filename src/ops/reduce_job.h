/* What the reduction kernels of every type share: the walk, its check, and the functions that a type's
 * arithmetic becomes. Device code. */
#ifndef TW_OPS_REDUCE_JOB_H
#define TW_OPS_REDUCE_JOB_H

#include "ops/codes.h"
#include "ops/reduce.h"

/* One type of one reduction. Steps in bytes; an accumulator's step is 0 where all elements go into
 * the same one. */
typedef struct tw_fold {
    uint32_t accumulator_bytes;
    void (*begin)(void *accumulators, int32_t n);
    void (*step)(const tw_call *call, char *accumulator, ptrdiff_t accumulator_step, const char *x,
                 ptrdiff_t x_step, int32_t n);
    void (*finish)(const tw_call *call, int32_t count, char *out, ptrdiff_t out_step,
                   const char *accumulator, ptrdiff_t accumulator_step, int32_t n);
} tw_fold;

/* The views of the call from end to end. */
tw_status tw_reduce_run(const tw_call *call, const tw_fold *fold);

/* with_table: int8, which may have one. Rows of TW_FOLD_S8 have tables of their own: reduce_s8.rt.c. */
tw_status tw_reduce_check(const tw_call *call, const tw_fold *fold, uint32_t dtype, int with_table,
                          uint64_t *work);

/* symbol_signature_fold and .._run, from the expressions of reduce.def. CLAMP_signature must be defined. */
#define TW_FOLD_LOOPS(symbol, signature, element, accumulator, initial, expression, result)        \
    static void symbol##_##signature##_begin(void *accumulators, int32_t n)                        \
    {                                                                                              \
        accumulator *to = (accumulator *)accumulators;                                             \
        int32_t i;                                                                                 \
        for (i = 0; i < n; i++)                                                                    \
            to[i] = initial;                                                                       \
    }                                                                                              \
    static void symbol##_##signature##_step(const tw_call *call, char *to, ptrdiff_t to_step,      \
                                            const char *from, ptrdiff_t from_step, int32_t n)      \
    {                                                                                              \
        accumulator a = *(accumulator *)(void *)to;                                                \
        int32_t i;                                                                                 \
        (void)call;                                                                                \
        if (to_step == 0) {                                                                        \
            for (i = 0; i < n; i++, from += from_step) {                                           \
                const element x = *(const element *)(const void *)from;                            \
                a = expression;                                                                    \
            }                                                                                      \
            *(accumulator *)(void *)to = a;                                                        \
        } else {                                                                                   \
            for (i = 0; i < n; i++, from += from_step, to += to_step) {                            \
                const element x = *(const element *)(const void *)from;                            \
                a = *(accumulator *)(void *)to;                                                    \
                a = expression;                                                                    \
                *(accumulator *)(void *)to = a;                                                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void symbol##_##signature##_finish(const tw_call *call, int32_t count, char *to,        \
                                              ptrdiff_t to_step, const char *from,                 \
                                              ptrdiff_t from_step, int32_t n)                      \
    {                                                                                              \
        int32_t i;                                                                                 \
        (void)call;                                                                                \
        (void)count;                                                                               \
        for (i = 0; i < n; i++, to += to_step, from += from_step) {                                \
            const accumulator a = *(const accumulator *)(const void *)from;                        \
            *(element *)(void *)to = (element)CLAMP_##signature(result);                           \
        }                                                                                          \
    }                                                                                              \
    static const tw_fold symbol##_##signature##_fold = {                                           \
        sizeof(accumulator), symbol##_##signature##_begin, symbol##_##signature##_step,            \
        symbol##_##signature##_finish};                                                            \
    static tw_status symbol##_##signature##_run(const tw_call *call)                               \
    {                                                                                              \
        return tw_reduce_run(call, &symbol##_##signature##_fold);                                  \
    }

/* With .._check; TYPE_signature must be defined, too. */
#define TW_FOLD_FUNCTIONS(symbol, signature, element, accumulator, initial, expression, result)    \
    TW_FOLD_LOOPS(symbol, signature, element, accumulator, initial, expression, result)            \
    static tw_status symbol##_##signature##_check(const tw_call *call, uint64_t *work)             \
    {                                                                                              \
        return tw_reduce_check(call, &symbol##_##signature##_fold, TYPE_##signature,               \
                               TW_SIG_##signature == TW_SIG_s8, work);                             \
    }

/* With the record of the kernel. */
#define TW_FOLD_KERNEL(symbol, signature, element, accumulator, initial, expression, result)       \
    TW_FOLD_FUNCTIONS(symbol, signature, element, accumulator, initial, expression, result)        \
    TW_KERNEL(symbol, signature, symbol##_##signature##_run, symbol##_##signature##_check);

#endif
