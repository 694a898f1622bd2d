/* Any bytes as a plan: checksums are made right first, so that the fuzzer reaches what lies behind
 * them. The loader refuses, or the plan runs inside its arenas; these are allocated to the byte, so
 * that the address sanitizer sees the first byte outside. */
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"
#include "runtime/plan.h"

enum { LARGEST_PLAN = 1 << 20, LARGEST_ARENA = 1 << 22, MOST_WORK = 1 << 22, MOST_KERNELS = 512 };

/* Checksums of every section that the directory describes sensibly, then of the head. */
static void mend_checksums(uint8_t *plan, uint32_t bytes)
{
    tw_plan_header *h = (tw_plan_header *)(void *)plan;
    tw_plan_section *s = (tw_plan_section *)(void *)(plan + sizeof *h);
    if (bytes < sizeof *h || h->section_count > (bytes - sizeof *h) / sizeof *s)
        return;
    for (uint32_t i = 0; i < h->section_count; i++) {
        uint32_t end = i + 1 < h->section_count ? s[i + 1].offset : bytes;
        if (s[i].offset <= end && end <= bytes)
            s[i].crc = tw_crc32(0, plan + s[i].offset, end - s[i].offset);
    }
    h->crc = 0;
    h->crc = tw_crc32(0, plan, (uint32_t)(sizeof *h + h->section_count * sizeof *s));
}

/* The plan's kernel list, in its order. */
static uint32_t find_kernels(const uint8_t *plan, uint32_t bytes, const tw_kernel **table)
{
    const tw_plan_header *h = (const tw_plan_header *)(const void *)plan;
    const tw_plan_section *s = (const tw_plan_section *)(const void *)(plan + sizeof *h);
    if (bytes < sizeof *h + sizeof *s || h->section_count == 0 || s->kind != TW_SECTION_KERNELS ||
        s->offset > bytes || s->bytes > bytes - s->offset || s->bytes / 4 > MOST_KERNELS)
        return 0;
    for (uint32_t i = 0; i < s->bytes / 4; i++) {
        uint32_t id;
        memcpy(&id, plan + s->offset + i * 4, sizeof id);
        table[i] = tw_kernel_by_id(id);
    }
    return s->bytes / 4;
}

static void run(const tw_model *model)
{
    tw_memory memory[TW_MAX_REGIONS - 1];
    tw_context context;
    for (uint32_t region = 1; region < TW_MAX_REGIONS; region++) {
        memory[region - 1].bytes = tw_region_bytes(model, region);
        memory[region - 1].base = aligned_alloc(16, (memory[region - 1].bytes + 15u) / 16u * 16u);
        if (memory[region - 1].base)
            memset(memory[region - 1].base, 0x55, memory[region - 1].bytes);
    }
    if (tw_init(&context, model, memory, TW_MAX_REGIONS - 1) == TW_OK)
        (void)tw_run(&context);
    for (uint32_t region = 1; region < TW_MAX_REGIONS; region++)
        free(memory[region - 1].base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const tw_kernel *kernels[MOST_KERNELS] = {NULL};
    tw_model model;
    if (bytes > LARGEST_PLAN || bytes == 0)
        return 0;
    uint8_t *plan = aligned_alloc(16, (bytes + 15) / 16 * 16);
    if (!plan)
        abort();
    memcpy(plan, data, bytes);
    mend_checksums(plan, (uint32_t)bytes);
    uint32_t count = find_kernels(plan, (uint32_t)bytes, kernels);
    if (tw_load(&model, plan, (uint32_t)bytes, kernels, count) == TW_OK &&
        model.header->most_work <= MOST_WORK) {
        uint64_t arenas = 0;
        for (uint32_t region = 1; region < TW_MAX_REGIONS; region++)
            arenas += tw_region_bytes(&model, region);
        if (arenas <= LARGEST_ARENA)
            run(&model);
    }
    free(plan);
    return 0;
}
