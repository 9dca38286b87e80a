/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as people read them: at most four significant digits and a unit. For sentences and text
 * output; JSON and CSV carry plain numbers in base units. Results are newly allocated.
 */
#ifndef MW_BASE_NUMBER_H
#define MW_BASE_NUMBER_H

#include <stdint.h>

char *mw_number_bytes(double bytes);     /* "512 B", "1.50 KiB" */
char *mw_number_count(double count);     /* "99999", "1.23 M" */
char *mw_number_seconds(double seconds); /* "120 ns", "1.23 s"; "-" for NaN */
char *mw_number_percent(double share);   /* 0.123: "12.3 %" */
/* Bytes per second in powers of ten, as line rates are: "2.30 GB/s"; "-" for NaN. */
char *mw_number_rate(double bytes);
/* "2.30 of 25.0 GB/s", "66.4 MB/s of 25.0 GB/s": what was reached of a line rate, both in bytes per
 * second. */
char *mw_number_rate_of(double reached, double whole);
/* Absolute time, UTC: "2026-11-30T12:00:03.123Z"; NULL for NaN or nonsense. */
char *mw_number_time(double seconds);
/* The part of it that people look at: "12:00:03.123" of mw_number_time's text. */
char *mw_number_clock(const char *time);

#endif
