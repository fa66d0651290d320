/* Names of members: each once in an object, whatever the capture repeats. */
#include "proto/keys.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

static struct ntff_keys keys;

static const char *take(const char *name)
{
    return ntff_keys_take(&keys, name, strlen(name)).p;
}

TAP_TEST(each_name_once)
{
    ntff_keys_begin(&keys);
    TAP_EQ_STR(take("gid"), "gid");
    TAP_EQ_STR(take("gid_2"), "gid_2");
    TAP_EQ_STR(take("gid"), "gid_3"); /* gid_2 is taken */
    TAP_EQ_STR(take("gid"), "gid_4");
    TAP_EQ_STR(take("other"), "other");
    ntff_keys_begin(&keys);
    TAP_EQ_STR(take("gid"), "gid");
    TAP_EQ_STR(take("gid"), "gid_2");
    ntff_keys_done(&keys);
}

TAP_TEST(names_that_read_alike_are_the_same)
{
    ntff_keys_begin(&keys);
    TAP_EQ_STR(take("\xff"), "\xef\xbf\xbd");
    TAP_EQ_STR(take("\xfe"), "\xef\xbf\xbd_2");
    TAP_EQ_STR(take(""), "");
    TAP_EQ_STR(take(""), "_2");
    ntff_keys_done(&keys);
}

/* Longer than what a number can be put behind, and as often as it takes to notice a square. */
TAP_TEST(long_names_and_many)
{
    static char name[3000], before[64];
    memset(name, 'k', sizeof name - 1);
    ntff_keys_begin(&keys);
    TAP_EQ_STR(take(name), name);
    TAP_OK(strlen(take(name)) < 512);
    TAP_OK(strcmp(take(name), take(name)) != 0);
    for (int i = 0; i < 300000; i++) {
        snprintf(before, sizeof before, i == 0 ? "a" : "a_%d", i + 1);
        TAP_EQ_STR(take("a"), before);
    }
    TAP_OK(!keys.failed);
    ntff_keys_done(&keys);
}

TAP_MAIN()
