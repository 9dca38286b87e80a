/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fabric libraries log, on its way into LOG chunks (docs/format.md): each different line once,
 * then counted, so that a flood costs little and a trace stays small. Any thread, no allocation; a
 * new line costs one write, at most MW_LOG_LINES times a process, a known one some hundred ns. Must
 * not be called with a lock held that writing a chunk might need.
 */
#ifndef MW_PROBE_LOGLINES_H
#define MW_PROBE_LOGLINES_H

#define MW_LOG_LINES       128u /* kept a process */
#define MW_LOG_PLACE_TEXTS 4u   /* different texts of one place in the source */
#define MW_LOG_TEXT        480u /* bytes kept of a text */
#define MW_LOG_WORD        64u  /* bytes kept of the other texts */

/* One line. Any text may be NULL or empty. Line ends and what follows MW_LOG_TEXT bytes are left
 * out. The first of its kind is in the trace's file when this returns. */
void mw_log_line(const char *library, const char *level, const char *subsystem,
                 const char *provider, const char *function, unsigned line, const char *text);

/* Writes the counts that have changed since they were written. May be called again and again. */
void mw_log_lines_finish(void);

#endif
