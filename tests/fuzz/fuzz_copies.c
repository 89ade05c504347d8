/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block of inlined copies from a hostile child, or a forged file of the cache: refused, or every index in
 * it is in bounds. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/dwarf/copies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read all that can be reached, as its users do. */
static uint64_t visit(const struct vp_copies *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->head->nfunctions; i++) {
		const struct vp_copies_function *f = &c->functions[i];

		sum += strlen(vp_copies_string(c, f->name)) + f->flags;
		for (uint32_t n = 0; n < f->nparams; n++) {
			const struct vp_copies_param *p = &c->params[f->first_param + n];

			sum += strlen(vp_copies_string(c, p->name)) + strlen(vp_copies_string(c, p->type));
		}
		for (uint32_t k = 0; k < f->ncopies; k++) {
			const struct vp_copies_copy *copy = &c->copies[f->first_copy + k];

			for (uint32_t n = 0; n < f->nparams; n++)
				sum += (uint64_t)c->places[copy->first_place + n].value;
			for (uint32_t n = 0; n < copy->nranges; n++)
				sum += c->ranges[copy->first_range + n].end;
		}
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vp_copies c;
	uint8_t *own = malloc(size ? size : 1); /* to the byte */

	if (!own)
		abort();
	memcpy(own, data, size);
	struct ot_err *err = vp_copies_open(own, size, &c);
	if (!err) {
		volatile uint64_t used = visit(&c);

		(void)used;
		vp_copies_deinit(&c);
		return 0;
	}
	ot_err_destroy(err);
	free(own);
	return 0;
}
