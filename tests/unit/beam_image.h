/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process with Erlang's machine, made up: variables, schedulers, a table of modules and two
 * of these, laid out as OTP 25's. For tests and the fuzzer of session/user_beam.c.
 */
#ifndef TESTS_UNIT_BEAM_IMAGE_H
#define TESTS_UNIT_BEAM_IMAGE_H

#include "vmm-probe/session/user_beam.h"

#define BI_BASE   0x7f0000000000ull /* where the file is mapped */
#define BI_SIZE   0x40000u
#define BI_TABLES 0x1000u /* where the tables of modules are */

struct beam_image {
	uint8_t bytes[BI_SIZE];
	struct vp_beam_file file;
	uint64_t hole, hole_end; /* [hole, hole_end) can't be read; offsets */
	unsigned reads;
};

/* Offsets of what tests change. */
enum {
	BI_NORMAL = 0x100,  /* the variables of schedulers: pointer, number, three times */
	BI_CURRENT = 0x140, /* which table is in use: the third */
	BI_ARRAY = 0x4000,  /* the modules' places */
	BI_FIRST = 0x5000,  /* the first module … */
	BI_SECOND = 0x6000, /* … and the second */
	BI_SCHEDULERS = 0x10000,
	BI_SCHEDULER = 0xa300, /* bytes of one */
};

void beam_image_init(struct beam_image *m);
void beam_image_put(struct beam_image *m, uint64_t offset, uint64_t value);

/** The function of a struct vp_user_reader, with a struct beam_image. */
bool beam_image_read(void *image, uint64_t at, void *dst, size_t len);

#endif
