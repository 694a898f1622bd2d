/* A run of firmware without a plan: the segments in their order, with branches, loops and waits as C has
 * them; the positions of caches; the reset. In: a plan's control entries, states and positions, which nest
 * as the loader has verified. Out: functions that do what the runtime's execution loop does with them. */
#include "emit/firmware/direct.h"

/* Bytes of memory as C: "STATE + 16". */
static const char *place_of(const tw_making *m, uint32_t tensor)
{
    const tw_tensor *t = &m->session->model.tensors[tensor];
    return tw_format(m->arena, "%s + %u", tw_direct_base(t->region), t->offset);
}

static const char *name_of(const tw_making *m, uint32_t tensor)
{
    const char *name = tw_comment_text(m->arena, m->session->tensor_names[tensor]);
    return *name ? name : "without a name";
}

/* ---- reset ---- */

static void write_reset(const tw_making *m, FILE *f)
{
    const tw_model *model = &m->session->model;
    if (model->header->state == 0)
        return;
    fprintf(f,
            "/* A run ended in its midst: the state is neither the old nor a new one. */\n"
            "static uint8_t broken;\n\n"
            "void %s_reset(void)\n{\n    memset(STATE, 0, %uu);\n",
            m->name, model->header->state);
    for (uint32_t i = 0; i < model->state_count; i++) {
        const tw_tensor *t = &model->tensors[model->states[i].tensor];
        if (model->states[i].initial != TW_ABSENT)
            fprintf(f, "    memcpy(STATE + %u, CONSTANT + %u, %uu);\n", t->offset,
                    model->states[i].initial, tw_tensor_bytes(t));
    }
    fprintf(f, "    broken = 0;\n}\n\n");
}

/* ---- positions ---- */

static uint32_t tensor_of_position(const tw_model *model, uint32_t i)
{
    return model->states[model->positions[i].state].tensor;
}

/* Is there room for what a run brings? As in runtime/position.c, with the plan's numbers. */
static void write_room(const tw_making *m, FILE *f)
{
    const tw_model *model = &m->session->model;
    fprintf(f, "#define NUMBER(place) (*(int32_t *)(void *)(place))\n\n"
               "/* What a run brings must have room in the caches, before anything changes. */\n"
               "static tw_status look_for_room(void)\n{\n    int32_t at, count;\n");
    for (uint32_t i = 0; i < model->position_count; i++) {
        const tw_plan_position *p = &model->positions[i];
        const uint32_t tensor = tensor_of_position(model, i);
        fprintf(f, "    at = NUMBER(%s); /* %s */\n", place_of(m, tensor), name_of(m, tensor));
        if (p->count == TW_ABSENT)
            fprintf(f, "    count = %u;\n    if (at < 0)\n", p->tokens);
        else
            fprintf(f,
                    "    count = NUMBER(%s); /* %s */\n"
                    "    if (at < 0 || count < 0 || count > %u)\n",
                    place_of(m, p->count), name_of(m, p->count), p->tokens);
        fprintf(f,
                "        return TW_E_DATA;\n"
                "    if ((uint32_t)at + (uint32_t)count > %uu)\n        return TW_E_FULL;\n",
                p->limit);
    }
    fprintf(f, "    return TW_OK;\n}\n\n");
}

static void write_rewind(const tw_making *m, FILE *f)
{
    const tw_model *model = &m->session->model;
    fprintf(f,
            "uint32_t %s_tokens(void)\n{\n    const int32_t at = NUMBER(%s);\n"
            "    return at > 0 ? (uint32_t)at : 0u;\n}\n\n"
            "tw_status %s_rewind(uint32_t tokens)\n{\n    int32_t at;\n"
            "    if (broken)\n        return TW_E_DIRTY;\n",
            m->name, place_of(m, tensor_of_position(model, 0)), m->name);
    for (uint32_t i = 0; i < model->position_count; i++) {
        const tw_plan_position *p = &model->positions[i];
        fprintf(f, "    at = NUMBER(%s);\n    if (at < 0 || tokens > (uint32_t)at)\n",
                place_of(m, tensor_of_position(model, i)));
        fprintf(f, "        return TW_E_ARGUMENT;\n");
        if (p->kept != 0) /* a ring has dropped the oldest */
            fprintf(f,
                    "    if (tokens != 0u && (uint32_t)at > %uu && tokens < (uint32_t)at - %uu + "
                    "%uu)\n        return TW_E_ARGUMENT;\n",
                    p->kept, p->kept, p->window);
    }
    for (uint32_t i = 0; i < model->position_count; i++)
        fprintf(f, "    NUMBER(%s) = (int32_t)tokens;\n",
                place_of(m, tensor_of_position(model, i)));
    fprintf(f, "    return TW_OK;\n}\n\n");
}

/* ---- the run ---- */

typedef struct tw_direct_run {
    const tw_making *m;
    FILE *f;
    const bool *made;
    int depth; /* of branches and loops around */
} tw_direct_run;

static void line(const tw_direct_run *r, const char *text)
{
    fprintf(r->f, "%*s%s\n", 4 * (r->depth + 1), "", text);
}

static const char *condition(const tw_direct_run *r, const tw_plan_control *e, bool wanted)
{
    return tw_format(r->m->arena, "if (*(%s) %s 0) { /* %s */", place_of(r->m, e->tensor),
                     wanted ? "!=" : "==", name_of(r->m, e->tensor));
}

/* Rounds are counted in a variable of the loop's own: the entry LOOP has number `loop`. */
static void write_while(tw_direct_run *r, const tw_plan_control *e, uint32_t loop)
{
    line(r, condition(r, e, false));
    line(r, "    break;");
    line(r, "}");
    line(r, tw_format(r->m->arena, "if (rounds_%u == %uu) {", loop, e->most));
    line(r, "    return TW_E_ROUNDS;");
    line(r, "}");
}

/* The LOOP whose WHILE this is. */
static uint32_t loop_of(const tw_model *model, uint32_t entry)
{
    uint32_t i = entry;
    while (i > 0 &&
           (model->controls[i].kind != TW_CONTROL_LOOP || model->controls[i].partner != entry))
        i--;
    return i;
}

static void write_entry(tw_direct_run *r, uint32_t index)
{
    const tw_plan_control *e = &r->m->session->model.controls[index];
    switch (e->kind) {
    case TW_CONTROL_AWAIT:
        line(r, condition(r, e, false));
        line(r, "    return TW_NO_OUTPUT;");
        line(r, "}");
        break;
    case TW_CONTROL_IF:
        line(r, condition(r, e, true));
        r->depth++;
        break;
    case TW_CONTROL_ELSE:
        r->depth--;
        line(r, "} else {");
        r->depth++;
        break;
    case TW_CONTROL_LOOP:
        line(r, tw_format(r->m->arena, "for (rounds_%u = 0;; rounds_%u++) {", index, index));
        r->depth++;
        break;
    case TW_CONTROL_WHILE: write_while(r, e, loop_of(&r->m->session->model, index)); break;
    default: /* END, REPEAT */
        r->depth--;
        line(r, "}");
        break;
    }
}

static void write_calls(const tw_making *m, FILE *f, const bool *made)
{
    const tw_model *model = &m->session->model;
    tw_direct_run r = {m, f, made, 0};
    uint32_t entry = 0;
    for (uint32_t i = 0; i < model->control_count; i++)
        if (model->controls[i].kind == TW_CONTROL_LOOP)
            fprintf(f, "    uint32_t rounds_%u;\n", i);
    for (uint32_t s = 0; s <= model->segment_count; s++) {
        for (; entry < model->control_count && model->controls[entry].segment == s; entry++)
            write_entry(&r, entry);
        if (s < model->segment_count && made[s])
            line(&r, tw_format(m->arena, "DO(segment_%u());", s));
    }
    fprintf(f, "    return TW_OK;\n}\n");
}

void tw_write_direct_run(const tw_making *m, FILE *f, const bool *made)
{
    const tw_model *model = &m->session->model;
    const bool keeps = model->header->state != 0, counts = model->position_count != 0;
    write_reset(m, f);
    if (counts) {
        write_room(m, f);
        write_rewind(m, f);
    }
    if (keeps)
        fprintf(f, "static tw_status run_segments(void)\n{\n");
    else
        fprintf(f, "tw_status %s_run(void)\n{\n", m->name);
    write_calls(m, f, made);
    if (keeps)
        fprintf(f,
                "\ntw_status %s_run(void)\n{\n    tw_status status;\n"
                "    if (broken)\n        return TW_E_DIRTY;\n%s"
                "    status = run_segments();\n    broken = status < TW_OK;\n"
                "    return status;\n}\n",
                m->name,
                counts ? "    status = look_for_room();\n    if (status != TW_OK)\n"
                         "        return status;\n"
                       : "");
}
