/* A QEMU plugin (TCG plugin API 1) that counts the instructions of some functions of a program, those at their
 * addresses. In: ranges=FILE, a line a function, "start bytes" in hexadecimal, in any order. Out: when the
 * program ends, "inside: N" on standard error. bench/firmware builds and uses it. Debian has no header of this
 * interface: what is called of it is declared here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t amount);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t id,
                                                              struct qemu_plugin_tb *tb));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *),
                                    void *user);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

typedef struct range {
    uint64_t start, bytes;
} range;

static range ranges[4096];
static size_t range_count;
static uint64_t executed;

static int is_inside(uint64_t address)
{
    for (size_t i = 0; i < range_count; i++)
        if (address - ranges[i].start < ranges[i].bytes)
            return 1;
    return 0;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);
    (void)id;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (is_inside(qemu_plugin_insn_vaddr(insn)))
            qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
                                                       1);
    }
}

static void ended(qemu_plugin_id_t id, void *user)
{
    (void)id;
    (void)user;
    fprintf(stderr, "inside: %" PRIu64 "\n", executed);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "ranges=", 7) != 0)
        return -1;
    FILE *file = fopen(argv[0] + 7, "r");
    if (!file)
        return -1;
    while (range_count < sizeof ranges / sizeof *ranges &&
           fscanf(file, "%" SCNx64 " %" SCNx64, &ranges[range_count].start,
                  &ranges[range_count].bytes) == 2)
        range_count++;
    fclose(file);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
