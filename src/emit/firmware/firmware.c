/* The story of a firmware folder: names, sources, the pair of C files, the program that tests it, the
 * build files, and all of it written at once. */
#include "emit/firmware/firmware.h"

#include <string.h>

#include "base/diag.h"
#include "emit/firmware/make.h"

static bool begin(tw_making *m)
{
    const char *model = m->session->model_name;
    const char **kernels;
    m->title = tw_comment_text(m->arena, model);
    m->big = tw_in_capitals(m->arena, m->name);
    m->inputs = tw_name_ports(m, false);
    m->outputs = tw_name_ports(m, true);
    for (uint32_t i = 0; i < m->session->model.input_count; i++)
        m->is_fed |= m->inputs[i].row_bytes != 0;
    for (uint32_t i = 0; i < m->session->model.output_count; i++)
        m->is_drained |= m->outputs[i].row_bytes != 0;
    if (!tw_kernel_names(m, &kernels, &m->kernel_count))
        return false;
    m->kernels = kernels;
    return true;
}

/* Every segment is written out before: what comes out of it is not followed there. */
static bool outputs_are_whole(const tw_session *session, tw_diag *diag)
{
    for (uint32_t i = 0; i < session->model.output_count; i++)
        if (tw_session_output_row_bytes(session, i) != 0)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, session->output_names[i], NULL,
                           "the plan gives this output by rows, which --format direct does not "
                           "write; take --format library, or compile without --output-rows");
    return true;
}

bool tw_firmware_write(const tw_session *session, const tw_firmware_options *options,
                       const char *folder, tw_firmware_report *report, tw_arena *arena,
                       tw_diag *diag)
{
    tw_tree tree = {arena, NULL, 0, 0};
    tw_making m = {.arena = arena,
                   .session = session,
                   .options = options,
                   .name = options->name,
                   .tree = &tree,
                   .diag = diag};
    const char **sources;
    int count;
    if ((options->direct && !outputs_are_whole(session, diag)) || !begin(&m) ||
        !tw_add_sources(&m, m.kernels, m.kernel_count, &sources, &count))
        return false;
    if (!options->direct)
        tw_write_library(&m);
    else if (!tw_write_direct(&m))
        return false;
    if (options->app)
        tw_write_app(&m);
    tw_write_project(&m);
    if (!tw_tree_write(&tree, folder, diag))
        return false;
    *report = (tw_firmware_report){.files = tree.count,
                                   .kernels = m.kernels,
                                   .kernel_count = (int)m.kernel_count,
                                   .sources = (const char *const *)sources,
                                   .source_count = count};
    for (int i = 0; i < tree.count; i++)
        report->bytes += tree.files[i].bytes;
    return true;
}
