/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts whose merger is lost, until they have started again (again.c). */
#ifndef FLEET_OPERATOR_AGAIN_H
#define FLEET_OPERATOR_AGAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fl_again;

struct fl_restarts {
	struct fl_again *list;
	size_t n, cap;
	uint32_t ndirect;    /* hosts of a lost merger that are reached directly */
	uint32_t nuncertain; /* mergers that were lost before all of their hosts had ended */
	uint64_t wait_ns;    /* how long such hosts wait */
	bool has_answers;    /* the fleet's set has the descriptor of answers */
};

#endif
