/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe of GPUs: notices that a runtime has been loaded, tells the devices that it shows to
 * this process, and lets the buffers of calls be looked up. It never loads a library. The steps run
 * on the thread that makes the call of MPI; the look for runtimes on any thread, one at a time.
 */
#include "probe/gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "record/record.h"
#include "record/spaces.h"
#include "trace/fields.h"

/* How often it is looked whether a runtime has come. It takes a tenth of a microsecond while
 * nothing is loaded, and no runtime can be loaded, initialised and asked for memory within that
 * time. */
#define LOOK_EVERY_NS 1000000u
/* How long answers about buffers are kept though nothing has happened that the watch sees. */
#define KEEP_NS 50000000u

enum { ABSENT, THERE, UNUSABLE };
static struct {
    const struct mw_gpu_runtime *runtime;
    _Atomic int state, watched;
    int told; /* the trace has its devices */
} all[] = {{.runtime = &mw_gpu_hsa}, {.runtime = &mw_gpu_cuda}};
#define ALL (sizeof all / sizeof *all)

_Atomic uint64_t mw_gpu_next_look;
_Atomic int mw_gpu_there;
static _Atomic int looking;
static unsigned seen; /* so many objects had been loaded when it was looked last */

/* --- runtimes --- */

static int is_named(const struct mw_module_entry *module, const char *prefix)
{
    const char *base = strrchr(module->path, '/');
    base = base ? base + 1 : module->path;
    return strncmp(base, prefix, strlen(prefix)) == 0 &&
           !atomic_load_explicit(&module->gone, memory_order_relaxed);
}

static const struct mw_module_entry *library_of(const struct mw_gpu_runtime *runtime)
{
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *module = mw_modules_at(i);
        if (is_named(module, runtime->object) && mw_elf_symbol(module, runtime->symbol))
            return module;
    }
    return NULL;
}

/* Its objects may come one after the other. Whether one that must be watched is. */
static int watch(const struct mw_gpu_runtime *runtime)
{
    int enough = 0;
    for (unsigned d = 0; runtime->drivers[d]; d++)
        for (unsigned i = 0; i < mw_modules_count(); i++)
            if (is_named(mw_modules_at(i), runtime->drivers[d]) && mw_gpu_watch(mw_modules_at(i)) &&
                d < runtime->needed)
                enough = 1;
    return enough;
}

static void look_for(unsigned i)
{
    int state = atomic_load(&all[i].state);
    const struct mw_module_entry *library = state == ABSENT ? library_of(all[i].runtime) : NULL;
    if (library) {
        state = mw_gpu_pin(library) && all[i].runtime->attach(library) ? THERE : UNUSABLE;
        atomic_store(&all[i].state, state);
    }
    if (state != THERE)
        return;
    all[i].watched = watch(all[i].runtime);
    if (!library)
        return;
    mw_gpu_memory_add(all[i].runtime);
    atomic_store(&mw_gpu_there, 1);
}

/* Whether a change of what memory is would be noticed. */
static int is_watched(void)
{
    for (unsigned i = 0; i < ALL; i++)
        if (atomic_load(&all[i].state) == THERE && !all[i].watched)
            return 0;
    return mw_gpu_watch_stands();
}

void mw_gpu_look(uint64_t now)
{
    int idle = 0, saved = errno;
    if (!atomic_compare_exchange_strong(&looking, &idle, 1))
        return;
    uint64_t next = now + mw_ns_to_ticks(LOOK_EVERY_NS);
    mw_modules_refresh();
    unsigned count = mw_modules_count();
    for (unsigned i = 0; i < ALL && count != seen; i++)
        look_for(i);
    seen = count;
    atomic_store(&mw_gpu_keep, is_watched() ? mw_ns_to_ticks(KEEP_NS) : 0);
    atomic_store_explicit(&mw_gpu_next_look, next, memory_order_relaxed);
    mw_spaces_due_at(atomic_load(&mw_gpu_there) ? 0 : next);
    atomic_store(&looking, 0);
    errno = saved;
}

/* --- devices --- */

/* Which settings leave devices out, in words. */
static void visible_text(char *out, size_t capacity)
{
    static const char *const names[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                        "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};
    struct mw_text text;
    mw_text_init(&text, out, capacity);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value)
            continue;
        if (text.size)
            mw_text_add(&text, " ");
        mw_text_add(&text, names[i]);
        mw_text_add(&text, "=");
        mw_text_add_some(&text, value, strnlen(value, 256));
    }
}

static void put_peers(struct mw_buffer *buffer, const struct mw_gpu_runtime *runtime,
                      unsigned index, unsigned count)
{
    struct mw_gpu_peer peer;
    for (unsigned other = 0; other < count; other++) {
        if (other == index || !runtime->peer_at(index, other, &peer))
            continue;
        size_t mark = mw_put_begin(buffer, MW_F_GPUDEVICE_peer);
        mw_put_u64(buffer, MW_F_DEVICEPEER_index, other);
        mw_put_u64(buffer, MW_F_DEVICEPEER_access, peer.access != 0);
        mw_put_text(buffer, MW_F_DEVICEPEER_link, peer.link);
        mw_put_u64(buffer, MW_F_DEVICEPEER_hops, peer.hops);
        mw_put_end(buffer, mark);
    }
}

/* One device in a chunk of its own: its peers may be many. */
static int device_write(const struct mw_gpu_runtime *runtime, unsigned index, unsigned count)
{
    static uint8_t memory[8192]; /* one step at a time */
    struct mw_buffer buffer;
    struct mw_gpu_device device;
    char visible[1024];
    if (!runtime->device_at(index, &device))
        return 0;
    visible_text(visible, sizeof visible);
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_DEVICE_time, mw_now());
    mw_put_text(&buffer, MW_F_DEVICE_visible, visible);
    size_t mark = mw_put_begin(&buffer, MW_F_DEVICE_device);
    mw_put_text(&buffer, MW_F_GPUDEVICE_runtime, runtime->name);
    mw_put_u64(&buffer, MW_F_GPUDEVICE_index, device.index);
    mw_put_text(&buffer, MW_F_GPUDEVICE_pci, device.pci);
    mw_put_text(&buffer, MW_F_GPUDEVICE_name, device.name);
    mw_put_u64(&buffer, MW_F_GPUDEVICE_memory, device.memory);
    mw_put_text(&buffer, MW_F_GPUDEVICE_uuid, device.uuid);
    put_peers(&buffer, runtime, index, count);
    mw_put_u64(&buffer, MW_F_GPUDEVICE_current, device.current != 0);
    mw_put_end(&buffer, mark);
    mw_output_chunk(MW_CHUNK_DEVICE, buffer.data, buffer.size);
    return 1;
}

/* What the runtimes show, where they are initialised by now. */
static void devices_write(int again)
{
    for (unsigned i = 0; i < ALL; i++) {
        const struct mw_gpu_runtime *runtime = all[i].runtime;
        int count = -1;
        if (atomic_load(&all[i].state) == THERE && (again || !all[i].told))
            count = runtime->device_count();
        for (int index = 0; index < count; index++) {
            if (mw_probe_late()) {
                mw_choice("probe", "gpu", "partly", "there was no time for all devices");
                return;
            }
            device_write(runtime, (unsigned)index, (unsigned)count);
        }
        all[i].told |= count >= 0;
    }
}

/* --- steps --- */

static void start(void)
{
    mw_spaces_due_at(0);
}

static void ready(void)
{
    mw_gpu_look(mw_now());
    devices_write(0);
}

static void flush(void)
{
    devices_write(0);
    mw_spaces_write();
}

static void say_coverage(void)
{
    if (!atomic_load(&mw_gpu_there)) {
        int unusable = 0;
        for (unsigned i = 0; i < ALL; i++)
            unusable |= atomic_load(&all[i].state) == UNUSABLE;
        mw_choice("probe", "gpu", unusable ? "not covered" : "absent",
                  unusable ? "the runtime lacks a function" : "");
    } else if (!is_watched()) {
        mw_choice("probe", "gpu", "on", "each buffer was asked for: the driver cannot be watched");
    }
}

/* In exit() and MPI_Abort nobody may be asked any more. The device that the thread has chosen is
 * only known at the end. */
static void finish(enum mw_end_reason reason)
{
    if (reason == MW_END_FINALIZE) {
        mw_gpu_look(mw_now());
        devices_write(1);
    }
    mw_spaces_due_at(UINT64_MAX);
    mw_spaces_write();
    say_coverage();
}

static void again(void)
{
    mw_spaces_due_at(0);
}

const struct mw_probe mw_probe_gpu = {.name = "gpu",
                                      .limit_us = 20000,
                                      .start = start,
                                      .ready = ready,
                                      .flush = flush,
                                      .finish = finish,
                                      .again = again};
