/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Redaction, both ways: what must not get into a trace, and what must come through whole. The
 * secrets here are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/redact.h"

#define R      MW_REDACTED
#define HEX40  "3f786850e387550fdab836ed7e6dc881de23001b"
#define HEX64  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define BASE64 "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYq9Zt41"
#define JWT    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
#define UUID   "8932f937-d72c-4106-c12f-20bd9faed9f6"

struct setting {
    const char *key, *value, *expected; /* expected NULL: unchanged */
};

static const struct setting secret_settings[] = {
    {"GITHUB_TOKEN", "abcdef", R},
    {"SLURM_JWT", "x", R},
    {"AWS_SECRET_ACCESS_KEY", "/abc", R},
    {"AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", R},
    {"MYSQL_PWD", "hunter2", R},
    {"PGPASSWORD", "1234", R},
    {"DB_PASS", "abc", R},
    {"OMPI_MCA_db_passwd", "abc", R},
    {"SSH_PASSPHRASE", "a b c", R},
    {"API_KEY", "abc", R},
    {"ApiKey", "abc", R},
    {"OPENAI_API_KEY", "sk-abc", R},
    {"HPC_SSL_KEY", "abc", R},
    {"SLURM_COOKIE", "abc", R},
    {"PBS_JOBCOOKIE", "000000004B21A2E7", R},
    {"FI_OPX_AUTH_KEY", "deadbeef", R},
    {"GOOGLE_CREDENTIALS", "x", R},
    {"myClientSecret", "x", R},
    {"HTTP_AUTHORIZATION", "Basic abc", R},
    {"OMPI_MCA_orte_precondition_transports", "61de1b2ac8ab3ab3-fbcd6dae4e15a2a9", R},
    /* by the value alone */
    {"SLURM_COMMENT", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", R},
    {"SLURM_COMMENT", "AKIAIOSFODNN7EXAMPLE", R},
    {"OMPI_MCA_x", JWT, R},
    {"OMPI_MCA_x", "key " JWT " end", "key " R " end"},
    {"OMPI_MCA_x", HEX40, R},
    {"UCX_X", "a," HEX64 ",b", "a," R ",b"},
    {"UCX_X", BASE64, R},
    {"UCX_X", BASE64 "==", R "=="},
    {"PMIX_X", "https://user:pw@host/path", "https://" R "@host/path"},
    {"PMIX_X", "https://ghp_16C7e42F292c6912E7710c838347Ae178B4a@github.com/x",
     "https://" R "@github.com/x"},
    {"PMIX_X", "joe:pw@db.example.org", R "@db.example.org"},
    {"PMIX_X", "joe:pw@10.0.0.7:5432/x", R "@10.0.0.7:5432/x"},
    {"PMIX_X", "postgres://a:b@h/d,mysql://c:d@i/e", "postgres://" R "@h/d,mysql://" R "@i/e"},
    {"PMIX_X", "host=db user=me password=hunter2 port=5432",
     "host=db user=me password=" R " port=5432"},
    {"PMIX_X", "https://h/x?token=abc&n=1", "https://h/x?token=" R "&n=1"},
    {"PMIX_X", "{\"token\": \"abc\", \"n\": 1}", "{\"token\": \"" R "\", \"n\": 1}"},
    {"PMIX_X", "Authorization: Bearer abc", "Authorization: Bearer " R},
    {"PMIX_X", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n", R},
    {"PMIX_X", "prog --password hunter2 --n 4", "prog --password " R " --n 4"},
    {"PMIX_X", "AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v", R},
    /* the issuer's prefix alone says it */
    {"UCX_X", "ghp_aaaaaaaaaaaaaaaa", R},
    {"UCX_X", "gho_aaaaaaaaaaaaaaaaaaaa", R},
    {"UCX_X", "a ghs_abcdefghijklmnop b", "a " R " b"},
    {"UCX_X", "github_pat_abcdefgh_ijklmnop", R},
    {"UCX_X", "glpat-aaaa-bbbb_cccc-dd", R},
    {"UCX_X", "xoxb-1111-2222-abcdefgh", R},
    {"UCX_X", "sk-abcdefghijklmnop", R},
    {"UCX_X", "sk-proj-abcdefghijklmnop", R},
    {"UCX_X", "AKIAABCDEFGHIJKLMNOPQR", R},
    {"UCX_X", "hf_abcdefghijklmnop", R},
    {"UCX_X", "npm_abcdefghijklmnop", R},
    {"UCX_X", "pypi-abcdefghijklmnop", R},
    {"OMPI_ARGV", "db -psecret9 --user bob:pwbob1", "db -p" R " --user " R},
    {NULL, "x glpat-a1B2c3D4e5F6g7H8i9J0 y", "x " R " y"},
};

static const struct setting plain_settings[] = {
    {"UCX_TLS", "rc_x,ud_x,sm,self,cuda_copy,cuda_ipc", NULL},
    {"UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", NULL},
    {"UCX_IB_PKEY", "0x8001", NULL},
    {"UCX_IB_P_KEY", "0x8001", NULL},
    {"PSM3_PKEY", "0x8001", NULL},
    {"OMPI_MCA_btl_openib_pkey", "0x7fff", NULL},
    {"UCX_TCP_KEEPIDLE", "10s", NULL},
    {"OMPI_MCA_attribute_keyval", "some words", NULL},
    {"MONKEY", "banana", NULL},
    {"OMPI_KEYBOARD", "qwerty", NULL},
    {"UCX_KEY_SIZE", "big", NULL},
    {"SORT_KEY", "name", NULL},
    {"MPICH_MAX_TOKENS", "4096", NULL},
    {"UCX_TOKEN_BUCKET", "16M", NULL},
    {"PMIX_AUTH", "none", NULL},
    {"SLURM_KEY_FILE", "/etc/slurm/slurm.key", NULL},
    {"SSH_AUTH_SOCK", "/tmp/ssh-abc/agent.1", NULL},
    {"PWD", "/home/joe/passwords", NULL},
    {"OLDPWD", "src", NULL},
    {"PMI_AUTHOR", "joe", NULL},
    {"OMPI_MCA_pml", "ob1", NULL},
    {"OMPI_MCA_mtl_ofi_provider_include", "cxi", NULL},
    {"OMPI_MCA_orte_hnp_uri", "3131703296.0;tcp://10.0.0.4,192.168.122.1:43261", NULL},
    {"PMIX_SERVER_URI41", "prterun-node1-1234@0.0;tcp4://127.0.0.1:36843", NULL},
    {"PMIX_NAMESPACE", "prterun-node1-1234@1", NULL},
    {"PMI_process_mapping", "(vector,(0,1,2))", NULL},
    {"SLURM_JOB_NODELIST", "node[001-128,200]", NULL},
    {"SLURM_CPU_BIND", "quiet,mask_cpu:0x00000000000000000000000000000001", NULL},
    {"SLURM_CPU_BIND_LIST", "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF,0x0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F",
     NULL},
    {"SLURM_TOPOLOGY_ADDR", "ss0.lv1.sw12.node003", NULL},
    {"CUDA_VISIBLE_DEVICES", "GPU-" UUID, NULL},
    {"CUDA_VISIBLE_DEVICES", "MIG-GPU-" UUID "/1/0,MIG-" UUID, NULL},
    {"ROCR_VISIBLE_DEVICES", "GPU-365628c172834d70,GPU-dd3a0e3b1c5f8e21", NULL},
    {"OMP_PLACES", "{0:4},{4:4},{8:4}", NULL},
    {"KMP_AFFINITY", "granularity=fine,compact,1,0", NULL},
    {"GOMP_CPU_AFFINITY", "0-3 8-11", NULL},
    {"LD_LIBRARY_PATH",
     "/gnu/store/7bqmnzyi06k5sgbhqmd4wwqh2r4yhpkf-openmpi-4.1.6/lib:/nix/store/"
     "1q9k9ib0bxn4qvbk5z0nkj9wjh1qq0xd-glibc-2.38/lib",
     NULL},
    {"LD_LIBRARY_PATH",
     "/opt/spack/linux-debian12-zen3/gcc-12.2.0/openmpi-4.1.5-ax6z7x7m2gk7rjwyb3g6hmsd5cpzyk6q/lib",
     NULL},
    {"LD_PRELOAD", "/home/joe/" HEX64 "/libmpiwatch.so", NULL},
    {"SPACK_LOADED_HASHES", "ax6z7x7m2gk7rjwyb3g6hmsd5cpzyk6q:" HEX40, NULL},
    {"GUIX_COMMIT", HEX40, NULL},
    {"EBBUILDID", HEX40, NULL},
    {"SLURM_BUILD_ID", HEX40, NULL},
    {"PMIX_X", "build-id=" HEX40, NULL},
    {"PMIX_X",
     "sha256:"
     "abc",
     NULL},
    {"LOADEDMODULES", "gcc/12.2.0:ucx@main", NULL},
    {"SPACK_X", "openmpi@4.1.5:4.2", NULL},
    {"PMIX_X", "joe@host", NULL},
    {"PMIX_X", "http://host:8080/a/b?n=1", NULL},
    {"PMIX_X", "ssh://git@github.com/x", NULL},
    {"PMIX_X", "eyJ short", NULL},
    {"PMIX_X", "a sentence about a password and a key, harmless", NULL},
    {"PMIX_X", "hf_cache_folder_of_the_group", NULL},
    {"PMIX_X", "npm_config_user_agent_name", NULL},
    {"PMIX_X", "ghp_short", NULL},
    {"PMIX_X", "AKIA", NULL},
    {"PMIX_X", "sk-this-is-a-name-of-a-thing-that-is-long", NULL},
    {"EASYBUILD_MODULES", "GCCcore/12.3.0,OpenMPI/4.1.5-GCC-12.3.0,HDF5/1.14.0-gompi-2023a", NULL},
    {"PMIX_X", "TheQuickBrownFoxJumpsOverTheLazyDogAndRunsHome2", NULL},
    {"PMIX_X", "1234567890123456789012345678901234567890", NULL},
    {"API_KEY", "", NULL},
    {"UCX_X", "", NULL},
    {"", "", NULL},
    {"UCX_X", "a=b==c= =d", NULL},
    {"UCX_X", "  \t two  blanks ", NULL},
    {"UCX_X", "\xff\xfe bytes \x80", NULL},
};

static void settings_check(const struct setting *list, size_t count, int redacted)
{
    char out[4096];
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const struct setting *s = &list[i];
        const char *expected = s->expected ? s->expected : s->value;
        int got = mw_redact_value(s->key, s->value, out, sizeof out);
        if (got != redacted || strcmp(out, expected) != 0) {
            print_error("%s=%s: \"%s\" (%d)\n", s->key ? s->key : "(none)", s->value, out, got);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_secret_settings(void **state)
{
    settings_check(secret_settings, sizeof secret_settings / sizeof *secret_settings, 1);
}

static void test_plain_settings(void **state)
{
    settings_check(plain_settings, sizeof plain_settings / sizeof *plain_settings, 0);
}

static const struct {
    const char *previous, *argument, *expected;
} arguments[] = {
    {"x", "--password=hunter2", "--password=" R},
    {"--password", "hunter2", R},
    {"--password", "my long pass word", R},
    {"-password", "hunter2", R},
    {"--pass", "abc", R},
    {"-p", "hunter2", R},
    {"-p", "x", R},
    {"--user", "bob:pwbob1", R},
    {"x", "--user=bob:pwbob1", "--user=" R},
    {"--login", "bob:pw", R},
    {"--credentials", "bob:pw", R},
    {"x", "-psecret9", "-p" R},
    {"x", "-pS3cretWord", "-p" R},
    {"--user", "1000:100", NULL},
    {"--user", "bob", NULL},
    {"--users", "a:b", NULL},
    {"user", "a:b", NULL},
    {"x", "-p4096", NULL},
    {"x", "-p16x16x32", NULL},
    {"x", "-p1,2,3,4a", NULL},
    {"x", "-p/scratch/run1", NULL},
    {"x", "-pinput01.dat", NULL},
    {"x", "-pab12", NULL},
    {"x", "-psecretword", NULL},
    {"x", "-partition2", NULL},
    {"x", "-precision64", NULL},
    {"x", "-procs_per_node4", NULL},
    {"--api-key", "abc", R},
    {"--auth-token", "abc", R},
    {"-x", "AWS_SECRET_ACCESS_KEY=abc", "AWS_SECRET_ACCESS_KEY=" R},
    {"-x", "-DDB_PASSWORD=abc", "-DDB_PASSWORD=" R},
    {"-genv", "MY_TOKEN", NULL},
    {"MY_TOKEN", "abc", R},
    {"orte_precondition_transports", "61de1b2ac8ab3ab3-fbcd6dae4e15a2a9", R},
    {"-H", "Authorization: Bearer abc.def", "Authorization: Bearer " R},
    {"-c", "curl -u joe:pw@host --token abc; run", "curl -u " R "@host --token " R "; run"},
    {NULL, "https://joe:pw@host/x", "https://" R "@host/x"},
    {NULL, "ghp_16C7e42F292c6912E7710c838347Ae178B4a", R},
    {"--password", "--verbose", NULL}, /* the next option, no value */
    {"-p", "4", NULL},
    {"-p", "2x2x1", NULL},
    {"-p", "1e-6", NULL},
    {"-p", "2,2,1", NULL},
    {"-p", "/scratch/run", NULL},
    {"-p", "input.dat", NULL},
    {"-p", "-v", NULL},
    {"-np", "hunter2", NULL},
    {"-n", "4", NULL},
    {"--key", "4", NULL},
    {"--sort-key", "energy", NULL},
    {"--mca", "btl", NULL},
    {"btl", "tcp,self", NULL},
    {"--map-by", "ppr:2:node:PE=4", NULL},
    {"-x", "UCX_TLS=rc,self", NULL},
    {"--host", "node1:4,node2:4", NULL},
    {"--prefix", "/opt/openmpi@4.1/x", NULL},
    {NULL, "./osu_bw", NULL},
    {"./lmp", "-in", NULL},
    {"my password", "is", NULL},
    {"--password=a", "b", NULL},
    {NULL, "", NULL},
    {"", "x", NULL},
    {"--password", "", NULL},
};

static void test_arguments(void **state)
{
    char out[4096];
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        const char *argument = arguments[i].argument;
        const char *expected = arguments[i].expected ? arguments[i].expected : argument;
        int got = mw_redact_argument(arguments[i].previous, argument, out, sizeof out);
        if (strcmp(out, expected) != 0 || got != (arguments[i].expected != NULL)) {
            print_error("%s, %s: \"%s\" (%d)\n", arguments[i].previous, argument, out, got);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_cut(void **state)
{
    char out[32], guard[40];
    char longer[200];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(mw_redact_value("UCX_X", longer, out, sizeof out), 0);
    assert_int_equal(strlen(out), sizeof out - 1);
    assert_string_equal(out + sizeof out - 6, "[...]");
    /* it just fits */
    longer[31] = '\0';
    mw_redact_value("UCX_X", longer, out, sizeof out);
    assert_string_equal(out, longer);
    /* no half characters */
    strcpy(longer, "aaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
    mw_redact_value("UCX_X", longer, out, sizeof out);
    assert_string_equal(out, "aaaaaaaaaaaaaaaaaaaaaaaaa[...]");
    /* never past the end, however small */
    for (size_t capacity = 1; capacity < sizeof guard; capacity++) {
        memset(guard, 'G', sizeof guard);
        mw_redact_value("UCX_X", "one two=three https://a:b@c/d four", guard, capacity);
        assert_true(memchr(guard, '\0', capacity) != NULL);
        for (size_t i = capacity; i < sizeof guard; i++)
            assert_int_equal(guard[i], 'G');
        assert_null(strstr(guard, "a:b"));
    }
    /* a secret that would be cut in the middle is still seen whole */
    char hidden[100];
    snprintf(hidden, sizeof hidden, "aaaaaaaaaa %s", HEX64);
    mw_redact_value("UCX_X", hidden, out, 30);
    assert_string_equal(out, "aaaaaaaaaa " R);
}

/* Random bytes: the output is bounded, and without redaction it is the input. */
static void test_noise(void **state)
{
    static const char alphabet[] = "aZ09=:@/ -_.,;\"'{}?&#\\\xff\x80%+tokenpassword";
    char text[300], out[2048], key[20];
    srand(7);
    for (int round = 0; round < 50000; round++) {
        size_t length = (size_t)(rand() % 200), named = (size_t)(rand() % 10);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        text[length] = '\0';
        for (size_t i = 0; i < named; i++)
            key[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        key[named] = '\0';
        int got = round % 2 ? mw_redact_value(key, text, out, sizeof out)
                            : mw_redact_argument(key, text, out, sizeof out);
        if (got)
            assert_non_null(strstr(out, R));
        else
            assert_string_equal(out, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_settings), cmocka_unit_test(test_plain_settings),
        cmocka_unit_test(test_arguments),       cmocka_unit_test(test_cut),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
