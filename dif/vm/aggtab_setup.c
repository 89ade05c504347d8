/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating and freeing an aggregation table. Separate from aggtab.c, which is on the hit path and must not
 * allocate. */
#include <stdlib.h>
#include <sys/random.h>

#include "dif/vm/agg.h"

struct ot_err *dif_aggtab_init(struct dif_aggtab *tab, void *mem, size_t size)
{
	uint32_t nslots = 16;

	if (size > (4ull << 30) || (uintptr_t)mem % 8)
		return ot_err_new(OT_ERR_LIMIT, "aggregation buffer of %zu bytes", size);
	while (nslots < size / 64)
		nslots *= 2;
	*tab = (struct dif_aggtab){ .mem = mem, .size = size & ~(size_t)7, .nslots = nslots };
	tab->slots = calloc(nslots, sizeof(*tab->slots));
	if (!tab->slots)
		return ot_err_nomem();
	if (getrandom(&tab->seed, sizeof(tab->seed), 0) != (ssize_t)sizeof(tab->seed))
		tab->seed = (uintptr_t)tab;
	return NULL;
}

void dif_aggtab_deinit(struct dif_aggtab *tab)
{
	free(tab->slots);
	*tab = (struct dif_aggtab){ 0 };
}
