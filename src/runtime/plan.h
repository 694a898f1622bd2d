/* The plan format, defined once: the compiler writes these structures, the runtime reads them in
 * place. Little-endian; every structure has fixed-width fields and no hidden padding; sections are
 * 16-byte aligned, checksummed with CRC-32 (zlib's polynomial) and follow each other without gaps
 * other than zero bytes. docs/plan-format.md explains each field.
 *
 *     header | directory (one entry a section) | section | section | ...
 */
#ifndef TW_RUNTIME_PLAN_H
#define TW_RUNTIME_PLAN_H

#include "tilewright/runtime.h"

#define TW_PLAN_MAGIC 0x4C505754u /* "TWPL" */
#define TW_PLAN_MAJOR 1u          /* a runtime reads its own major version only */
#define TW_PLAN_MINOR 5u          /* and any minor version up to its own */
#define TW_PLAN_ALIGN 16u

#define TW_ABSENT 0xFFFFFFFFu /* no tensor, no stream, no step */
#define TW_MAX_OPERANDS 16u   /* inputs plus outputs of a step; bounds the runtime's stack */
#define TW_MAX_BLOBS 8u       /* prepared tables of a step */
#define TW_MAX_NESTING 8u     /* branches and loops inside each other */

/* Rows counted beyond any tensor: what a resident or finished tensor offers. */
#define TW_ALL_ROWS 0x40000000

/* Section kinds, each present at most once, in this order. The optional ones may be missing. */
/* clang-format off */
#define TW_PLAN_SECTION_LIST(X)                                                                    \
    X(TW_SECTION_KERNELS, 1, uint32_t)            /* kernel ids, no two equal */                   \
    X(TW_SECTION_TENSORS, 2, tw_tensor)                                                            \
    X(TW_SECTION_SEGMENTS, 3, tw_plan_segment)    /* in execution order */                         \
    X(TW_SECTION_STEPS, 4, tw_plan_step)          /* grouped by segment */                         \
    X(TW_SECTION_OPERANDS, 5, tw_plan_operand)    /* grouped by step: inputs, then outputs */      \
    X(TW_SECTION_STREAMS, 6, tw_plan_stream)      /* grouped by segment */                         \
    X(TW_SECTION_ATTRIBUTES, 7, uint32_t)         /* 32-bit words, grouped by step */              \
    X(TW_SECTION_BLOBS, 8, tw_plan_blob)          /* prepared tables, grouped by step */           \
    X(TW_SECTION_INPUTS, 9, uint32_t)             /* tensor indices */                             \
    X(TW_SECTION_OUTPUTS, 10, uint32_t)           /* tensor indices */                             \
    X(TW_SECTION_CONSTANTS, 11, uint8_t)          /* weights and tables, used in place */          \
    X(TW_SECTION_NAMES, 12, uint8_t)              /* optional: see tw_plan_names */                \
    X(TW_SECTION_ORIGIN, 13, uint8_t)             /* optional: source format, options: text */      \
    X(TW_SECTION_STATES, 14, tw_plan_state)       /* what survives a run */                        \
    X(TW_SECTION_TARGETS, 15, tw_plan_target)     /* back ends that the plan serves as well */     \
    X(TW_SECTION_VARIANTS, 16, tw_plan_variant)   /* grouped by target: one a step */              \
    X(TW_SECTION_VARIANT_BLOBS, 17, tw_plan_blob) /* their tables, grouped by variant */           \
    X(TW_SECTION_REASONS, 18, uint8_t)            /* why variants fall back: text */                    \
    X(TW_SECTION_CONTROLS, 19, tw_plan_control)   /* branches and loops, in execution order */             \
    X(TW_SECTION_COLUMNS, 20, tw_plan_column)     /* column maps of segments by columns */                 \
    X(TW_SECTION_POSITIONS, 21, tw_plan_position) /* states that count the tokens of caches */

enum {
#define TW_SECTION_ENUM(name, value, type) name = value,
    TW_PLAN_SECTION_LIST(TW_SECTION_ENUM)
#undef TW_SECTION_ENUM
    TW_SECTION_LIMIT = 22
};
/* clang-format on */

typedef struct tw_plan_section {
    uint32_t kind;
    uint32_t offset; /* bytes from the plan's start, a multiple of TW_PLAN_ALIGN */
    uint32_t bytes;  /* exact, without the zero padding that follows */
    uint32_t crc;    /* CRC-32 of the bytes and the padding up to the next section */
} tw_plan_section;

/* 128 bytes. */
typedef struct tw_plan_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t bytes; /* the whole file */
    uint32_t crc;   /* of header and directory, this field taken as 0 */
    uint32_t section_count;
    uint32_t region_bytes[TW_MAX_REGIONS]; /* arena sizes; [0] is 0 (constants are in the plan) */
    uint32_t
        activations; /* announced: bytes of the fast and slow arenas for tensors and accumulators alone */
    uint32_t scratch; /* announced: bytes that scratch adds to the fast arena */
    uint32_t state;   /* announced: bytes of the state arena */
    uint32_t context; /* announced: tw_context, and what row counters add to the fast arena */
    uint32_t slow;    /* announced: bytes of the slow arena, included in activations */
    uint64_t work;    /* sum of the steps' work: multiply-accumulates or element operations */
    uint8_t source_sha256[32];
    uint32_t compiler_version; /* major << 16 | minor << 8 | patch */
    uint32_t reserved0;
    uint64_t most_work; /* the same with every loop taking all the rounds it may */
    uint32_t reserved[4];
} tw_plan_header;

/* Consecutive steps that are executed together. A segment of one step runs whole, or in bands.
 *
 * By columns, what is counted are not rows but pixels, row after row: indices on the band axis and the
 * axis behind it taken as one. Bands, windows, counters and the source count pixels then, and no firing
 * goes beyond the end of a row. */
typedef struct tw_plan_segment {
    uint32_t first_step, step_count;
    uint32_t first_stream, stream_count;
    uint16_t axis;        /* the band axis: every axis before it has extent 1 in each stream */
    uint16_t columns;     /* 1: by columns */
    uint32_t source;      /* index in the segment of the stream fed from outside, or TW_ABSENT */
    uint32_t source_band; /* rows by which the source advances */
    uint32_t counters; /* offset in the fast arena of its row counters, 8 bytes a step and stream */
} tw_plan_segment;

/* A tensor of which a segment holds rows: one of its steps' outputs, or its source. */
typedef struct tw_plan_stream {
    uint32_t tensor;
    uint32_t producer; /* step index within the segment, or TW_ABSENT for the source */
    /* Steps within the segment that read it; first > last: none. */
    uint32_t first_reader, last_reader;
    uint32_t over; /* an earlier stream in whose window this one's rows replace those already read,
                      or TW_ABSENT: it has a window (or a whole tensor) of its own */
} tw_plan_stream;

/* One kernel, called once per band. */
typedef struct tw_plan_step {
    uint32_t kernel;        /* index in the kernel list */
    uint32_t operator_code; /* for messages; the runtime attaches no meaning to it */
    uint32_t first_operand;
    uint16_t input_count, output_count;
    uint32_t first_attribute, attribute_words;
    uint32_t first_blob, blob_count;
    uint32_t band;                          /* at most so many rows a firing */
    uint32_t scratch_offset, scratch_bytes; /* in the fast arena */
    uint32_t memory_offset, memory_bytes;   /* step memory (accumulators), in the fast arena */
    uint32_t clamp_low, clamp_high;         /* bits of a float or of an int32: see tw_clamp */
    uint32_t again; /* the index + 1 of an earlier step that computes the same, or 0: for people */
    uint64_t work;  /* what the kernel's check must compute from shapes and attributes */
} tw_plan_step;

/* How rows of an operand relate to rows of the step's outputs. */
enum {
    TW_ROWS_MAPPED = 0,      /* v input rows allow floor((v * num + off) / den) output rows, and
                               output row o first needs input row floor((o * den + off2) / num) */
    TW_ROWS_WHOLE = 1,       /* needed whole before the first output row */
    TW_ROWS_ACCUMULATED = 2, /* taken row by row into step memory; outputs appear after the last */
    TW_ROWS_FINAL = 3        /* an output that is complete only when the step is */
};

/* Largest num, den, |off| and |off2| of a row map. */
#define TW_MAX_ROW_OFFSET (1 << 24)

typedef struct tw_plan_operand {
    uint32_t tensor; /* or TW_ABSENT: an optional operand that is not there */
    uint32_t stream; /* index within the segment, or TW_ABSENT: resident */
    uint32_t rows;   /* TW_ROWS_* */
    int32_t num, den, off, off2;
    uint32_t column; /* index of its column map + 1, or 0: it has none */
} tw_plan_operand;

/* How columns of a mapped operand relate to columns of the step's outputs, as rows do. */
typedef struct tw_plan_column {
    int32_t num, den, off, off2;
} tw_plan_column;

/* A table prepared at compile time for a kernel, in the constants. */
typedef struct tw_plan_blob {
    uint32_t offset, bytes;
} tw_plan_blob;

/* A tensor of the state region and what it holds after a reset. */
typedef struct tw_plan_state {
    uint32_t tensor;  /* dense */
    uint32_t initial; /* offset of its elements in the constants, or TW_ABSENT: zero bytes */
} tw_plan_state;

/* A state, one s32, that says how many tokens caches hold, and that each run moves on. */
typedef struct tw_plan_position {
    uint32_t state;  /* index */
    uint32_t tokens; /* that a run brings, at most where there is a count */
    uint32_t
        count; /* the input (a tensor, one s32) that says how many a run brings, or TW_ABSENT */
    uint32_t limit;  /* a run that would go beyond is refused with TW_E_FULL before it begins */
    uint32_t kept;   /* the latest tokens that the caches keep; 0: all */
    uint32_t window; /* of these, those that the next token needs */
    uint32_t reserved[2];
} tw_plan_position;

/* Steps run the portable kernels. A plan that serves other back ends too says here what changes for
 * each; firmware is given a plan in which that is done (src/emit/select.c), so the runtime has no use for
 * these sections. */
enum { TW_TARGET_TEXT = 32 };
typedef struct tw_plan_target {
    uint32_t backend;       /* its number, as in kernel ids */
    uint32_t cpus;          /* the processors served, the back end's own bits */
    uint32_t first_variant; /* as many variants as there are steps, in their order */
    uint32_t scratch;       /* the most that its own kernels need */
    uint32_t natives;       /* steps that it runs itself */
    uint32_t reserved[3];
    char text[TW_TARGET_TEXT]; /* "cmsis-nn:m55", zeros behind it */
} tw_plan_target;

typedef struct tw_plan_variant {
    uint32_t kernel; /* kernel id, or TW_ABSENT: the portable kernel runs the step */
    uint32_t first_blob, blob_count;
    uint32_t unread; /* bit i: input i is not read */
    uint32_t clamp_low, clamp_high;
    uint32_t scratch_bytes, memory_bytes; /* at most the step's */
    uint32_t reason; /* offset in the reasons: why it does, or how the kernel does; or TW_ABSENT */
    uint32_t reserved;
} tw_plan_variant;

/* Control entries stand before segments and say where execution goes on. A branch is three of them, a
 * loop three, properly nested; there is at least one segment between two parts of either:
 *
 *     IF steps ELSE steps END            LOOP steps WHILE steps REPEAT
 *
 * Outside them an AWAIT may stand: the run goes on behind it or ends there without output. */
enum {
    TW_CONTROL_IF = 1,   /* the tensor is false: on behind the ELSE */
    TW_CONTROL_ELSE = 2, /* on behind the END */
    TW_CONTROL_END = 3,
    TW_CONTROL_LOOP = 4,   /* the counter becomes 0 */
    TW_CONTROL_WHILE = 5,  /* the tensor is false: on behind the REPEAT; else one round more */
    TW_CONTROL_REPEAT = 6, /* on behind the LOOP */
    TW_CONTROL_AWAIT = 7   /* the tensor is false: the run ends with TW_NO_OUTPUT */
};

typedef struct tw_plan_control {
    uint32_t kind;    /* TW_CONTROL_* */
    uint32_t segment; /* before which it stands, or the number of segments */
    uint32_t partner; /* the entry named above; LOOP: the WHILE; END and AWAIT: TW_ABSENT */
    uint32_t tensor;  /* IF, WHILE and AWAIT: one BOOL; else TW_ABSENT */
    uint32_t most;    /* WHILE: rounds, more end the run with TW_E_ROUNDS; else 0 */
    uint32_t counter; /* LOOP and WHILE: offset in the fast arena of the rounds taken; else 0 */
    uint32_t reserved[2];
} tw_plan_control;

#define TW_ASSERT_SIZE(type, bytes) typedef char tw_size_of_##type[sizeof(type) == (bytes) ? 1 : -1]
TW_ASSERT_SIZE(tw_tensor, 72);
TW_ASSERT_SIZE(tw_plan_section, 16);
TW_ASSERT_SIZE(tw_plan_header, 128);
TW_ASSERT_SIZE(tw_plan_segment, 32);
TW_ASSERT_SIZE(tw_plan_stream, 20);
TW_ASSERT_SIZE(tw_plan_step, 72);
TW_ASSERT_SIZE(tw_plan_operand, 32);
TW_ASSERT_SIZE(tw_plan_column, 16);
TW_ASSERT_SIZE(tw_plan_blob, 8);
TW_ASSERT_SIZE(tw_plan_state, 8);
TW_ASSERT_SIZE(tw_plan_position, 32);
TW_ASSERT_SIZE(tw_plan_target, 64);
TW_ASSERT_SIZE(tw_plan_variant, 40);
TW_ASSERT_SIZE(tw_plan_control, 32);
TW_ASSERT_SIZE(tw_context, 112);

/* zlib's CRC-32. Start with 0; feed the result back in to continue. */
uint32_t tw_crc32(uint32_t crc, const void *data, uint32_t bytes);

#endif
