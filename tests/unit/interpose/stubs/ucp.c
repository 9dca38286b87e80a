/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A UCX of a few lines: its functions say what the test tells them to, note that they were called,
 * and call each other by their exported names as the real ones do.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef signed char status;
#define EXPORT __attribute__((visibility("default")))

EXPORT void *fake_result;  /* of what moves data */
/* each thread its own */
EXPORT __thread status fake_status; /* of what opens, and of data functions with a status */
EXPORT uint64_t fake_uid;  /* of the next worker */
EXPORT unsigned fake_minor = 13;
EXPORT __thread unsigned fake_calls;
EXPORT __thread uintptr_t fake_next; /* handle of the next endpoint or worker */
EXPORT const char *fake_lanes = "";
EXPORT const void *fake_arguments[8];
EXPORT unsigned fake_asked; /* for lanes */

status ucp_init_version(unsigned major, unsigned minor, const void *p, const void *c, void **x);
void *ucp_put_nbx(void *ep, const void *b, size_t n, uint64_t at, void *key, const void *param);
void *ucp_tag_send_nbx(void *ep, const void *b, size_t n, uint64_t tag, const void *param);

EXPORT status ucp_init_version(unsigned major, unsigned minor, const void *p, const void *c,
                               void **x)
{
    fake_calls++;
    *x = (void *)0x1000;
    return fake_status;
}

EXPORT void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release)
{
    *major = 1, *minor = fake_minor, *release = 7;
}

EXPORT const char *ucs_status_string(status s)
{
    return s == -14 ? "No such thing" : "other";
}

EXPORT void ucp_context_print_info(void *context, FILE *stream)
{
    fputs("#\n#      resource 0  :  md 0  dev 0  flags -- self/memory\n"
          "#      resource 1  :  md 0  dev 0  flags -- ib/mlx5_0:1\n"
          "#      resource 2  :  md 0  dev 0  flags -- self/memory\n",
          stream);
}

EXPORT status ucp_worker_create(void *context, const void *params, void **worker)
{
    fake_calls++;
    *worker = (void *)fake_next;
    return fake_status;
}

EXPORT status ucp_worker_get_address(void *worker, void **address, size_t *size)
{
    *address = &fake_uid;
    *size = sizeof fake_uid;
    return 0;
}

EXPORT void ucp_worker_release_address(void *worker, void *address)
{
}

EXPORT status ucp_worker_address_query(void *address, uint64_t *attr)
{
    memcpy(&attr[1], address, 8);
    return 0;
}

EXPORT void ucp_worker_destroy(void *worker)
{
    fake_calls++;
}

EXPORT status ucp_ep_create(void *worker, const void *params, void **ep)
{
    fake_calls++;
    *ep = (void *)fake_next;
    return fake_status;
}

EXPORT void ucp_ep_print_info(void *ep, FILE *stream)
{
    fake_asked++;
    fputs(fake_lanes, stream);
}

EXPORT void *ucp_ep_close_nb(void *ep, unsigned mode)
{
    fake_calls++;
    return NULL;
}

EXPORT void ucp_ep_destroy(void *ep)
{
    ucp_ep_close_nb(ep, 0);
}

#define POINTER(name, ...)                                                                         \
    EXPORT void *name(__VA_ARGS__)                                                                 \
    {                                                                                              \
        fake_calls++;                                                                              \
        return fake_result;                                                                        \
    }
#define STATUS(name, ...)                                                                          \
    EXPORT status name(__VA_ARGS__)                                                                \
    {                                                                                              \
        fake_calls++;                                                                              \
        return fake_status;                                                                        \
    }

typedef void *p;
typedef const void *cp;
typedef uint64_t u;

EXPORT void *ucp_am_send_nbx(p ep, unsigned id, cp header, size_t header_size, cp b, size_t n, cp q)
{
    const void *given[] = {ep, (cp)(uintptr_t)id, header, (cp)header_size, b, (cp)n, q, NULL};
    memcpy(fake_arguments, given, sizeof given);
    fake_calls++;
    return fake_result;
}

EXPORT void *ucp_atomic_fetch_nb(p ep, int op, u value, p answer, size_t n, u at, p key, p done)
{
    const void *given[] = {ep, (cp)(intptr_t)op, (cp)value, answer, (cp)n, (cp)at, key, done};
    memcpy(fake_arguments, given, sizeof given);
    fake_calls++;
    return fake_result;
}

POINTER(ucp_tag_send_nbx, p ep, cp b, size_t n, u tag, cp q)
POINTER(ucp_tag_send_sync_nbx, p ep, cp b, size_t n, u tag, cp q)
POINTER(ucp_tag_send_sync_nb, p ep, cp b, size_t n, u type, u tag, p done)
STATUS(ucp_tag_send_nbr, p ep, cp b, size_t n, u type, u tag, p request)
POINTER(ucp_am_send_nb, p ep, uint16_t id, cp b, size_t n, u type, p done, unsigned flags)
POINTER(ucp_stream_send_nb, p ep, cp b, size_t n, u type, p done, unsigned flags)
POINTER(ucp_stream_send_nbx, p ep, cp b, size_t n, cp q)
POINTER(ucp_put_nbx, p ep, cp b, size_t n, u at, p key, cp q)
STATUS(ucp_put_nbi, p ep, cp b, size_t n, u at, p key)
STATUS(ucp_get, p ep, p b, size_t n, u at, p key)
STATUS(ucp_get_nbi, p ep, p b, size_t n, u at, p key)
POINTER(ucp_get_nb, p ep, p b, size_t n, u at, p key, p done)
POINTER(ucp_get_nbx, p ep, p b, size_t n, u at, p key, cp q)
STATUS(ucp_atomic_post, p ep, int op, u value, size_t n, u at, p key)
POINTER(ucp_atomic_op_nbx, p ep, int op, cp b, size_t n, u at, p key, cp q)
STATUS(ucp_atomic_add64, p ep, u value, u at, p key)
STATUS(ucp_atomic_cswap32, p ep, uint32_t compare, uint32_t value, u at, p key, uint32_t *answer)

/* By way of their newer forms: */

EXPORT void *ucp_tag_send_nb(p ep, cp b, size_t n, u type, u tag, p done)
{
    return ucp_tag_send_nbx(ep, b, n, tag, NULL);
}

EXPORT void *ucp_put_nb(p ep, cp b, size_t n, u at, p key, p done)
{
    return ucp_put_nbx(ep, b, n, at, key, NULL);
}

EXPORT status ucp_put(p ep, cp b, size_t n, u at, p key)
{
    fake_asked += ucp_put_nbx(ep, b, n, at, key, NULL) != NULL;
    return fake_status;
}
