/* The operator record: what the compiler knows of an operator. One operator, one place: NAME.h
 * (attributes and formula), NAME.c (this record, ends in `const tw_opdef tw_op_NAME`), NAME.rt.c
 * (kernels), NAME.txt (vectors from an independent oracle); families have one row a member in a
 * .def file instead. A null function means the family default that stands beside it. */
#ifndef TW_OPS_OP_H
#define TW_OPS_OP_H

#include "graph/graph.h"
#include "ops/attributes.h"

typedef enum tw_op_kind {
    TW_MATH, /* own kernels per type */
    TW_LUT,  /* f32 kernel; s8 by a 256-byte table computed from the same scalar function */
    TW_MOVE, /* bytes only; one kernel for all types */
    TW_VIEW, /* no kernel: the planner aliases the buffer */
    TW_HOST  /* must be folded or lowered before planning */
} tw_op_kind;

/* What an operator's `shape` is given and fills in. */
typedef struct tw_shape_call {
    const struct tw_opdef *op;
    const char *node; /* name, for messages */
    int in_count, out_count;
    tw_value *const *in;    /* null entries: absent */
    const void *attributes; /* already range-checked; may be completed? no: read-only */
    tw_shape *out;          /* out_count, to be filled in */
    tw_diag *diag;
    struct tw_graph *const *body; /* op->bodies of them */
} tw_shape_call;

/* Fail in `shape`: code failed for a malformed node, unsupported for one beyond our limits. */
#define TW_SHAPE_FAIL(call, ...)                                                                   \
    tw_fail((call)->diag, TW_CODE_FAILED, (call)->node, (call)->op->name, __VA_ARGS__)
#define TW_SHAPE_UNSUPPORTED(call, ...)                                                            \
    tw_fail((call)->diag, TW_CODE_UNSUPPORTED, (call)->node, (call)->op->name, __VA_ARGS__)

/* How rows of input i relate to rows of the output on band axis `axis` (see plan.h). */
typedef struct tw_rowmap {
    int rows; /* TW_ROWS_* */
    int32_t num, den, off, off2;
} tw_rowmap;

static inline tw_rowmap tw_rows_identity(void)
{
    return (tw_rowmap){TW_ROWS_MAPPED, 1, 1, 0, 0};
}
static inline tw_rowmap tw_rows_whole(void)
{
    return (tw_rowmap){TW_ROWS_WHOLE, 1, 1, 0, 0};
}
/* The input is needed whole and the output comes all at once: no bands on this axis (softmax along
 * it). For the planner only; the plan says WHOLE and a band of all rows. */
enum { TW_ROWS_ONCE = 16 };
static inline tw_rowmap tw_rows_once(void)
{
    return (tw_rowmap){TW_ROWS_ONCE, 1, 1, 0, 0};
}
static inline tw_rowmap tw_rows_accumulated(void)
{
    return (tw_rowmap){TW_ROWS_ACCUMULATED, 1, 1, 0, 0};
}
/* Mapped; whole when a number is beyond what a plan can say. */
static inline tw_rowmap tw_rows_mapped(int64_t num, int64_t den, int64_t off, int64_t off2)
{
    const int64_t far = TW_MAX_ROW_OFFSET;
    if (num < 1 || num > far || den < 1 || den > far || off < -far || off > far || off2 < -far ||
        off2 > far)
        return tw_rows_whole();
    return (tw_rowmap){TW_ROWS_MAPPED, (int32_t)num, (int32_t)den, (int32_t)off, (int32_t)off2};
}

/* How near the output of one call may lie to input 0 in shared memory, in bytes from the input's first to
 * the output's first: at least `below` below it, or at least `above` above it. Of whole, dense tensors.
 * may false: never. */
typedef struct tw_overlap {
    bool may;
    int64_t below, above;
} tw_overlap;

enum { TW_MAX_HALVINGS = 6 };

/* A node as a kernel will run it: the back end's answer. */
typedef struct tw_lowering {
    const tw_kernel *kernel;
    int blob_count;
    struct {
        void *data;
        uint32_t bytes;
    } blob[TW_MAX_BLOBS]; /* in the arena given */
    uint32_t scratch;     /* bytes, for the largest call (first, middle or last band, whole) */
    uint32_t memory;      /* bytes of step memory */
    /* Bytes of scratch for the work in 2, 4, 8... parts, more slowly: never more, 0 behind the last. The
     * kernel sees by its scratch how many to make. */
    uint32_t in_parts[TW_MAX_HALVINGS];
    tw_bound clamp_low, clamp_high;
    /* A constant input that the kernel wants in another order: the same elements and extents,
     * other strides, no gaps. data null: dense, as the graph holds it. See tw_lowered_input. */
    struct {
        const void *data;
        int32_t stride[TW_MAX_RANK];
    } stored[TW_MAX_OPERANDS];
    tw_overlap
        overlap; /* what this kernel allows; where several may be linked, what all of them do */
    /* Bit i: the kernel does not read constant input i, its content is in the tables; the plan
     * leaves the operand absent and does not carry the elements. */
    uint32_t unread;
} tw_lowering;

/* A sample of one input %x, random between low and high. result: "" or the output's type, behind ": ";
 * call: "Name (%x) {...}". Write as many as needed behind each other. */
#define TW_SAMPLE(name, type, low, high, result, call)                                             \
    "graph \"" name "\" {\n  const %x : " type " = random 1 " low " " high "\n  %y" result         \
    " = " call "\n  output %y\n}\n"

/* A box of a larger tensor of the same rank and type: where it begins there. */
typedef struct tw_part {
    bool of_input; /* the output is a box of the input, not the input one of the output */
    int32_t begin[TW_MAX_RANK];
} tw_part;

typedef struct tw_opdef {
    uint16_t code; /* stable, 1..65535: it is written into plans */
    tw_op_kind kind;
    const char *name;                     /* IR name, CamelCase */
    const char *formula;                  /* one line for the docs */
    int min_in, max_in, min_out, max_out; /* max may be TW_MAX_OPERANDS - 1 */
    int bodies;                           /* graphs inside it: see ops/control.c. Default: none */
    const tw_attribute *attributes;
    int attribute_count;
    uint32_t attribute_bytes;

    /* Output shapes and types. Default: out = first input's shape and type. */
    bool (*shape)(const tw_shape_call *call);
    /* Default: identity where the input has the output's extent on the axis, whole otherwise. */
    tw_rowmap (*rows)(const tw_node *node, int input, int axis);
    /* Is output i complete only when the step is (a last state), whatever rows it has? Never output
     * 0. Default: no. */
    bool (*final_output)(const tw_node *node, int output);
    /* Multiply-accumulates; must equal the kernel check's *work where that counts MACs.
     * Default: 0. */
    uint64_t (*macs)(const tw_node *node);
    /* The portable back end: choose the kernel for the operand types, prepare tables, size scratch
     * and memory. Default tw_lower_default: by the first input's type, clamp bounds from the node.
     * Fails with `unsupported` where no kernel fits the types. */
    bool (*lower)(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag);
    /* Another kernel that reads constants in fewer bytes, for a lowering that `lower` gave, where it may be
     * the portable one that runs. Default: none. */
    void (*pack)(const tw_node *node, tw_arena *arena, tw_lowering *lowering);
    /* May the output lie exactly over input i (element for element, same size)? Default: no. */
    bool (*in_place)(const tw_node *node, int input);
    /* Does it only join or cut, input i (present) and the output being box and whole? Default: no. */
    bool (*part)(const tw_node *node, int input, tw_part *part);
    /* The scalar function of a LUT operator (attributes as the kernel's). Null for others. */
    float (*scalar)(float x, const void *attributes);

    const char *limits;  /* text for the docs of what `shape` and `lower` refuse */
    const char *samples; /* one-node graphs of the text IR, for tests/unit/test_samples.c */
    const char *onnx;    /* space-separated ONNX names that map straight to it (families), or "" */
    const char *tests;   /* space-separated names of independent vectors, filled by rows */

    const tw_kernel *const *kernels; /* device kernels, null-terminated; null: none */
} tw_opdef;

/* The ledger. */
extern const tw_opdef *const tw_ops[];
extern const int tw_op_count;
const tw_opdef *tw_op_by_name(const char *name); /* null when unknown */
const tw_opdef *tw_op_by_code(uint32_t code);
/* Every kernel of the ledger by id; null when unknown. */
const tw_kernel *tw_kernel_by_id(uint32_t id);

/* Fill an attribute structure with the defaults; check every attribute's range. */
void tw_attributes_default(const tw_opdef *op, void *attributes);
bool tw_attributes_check(const tw_opdef *op, const char *node, const void *attributes,
                         tw_diag *diag);

/* Family defaults, callable from an operator's own functions. */
bool tw_shape_default(const tw_shape_call *call);
tw_rowmap tw_rows_default(const tw_node *node, int input, int axis);
bool tw_lower_default(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag);

/* The node by its portable kernel: the operator's own `lower`, or the default. */
static inline bool tw_lower_portable(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                                     tw_diag *diag)
{
    return (node->op->lower ? node->op->lower : tw_lower_default)(node, arena, lowering, diag);
}

/* The attribute `axis` as one of the first input's, 0..rank-1; -1, said, where it has none such. */
int tw_shape_axis(const tw_shape_call *call, int32_t axis);
/* Rows of what works along axis `along` (as attributes name it): at once there, else one by one. */
tw_rowmap tw_rows_along(const tw_node *node, int input, int axis, int32_t along);
/* Of recurrent layers: time steps, on axis 1, where there is one sequence, else at once. */
tw_rowmap tw_rows_steps(const tw_node *node, int input, int axis);
/* Of what takes the whole first input in one go. */
tw_rowmap tw_rows_at_once(const tw_node *node, int input, int axis);
/* A final_output: rows map to the first output alone. */
bool tw_final_but_first(const tw_node *node, int output);

/* The op's kernel with this signature, or null. */
const tw_kernel *tw_op_kernel(const tw_opdef *op, int signature);
/* The signature for plain (unquantised) arithmetic on a type: f32, s32, s64, u8, bool, ...; int8
 * with scales is TW_SIG_s8. 0: none. */
int tw_signature_of(const tw_value *value);

/* Fill the lowering's clamp from the node's, in the output's own terms: floats as they are, int8
 * through scale and zero point, intersected with the type's range. */
void tw_lower_clamp(const tw_node *node, tw_lowering *lowering);

static inline bool tw_is_unread(const tw_lowering *lowering, int i)
{
    return i < 32 && (lowering->unread >> i & 1u);
}

/* Input i (present) as the lowered kernel is to find it: fills in its tensor record, offset and
 * region 0, and returns its elements, null when they are computed. */
const void *tw_lowered_input(const tw_node *node, const tw_lowering *lowering, int i,
                             tw_tensor *tensor);

/* Run a node on constant inputs with the device kernels: constant folding, property tests.
 * Outputs get `data` (in `arena`). band: rows a call, 0 for whole. */
bool tw_evaluate(tw_node *node, tw_arena *arena, int band, tw_diag *diag);

#endif
