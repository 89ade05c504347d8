/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of fuzz_merge: who says which message. */
#ifndef TESTS_FUZZ_MERGE_STEPS_H
#define TESTS_FUZZ_MERGE_STEPS_H

#include "base/buf.h"

#define MERGE_STEP_SIZE 4

struct merge_step {
	uint8_t who;  /* 0: the operator; 1, 2: a host */
	uint8_t kind; /* enum fl_kind - 1 */
	uint16_t len; /* of the body, which follows */
};

/* The next one; its body begins at *data. One that has less than it says has what there is. */
static inline bool merge_step_get(const uint8_t **data, size_t *size, struct merge_step *ret)
{
	const uint8_t *d = *data;

	if (*size < MERGE_STEP_SIZE)
		return false;
	*ret = (struct merge_step){ d[0], d[1], (uint16_t)(d[2] | d[3] << 8) };
	*data += MERGE_STEP_SIZE;
	*size -= MERGE_STEP_SIZE;
	if (ret->len > *size)
		ret->len = (uint16_t)*size;
	return true;
}

static inline void merge_step_put(struct ot_buf *out, uint8_t who, unsigned kind, const struct ot_buf *body)
{
	const uint8_t head[MERGE_STEP_SIZE] = { who, (uint8_t)(kind - 1), (uint8_t)body->len,
						(uint8_t)(body->len >> 8) };

	ot_buf_append(out, head, sizeof(head));
	ot_buf_append(out, body->data, body->len);
}

#endif
