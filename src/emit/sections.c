/* Sections put together into the bytes of a plan, and found in them again. In: what plan_file.c or select.c has
 * written; the loader verifies what comes out. */
#include "base/diag.h"
#include "emit/emit.h"
#include "emit/select.h"
#include "runtime/plan.h"

bool tw_assemble_plan(tw_arena *arena, tw_plan_header *header, const tw_bytes *section,
                      const void **plan, uint32_t *bytes, tw_diag *diag)
{
    tw_bytes file = {arena, NULL, 0, 0};
    tw_plan_section directory[TW_SECTION_LIMIT];
    memset(directory, 0, sizeof directory);
    int count = 0;
    for (int k = 1; k < TW_SECTION_LIMIT; k++)
        if (section[k].count)
            directory[count++].kind = (uint32_t)k;
    int64_t total = (int64_t)sizeof *header + count * (int64_t)sizeof *directory;
    for (int i = 0; i < count; i++)
        total += section[directory[i].kind].count + (int64_t)TW_PLAN_ALIGN;
    if (total > INT32_MAX / 2)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL, "the plan is larger than 1 GB");
    header->section_count = (uint32_t)count;
    header->crc = 0;
    tw_append(&file, header, sizeof *header, 1);
    tw_append(&file, directory, (uint32_t)count * (uint32_t)sizeof *directory, 1);
    for (int i = 0; i < count; i++) {
        const tw_bytes *one = &section[directory[i].kind];
        directory[i].bytes = (uint32_t)one->count;
        directory[i].offset = tw_append(&file, one->data, directory[i].bytes, TW_PLAN_ALIGN);
        tw_append(&file, NULL, 0, TW_PLAN_ALIGN);
        directory[i].crc = tw_crc32(0, file.data + directory[i].offset,
                                    (uint32_t)file.count - directory[i].offset);
    }
    header->bytes = (uint32_t)file.count;
    uint32_t directory_bytes = (uint32_t)count * (uint32_t)sizeof *directory;
    header->crc = tw_crc32(tw_crc32(0, header, sizeof *header), directory, directory_bytes);
    memcpy(file.data, header, sizeof *header);
    memcpy(file.data + sizeof *header, directory, directory_bytes);
    *plan = file.data;
    *bytes = header->bytes;
    return true;
}

uint32_t tw_constant_bytes(const void *plan)
{
    const tw_plan_header *h = plan;
    const tw_plan_section *s = (const tw_plan_section *)(h + 1);
    for (uint32_t i = 0; i < h->section_count; i++)
        if (s[i].kind == TW_SECTION_CONSTANTS)
            return s[i].bytes;
    return 0;
}
