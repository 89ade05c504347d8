/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers by name. */
#include "dif/lang/types/numbers.h"

void dif_numbers_init(struct dif_numbers *numbers, uint32_t first, uint32_t last)
{
	*numbers = (struct dif_numbers){ .last = last };
	ot_map_init(&numbers->aggs);
	for (unsigned i = 0; i < DIF_NUMBER_SCOPES; i++) {
		ot_map_init(&numbers->vars[i]);
		numbers->next[i] = first;
	}
}

void dif_numbers_deinit(struct dif_numbers *numbers)
{
	ot_map_deinit(&numbers->aggs);
	for (unsigned i = 0; i < DIF_NUMBER_SCOPES; i++)
		ot_map_deinit(&numbers->vars[i]);
}

bool dif_numbers_variable(struct dif_numbers *numbers, unsigned scope, const char *name, uint32_t *ret)
{
	*ret = (uint32_t)(uintptr_t)ot_map_gets(&numbers->vars[scope], name);
	if (*ret || numbers->next[scope] > numbers->last)
		return true;
	*ret = numbers->next[scope]++;
	return ot_map_puts(&numbers->vars[scope], name, (void *)(uintptr_t)*ret);
}

bool dif_numbers_aggregation(struct dif_numbers *numbers, const char *name, uint32_t *ret)
{
	*ret = (uint32_t)(uintptr_t)ot_map_gets(&numbers->aggs, name);
	if (*ret)
		return true;
	*ret = (uint32_t)numbers->aggs.count + 1;
	return ot_map_puts(&numbers->aggs, name, (void *)(uintptr_t)*ret);
}
