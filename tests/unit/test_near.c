/* Slips of the finger: left out, added, mistaken letters; what is too far is not suggested. */
#include "tests/tap.h"

#include "proto/mem.h"
#include "proto/near.h"

#include <string.h>

static const char *nearest(const char *typed)
{
    static const char *const names[] = {"info", "dump", "diff", "exec_id", "model_id", "from"};
    struct ntff_near n = ntff_near_begin(typed, strlen(typed));
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names); i++)
        ntff_near_try(&n, names[i]);
    return ntff_near_found(&n);
}

TAP_TEST(slips)
{
    TAP_EQ_STR(nearest("frm"), "from");
    TAP_EQ_STR(nearest("infoo"), "info");
    TAP_EQ_STR(nearest("exec_idd"), "exec_id");
    TAP_EQ_STR(nearest("modle_id"), "model_id");
    TAP_EQ_STR(nearest("info"), "info");
}

TAP_TEST(others)
{
    TAP_EQ_STR(nearest("zzz"), NULL);
    TAP_EQ_STR(nearest(""), NULL);
    TAP_EQ_STR(nearest("x"), NULL);
    TAP_EQ_STR(nearest("dir"), NULL);
}

TAP_TEST(only_so_much_text_is_looked_at)
{
    char typed[] = "model_idx"; /* not ended by its length */
    struct ntff_near n = ntff_near_begin(typed, 8);
    ntff_near_try(&n, "model_id");
    TAP_EQ_STR(ntff_near_found(&n), "model_id");
    TAP_EQ_U64(n.best, 0);
    char long_name[200];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    n = ntff_near_begin(long_name, strlen(long_name));
    ntff_near_try(&n, long_name);
    TAP_EQ_STR(ntff_near_found(&n), NULL);
    n = ntff_near_begin("aaa", 3);
    ntff_near_try(&n, long_name);
    TAP_EQ_STR(ntff_near_found(&n), NULL);
}

TAP_MAIN()
