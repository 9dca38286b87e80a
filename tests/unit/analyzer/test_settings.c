/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What settings are judged by: texts of a library (this program's own file serves), how far words
 * are apart, and which names a list lets in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/settings.h"
#include "analyzer/analysis/texts.h"

static unsigned apart(const char *a, const char *b, unsigned most)
{
    unsigned distance = mw_word_distance(a, strlen(a), b, strlen(b), most, 0);
    assert_int_equal(distance, mw_word_distance(b, strlen(b), a, strlen(a), most, 0));
    return distance;
}

static void test_distance(void **state)
{
    assert_int_equal(apart("btl", "btl", 2), 0);
    assert_int_equal(apart("btll", "btl", 2), 1);
    assert_int_equal(apart("blt", "btl", 2), 1); /* neighbours swapped */
    assert_int_equal(apart("if_inclde", "if_include", 2), 1);
    assert_int_equal(apart("abcdef", "badcfe", 3), 3);
    assert_int_equal(apart("tcp", "self", 2), 3); /* too far: one more than asked */
    assert_int_equal(apart("", "ab", 2), 2);
    assert_int_equal(apart("TLS", "tls", 2), 3);
    assert_int_equal(mw_word_distance("TLS", 3, "tls", 3, 2, MW_TEXTS_FOLD), 0);
    char longer[100];
    memset(longer, 'x', sizeof longer);
    assert_int_equal(mw_word_distance(longer, 99, longer, 99, 2, 0),
                     3); /* nothing is close to it */
    assert_int_equal(mw_word_distance(longer, 64, longer, 64, 2, 0), 0);
    assert_int_equal(mw_word_tolerance(2), 0);
    assert_int_equal(mw_word_tolerance(3), 1);
    assert_int_equal(mw_word_tolerance(8), 2);
}

static void test_lists(void **state)
{
    static const struct {
        const char *variable, *list, *name;
        int allows;
    } cases[] = {
        {"OMPI_MCA_pml", "^ucx", "ucx", -1},
        {"OMPI_MCA_pml", "^ucx", "ob1", 1},
        {"OMPI_MCA_pml", "ob1", "ucx", -2},
        {"OMPI_MCA_btl", "^uct,openib,ofi", "openib", -1},
        {"OMPI_MCA_btl", "tcp, self", "self", 1},
        {"OMPI_MCA_btl", "tcp,self", "sel", -2},
        {"OMPI_MCA_btl", "", "self", 1},
        {"OMPI_MCA_btl", "^", "self", 1},
        {"UCX_TLS", "all", "rc_verbs", 1},
        {"UCX_TLS", "tcp,self", "posix", -2},
        {"UCX_TLS", "tcp,self", "sm", -2},
        {"UCX_TLS", "sm,self", "posix", 1},
        {"UCX_TLS", "posix,self", "sm", 1},
        {"UCX_TLS", "^sm", "cma", -1},
        {"UCX_TLS", "^posix", "sm", 1}, /* sysv is left */
        {"UCX_TLS", "rc,ud:aux,\\self", "ud_verbs", 1},
        {"UCX_TLS", "rc", "ib", 1},
        {"UCX_TLS", "^ib", "rc_mlx5", -1},
        {"UCX_TLS", "tcp", "ib", -2},
        {"FI_PROVIDER", "tcp;ofi_rxm", "tcp", 1},
        {"FI_PROVIDER", "tcp;ofi_rxm", "OFI_RXM", 1},
        {"FI_PROVIDER", "tcp;ofi_rxm", "cxi", -2},
        {"FI_PROVIDER", "^cxi,verbs", "cxi", -1},
        {"UCX_NET_DEVICES", "mlx5_0:1,eth0", "eth0", 1},
        {"UCX_NET_DEVICES", "eth0", "mlx5_0:1", -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int allows = mw_list_allows(cases[i].variable, cases[i].list, cases[i].name);
        if (allows != cases[i].allows)
            fail_msg("%s=%s, %s: %d, not %d", cases[i].variable, cases[i].list, cases[i].name,
                     allows, cases[i].allows);
    }
}

/* In this program's file: whole texts, the end of one, and patterns. */
const char *const kept[] = {"mwtest_whole_name", "a text that ends in mwtest_tail_name",
                            "mwtest_%s_dynamic_%d", "%s_%s", "Mwtest_Mixed"};

static enum mw_image_texts_found found(const struct mw_image_texts *texts, const char *word,
                                       unsigned flags)
{
    return mw_image_texts_find(texts, word, strlen(word), flags);
}

static int count_visit(const char *text, void *context)
{
    *(int *)context += !strcmp(text, "mwtest_whole_name");
    return 0;
}

static void test_texts(void **state)
{
    static const uint8_t wrong[20] = {1};
    static char whole[] = "mwtest_whole_named";
    struct mw_image_texts *texts = mw_image_texts_create();
    int count = 0;
    assert_non_null(mw_image_texts_add(texts, "/proc/self/no-such", NULL, 0));
    assert_non_null(mw_image_texts_add(texts, "/dev/null", NULL, 0));
    assert_non_null(mw_image_texts_add(texts, "/etc/passwd", NULL, 0));
    assert_non_null(mw_image_texts_add(texts, "/proc/self/exe", wrong, sizeof wrong));
    assert_non_null(mw_image_texts_add(texts, "/proc/self/exe", wrong, 0));
    assert_int_equal(mw_image_texts_files(texts), 0);
    assert_false(mw_image_texts_has(texts, "mwtest_whole_name", 17, 0));
    assert_null(mw_image_texts_add(texts, "/proc/self/exe", NULL, 0));
    assert_true(mw_image_texts_has(texts, whole, 17, 0)); /* by length */
    assert_int_equal(found(texts, "mwtest_whole_name", 0), MW_TEXTS_FOUND);
    whole[strlen(whole) - 2] = 'X';
    assert_int_equal(found(texts, whole, 0), MW_TEXTS_NOT);
    assert_int_equal(found(texts, strstr(kept[1], "tail_"), 0), MW_TEXTS_PERHAPS);
    assert_true(mw_image_texts_has(texts, "MWTEST_MIXED", 12, MW_TEXTS_FOLD));
    assert_false(mw_image_texts_has(texts, "mwtest_mixed", 11, MW_TEXTS_FOLD));
    assert_true(mw_image_texts_pattern(texts, "mwtest_bcast_dynamic_17", 23));
    assert_false(mw_image_texts_pattern(texts, "mwtest__dynamic_17", 18));
    assert_false(mw_image_texts_pattern(texts, "no_pattern_of_two_conversions", 29));
    assert_non_null(mw_image_texts_file_of(texts, "mwtest_whole_name", 17, 0));
    mw_image_texts_each(texts, count_visit, &count);
    assert_int_equal(count, 1);
    mw_image_texts_free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
