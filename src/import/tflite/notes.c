/* What a file says beside its graph: description, signatures and metadata, as notes of the graph. Names
 * are cut, so that a small file cannot make long notes of one name. */
#include <ctype.h>
#include <string.h>

#include "import/tflite/tflite.h"

enum {
    MOST_ALIASES = 64, /* of a signature that are told */
    MOST_TEXT = 64     /* of metadata */
};

static const char *tensor_name(const tw_tfl_model *model, const tw_tfl_signature *s,
                               uint32_t tensor)
{
    const tw_tfl_subgraph *g =
        s->subgraph < model->subgraph_count ? &model->subgraphs[s->subgraph] : NULL;
    return g && tensor < g->tensor_count ? g->tensors[tensor].name : "?";
}

/* "name = tensor, name = tensor" behind `text`. */
static const char *aliases(tw_tfl_import *import, const char *text, const tw_tfl_signature *s,
                           const tw_tfl_alias *alias, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < MOST_ALIASES; i++)
        text = tw_format(import->scratch, "%s%s%.64s = %.64s", text, i ? ", " : " ", alias[i].name,
                         tensor_name(import->model, s, alias[i].tensor));
    return count > MOST_ALIASES ? tw_format(import->scratch, "%s, ...", text) : text;
}

static void note_signature(tw_tfl_import *import, const tw_tfl_signature *s)
{
    const char *text =
        tw_format(import->scratch, "%.64s, subgraph %u:", s->key, (unsigned)s->subgraph);
    text = aliases(import, text, s, s->in, s->in_count);
    text = aliases(import, tw_format(import->scratch, "%s ->", text), s, s->out, s->out_count);
    tw_graph_note(import->b.graph, "signature", text);
}

/* The text that a buffer holds, zeros behind it; null: none, or none to show. */
static const char *text_of(tw_tfl_import *import, tw_tfl_buffer buffer)
{
    size_t bytes = buffer.bytes;
    while (bytes > 0 && buffer.data[bytes - 1] == 0)
        bytes--;
    if (bytes == 0 || bytes > MOST_TEXT)
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        if (!isprint(buffer.data[i]))
            return NULL;
    return tw_format(import->scratch, "%.*s", (int)bytes, (const char *)buffer.data);
}

static void note_metadata(tw_tfl_import *import, const tw_tfl_metadata *m)
{
    const tw_tfl_buffer buffer = import->model->buffers[m->buffer];
    const char *text = text_of(import, buffer);
    tw_graph_note(import->b.graph, "metadata",
                  text ? tw_format(import->scratch, "%.64s: %s", m->name, text)
                       : tw_format(import->scratch, "%.64s, %llu bytes", m->name,
                                   (unsigned long long)buffer.bytes));
}

void tw_tfl_notes(tw_tfl_import *import)
{
    const tw_tfl_model *model = import->model;
    if (*model->description)
        tw_graph_note(import->b.graph, "description",
                      tw_format(import->scratch, "%.200s", model->description));
    for (uint32_t i = 0; i < model->signature_count; i++)
        note_signature(import, &model->signatures[i]);
    for (uint32_t i = 0; i < model->metadata_count; i++)
        note_metadata(import, &model->metadata[i]);
}
