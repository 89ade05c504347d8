/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fuzz_frames reads, and frames_seeds writes:
 *
 *   struct frames_head | nwords × struct frames_word | nchanges × struct frames_word | message 0 | message 1
 */
#ifndef TESTS_FUZZ_FRAMES_INPUT_H
#define TESTS_FUZZ_FRAMES_INPUT_H

#include <string.h>

#include "tests/unit/engine_python.h"

#define FRAMES_MEMORY   0x2000u /* bytes of the process's memory: two pages, from EF_USER on */
#define FRAMES_MESSAGES 2u      /* FRAMES that the engine is sent */
#define FRAMES_WORDS    512u
#define FRAMES_SIZE     16384u /* of one message */

struct frames_head {
	uint16_t nwords;                 /* of the process's memory, which are written over */
	uint16_t nchanges;               /* of the messages, while the engine uses them */
	uint16_t sizes[FRAMES_MESSAGES]; /* bytes; 0: it is not sent */
};

struct frames_word {
	uint16_t at; /* its number, modulo what there is; of the messages' words those of both, in turn */
	uint16_t pad[3];
	uint64_t value;
};

/* What the process has in its memory, FRAMES_MEMORY bytes. */
static inline void frames_read_memory(const struct ep *w, uint8_t *to)
{
	struct ef *f = w->f;

	for (uint64_t at = 0; at < FRAMES_MEMORY; at += VP_FAKE_PAGE) {
		uint64_t entry = *vp_fake_entry(f->fake, f->user_root, EF_USER + at);

		memcpy(to + at, vp_fake_ram(f->fake, entry & 0xffffffffff000), VP_FAKE_PAGE);
	}
}

#endif
