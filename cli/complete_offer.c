/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One answer to a shell: complete.h. */
#include <stdio.h>
#include <string.h>

#include "cli/complete.h"

/* The bytes of names that no shell reads as anything else. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=+@%/-";

void cli_complete_offer(struct cli_completion *c, const char *text, size_t len)
{
	size_t known = strlen(c->word);
	char *s;

	if (len < known || memcmp(text, c->word, known) != 0 || !(s = ot_arena_strndup(&c->arena, text, len)))
		return;
	if (!*s || s[strspn(s, plain)] || ot_map_gets(&c->printed, s) || !ot_map_puts(&c->printed, s, s))
		return;
	fprintf(stdout, "%s\n", s);
}
