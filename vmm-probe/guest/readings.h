/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every reading of a guest, and its limits in this process: one line each, from which budget.c makes a
 * record. docs/limits.md shows this table; tests/layering/readings.py compares it with the document, and each
 * file that reads a guest with its readings.
 *
 *   name         VP_READ_NAME
 *   what         in messages: "reading WHAT takes more than …"
 *   guest        MiB that are read of the guest's memory, page tables included
 *   memory       MiB that are allocated for it
 *   CPU, wall    ms, on a host that reads another process's memory in a few microseconds. Wall time counts
 *                from the first reading of an operation, without the time in which this thread waited for a
 *                CPU; 0: another one begins that operation
 * without what is missing once it is given up; ends the message
 *
 * The child's readings (copies) are limited by the kernel: confined/confined.h.
 */
#ifndef VP_GUEST_READINGS_H
#define VP_GUEST_READINGS_H

#include <stdint.h>

/* clang-format off */
#define VP_READINGS(X) \
	/*name         what                                  guest  memory   CPU     wall    without */ \
	X(IMAGE,       "the kernel's image",                 20480, 160,     1500,   8000,   "the guest can't be traced") \
	X(SYMBOLS,     "the symbols",                        4096,  56,      1000,   0,      "--symbols FILE gives them") \
	X(VMLINUX,     "the symbols and the vmlinux",        4096,  312,     1000,   0,      "--symbols FILE gives them") \
	X(TYPES,       "the types",                          16,    40,      750,    0,      "structures are unknown") \
	X(MODULES,     "the modules",                        512,   96,      750,    0,      "modules have no symbols") \
	X(STACKS,      "the stack tables",                   256,   64,      1000,   2000,   "stacks follow frame pointers") \
	X(CONSTANTS,   "the kernel's constants",             64,    1,       500,    2000,   "what needs them is refused") \
	X(MODULE_TYPES,"the modules' types",                 256,   128,     1500,   8000,   "some of their structures are unknown") \
	X(TRACEPOINTS, "the tracepoints",                    256,   64,      1000,   5000,   "none is traced from outside") \
	X(KEYS,        "the tables of static keys",          256,   64,      1000,   5000,   "no tracepoint has a probe") \
	X(PLACES,      "the places that can't be probed",    256,   192,     1000,   5000,   "no probe is set") \
	X(TEXT,        "the kernel's text",                  160,   144,     1000,   5000,   "functions there have no probe") \
	X(COUNTERS,    "the search for counters",            64,    8,       500,    5000,   "vmstat and vminfo have no probe") \
	X(LISTS,       "a list of names",                    64,    1,       500,    2000,   "what is made of it has no probe") \
	X(AGENT,       "the guest's agent",                  256,   64,      1000,   4000,   "events inside are not traced") \
	X(ARRIVALS,    "the modules that came",              512,   96,      500,    1000,   "they are not traced") \
	X(WATCH,       "the guest's state",                  1,     0,       100,    1000,   "its end is seen later") \
	X(CENSUS,      "the guest's processes and modules",  32768, 128,     5000,   10000,  "they are not compared") \
	X(SOCKETS,     "the guest's sockets",                32768, 128,     5000,   10000,  "they are not compared") \
	X(MOUNTS,      "the guest's mounts",                 8192,  64,      2000,   4000,   "they are not compared") \
	X(EXECS,       "which programs begin",               1024,  16,      500,    1000,   "-x waitfor can't find one") \
	X(PROGRAMS,    "the guest's programs",               8192,  512,     1000,   2000,   "some user addresses have no names") \
	X(MAPS,        "the guest's process",                8192,  32,      2000,   4000,   "what it has mapped is not known") \
	X(FUNCTIONS,   "the process's functions",            8192,  512,    2000,   4000,   "its probes are not set") \
	X(PROCESSES,   "the probes of all processes",        16384, 512,     5000,  10000,  "they are not set: name one process") \
	X(PROCESS,     "a process among all",                4096,  256,     1000,  0,      "it has no more probes") \
	X(FRAMES,      "the programs' stack tables",         8192,  256,    2000,  4000,   "ustack() follows frame pointers in some") \
	X(FRAMES_MET,  "the stack tables of programs met",   4096,  256,    500,   1000,   "ustack() follows frame pointers in some") \
	X(RELEASE,     "which kernel the guest runs",        20480, 160,     2000,   2000,   "it is not listed") \
	X(COPIES,      "where functions are inlined",        0,     4096,    120000, 600000, "fbt:::inlined has no probe")
/* clang-format on */

enum vp_reading_id {
#define VP_READ_ID(name, ...) VP_READ_##name,
	VP_READINGS(VP_READ_ID)
#undef VP_READ_ID
	    VP_READINGS_N
};

struct vp_reading {
	const char *what;
	uint32_t guest_mib, memory_mib, cpu_ms, wall_ms;
	const char *without;
};

extern const struct vp_reading vp_readings[VP_READINGS_N];

#endif
