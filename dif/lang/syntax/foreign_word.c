/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words with which C, bpftrace and SystemTap begin something that D does not have. */
#include "dif/lang/syntax/parse.h"

#define LOOP   "D has no loops: write out what is repeated, or let a probe that fires again do it"
#define CHOICE "if, else and ?: choose"

void dif_hint_foreign_word(struct dif_compiler *c)
{
	static const struct {
		enum dif_tok kind;
		const char *text;
	} words[] = {
		{ DIF_T_WHILE, LOOP },
		{ DIF_T_FOR, LOOP },
		{ DIF_T_DO, LOOP },
		{ DIF_T_BREAK, LOOP },
		{ DIF_T_CONTINUE, LOOP },
		{ DIF_T_GOTO, LOOP },
		{ DIF_T_SWITCH, CHOICE },
		{ DIF_T_CASE, CHOICE },
		{ DIF_T_DEFAULT, CHOICE },
		{ DIF_T_RETURN,
		  "a clause runs to its end: a predicate, or an if, leaves out what it should not do" },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(words); i++)
		if (c->unit->tok.kind == words[i].kind)
			dif_hint(c, "%s", words[i].text);
	if (c->unit->tok.kind == DIF_T_PROBE)
		dif_hint(c, !c->unit->lex.braces && !c->unit->lex.in_predicate
				? "a clause begins with its probe's description, without a word in front"
				: "a probe's names are probeprov, probemod, probefunc and probename");
}
