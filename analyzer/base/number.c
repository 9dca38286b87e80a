/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for people (number.h). Pure; any thread. LC_NUMERIC is "C" in this program. */
#include "analyzer/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/memory.h"

/* Three significant digits, or all of those before the point. */
static char *number_scaled(double value, const char *unit)
{
    int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return mw_format("%.*f %s", digits, value, unit);
}

char *mw_number_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    while (bytes >= 1023.5 && unit < 6) {
        bytes /= 1024;
        unit++;
    }
    return unit ? number_scaled(bytes, units[unit]) : mw_format("%.0f B", bytes);
}

char *mw_number_count(double count)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    unsigned unit = 0;
    if (count < 99999.5)
        return mw_format("%.0f", count);
    while (count >= 999.5 && unit < 6) {
        count /= 1000;
        unit++;
    }
    return number_scaled(count, units[unit]);
}

char *mw_number_seconds(double seconds)
{
    if (isnan(seconds))
        return mw_text_copy("-");
    if (seconds == 0)
        return mw_text_copy("0 s");
    if (seconds < 999.5e-9)
        return mw_format("%.0f ns", seconds * 1e9);
    if (seconds < 999.5e-6)
        return number_scaled(seconds * 1e6, "us");
    if (seconds < 999.5e-3)
        return number_scaled(seconds * 1e3, "ms");
    return number_scaled(seconds, "s");
}

static const char *const rate_units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};

/* The unit in which a rate has at least one digit before the point. */
static unsigned rate_unit(double bytes, double *divisor)
{
    unsigned unit = 0;
    for (*divisor = 1; bytes >= 999.5 && unit < 4; unit++) {
        bytes /= 1000;
        *divisor *= 1000;
    }
    return unit;
}

char *mw_number_rate(double bytes)
{
    double divisor;
    if (isnan(bytes))
        return mw_text_copy("-");
    unsigned unit = rate_unit(bytes, &divisor);
    return unit ? number_scaled(bytes / divisor, rate_units[unit]) : mw_format("%.0f B/s", bytes);
}

char *mw_number_rate_of(double reached, double whole)
{
    double divisor;
    if (isnan(reached) || !(whole > 0))
        return mw_number_rate(reached);
    unsigned unit = rate_unit(whole, &divisor);
    char *of = number_scaled(whole / divisor, rate_units[unit]), *text;
    if (reached > 0 && reached / divisor < 0.0995) {
        char *rate = mw_number_rate(reached); /* two decimals would say nothing */
        text = mw_format("%s of", rate);
        free(rate);
    } else {
        text = number_scaled(reached / divisor, "of");
    }
    char *both = mw_format("%s %s", text, of);
    free(of);
    free(text);
    return both;
}

char *mw_number_percent(double share)
{
    if (isnan(share))
        return mw_text_copy("-");
    return mw_format("%.*f %%", share < 0.9995 ? 1 : 0, share * 100);
}

char *mw_number_time(double seconds)
{
    char text[64];
    struct tm parts;
    if (!(seconds > 0 && seconds < 253402300799.0))
        return NULL;
    double milliseconds = floor(seconds * 1000 + 0.5);
    time_t whole = (time_t)(milliseconds / 1000);
    if (!gmtime_r(&whole, &parts))
        return NULL;
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    return mw_format("%s.%03dZ", text, (int)(milliseconds - (double)whole * 1000));
}

char *mw_number_clock(const char *time)
{
    const char *from = strchr(time, 'T');
    char *text = mw_text_copy(from ? from + 1 : time);
    size_t length = strlen(text);
    if (length && text[length - 1] == 'Z')
        text[length - 1] = 0;
    return text;
}
