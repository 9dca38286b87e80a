/* SPDX-License-Identifier: BSD-3-Clause */
/* The payload of an EVENTS chunk: as it is, and with what follows its head compressed. */
#include <string.h>
#include <zstd.h>

#include "fuzz.h"
#include "trace/decoder.h"
#include "trace/fields.h"

static uint8_t payload[1 << 21];

static void event_check(const struct mw_event *event)
{
    CHECK(MW_EVENT_KIND_KNOWN(event->kind));
    CHECK(!(event->flags & ~(uint32_t)MW_EVENT_KNOWN_FLAGS));
    CHECK(event->comm >= -1 && event->ordinal >= -1);
    CHECK(!(event->flags & MW_EVENT_COUNTED) == (event->ordinal == -1));
    if (event->flags & MW_EVENT_PART)
        CHECK(event->start == 0 && event->end == 0);
}

static void decode(const uint8_t *data, size_t size)
{
    struct mw_decoder *decoder = NULL;
    struct mw_events_head head;
    const struct mw_event *events;
    size_t count;
    uint64_t total = 0;
    enum mw_status status = mw_events_head_read(data, size, &head);
    CHECK(status == MW_OK || status == MW_ERR_CORRUPT);
    status = mw_decoder_open(data, size, (uint32_t)size, &decoder);
    if (status != MW_OK) {
        CHECK(decoder == NULL);
        return;
    }
    while ((status = mw_decoder_step(decoder, &events, &count)) == MW_OK) {
        CHECK(count >= 1 && count <= MW_STEP_MAX_EVENTS);
        for (size_t i = 0; i < count; i++)
            event_check(&events[i]);
        total += count;
    }
    CHECK(status == MW_END ? total == head.count : total < head.count);
    CHECK(mw_decoder_step(decoder, &events, &count) == status); /* and it stays so */
    mw_decoder_close(decoder);
}

void fuzz_events(const uint8_t *data, size_t size)
{
    struct mw_reader reader = {data, data + size};
    uint64_t value;
    decode(data, size);
    for (int i = 0; i < 6; i++)
        if (mw_read_varint(&reader, &value) != MW_OK)
            return;
    size_t head = (size_t)(reader.next - data);
    if (size > sizeof payload / 2)
        return;
    memcpy(payload, data, head);
    size_t length =
        ZSTD_compress(payload + head, sizeof payload - head, data + head, size - head, 1);
    if (!ZSTD_isError(length))
        decode(payload, head + length);
}
