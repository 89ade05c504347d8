/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks and symbols. */
#include <string.h>

#include "cli/output/print.h"
#include "cli/terminal.h"

void cli_kernel_text(struct cli_printer *p, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size)
{
	if (p->symbols.kernel)
		p->symbols.kernel(p->symbols.arg, p->guest, addr, form, buf, size);
	else
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	cli_name_tame(buf);
}

void cli_user_text(struct cli_printer *p, uint64_t pid, uint64_t addr, enum vp_symbol_form form, char *buf,
		   size_t size)
{
	if (p->symbols.user)
		p->symbols.user(p->symbols.arg, p->guest, pid, addr, form, buf, size);
	else
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	cli_name_tame(buf);
}

void cli_symbol_text(struct cli_printer *p, const struct cli_datum *d, char *buf, size_t size)
{
	uint64_t first = d->size >= 8 ? cli_load(d->data, 8) : 0;
	uint64_t second = d->size >= 16 ? cli_load(d->data + 8, 8) : 0;

	switch (d->action->kind) {
	case DIF_ACT_sym:
		cli_kernel_text(p, first, VP_SYM_NAME, buf, size);
		return;
	case DIF_ACT_mod:
		cli_kernel_text(p, first, VP_SYM_MODULE, buf, size);
		return;
	case DIF_ACT_usym:
		cli_user_text(p, first, second, VP_SYM_NAME, buf, size);
		return;
	case DIF_ACT_umod:
		cli_user_text(p, first, second, VP_SYM_MODULE, buf, size);
		return;
	default:
		cli_user_text(p, first, second, VP_SYM_OFFSET, buf, size);
		return;
	}
}

struct cli_stack_style cli_stack_style(const struct cli_printer *p)
{
	return (struct cli_stack_style){ .indent = (int)p->opts->stackindent, .width = 0, .prec = -1 };
}

static void print_frame(struct cli_printer *p, struct cli_stack_style style, const char *text)
{
	fprintf(p->fp, "%*s%*.*s\n", style.indent, "", style.width, style.prec, text);
}

void cli_print_stack(struct cli_printer *p, const void *data, uint32_t size, struct cli_stack_style style)
{
	char text[CLI_SYMBOL_MAX];

	putc('\n', p->fp);
	for (uint32_t at = 0; at + 8 <= size; at += 8) {
		uint64_t pc = cli_load((const uint8_t *)data + at, 8);
		if (!pc)
			break;
		cli_kernel_text(p, pc, VP_SYM_OFFSET, text, sizeof(text));
		print_frame(p, style, text);
	}
}

/* Frames that a ustack or jstack datum has room for. */
static uint32_t ustack_depth(const struct cli_printer *p, const struct cli_datum *d)
{
	uint64_t frames = d->action->arg & 0xffffffff;

	if (!frames)
		frames = d->action->kind == DIF_ACT_jstack ? p->opts->jstackframes : p->opts->ustackframes;
	if (frames > d->size / 8 - 1)
		frames = d->size / 8 - 1;
	return (uint32_t)frames;
}

/* The string table of helper texts behind the frames: one per frame, in order. */
struct helper_strings {
	const char *at;
	size_t left;
};

/* The next frame's string, "" when there is none. */
static const char *next_helper(struct helper_strings *h)
{
	size_t len = strnlen(h->at, h->left);
	const char *s = h->at;

	if (len == h->left) /* no NUL: the table is used up */
		return "";
	h->at += len + 1;
	h->left -= len + 1;
	return s;
}

/* A helper's string is the guest's. */
static void take_note(const char *note, char *buf, size_t size)
{
	snprintf(buf, size, "%s", note);
	cli_name_tame(buf);
}

void cli_print_ustack(struct cli_printer *p, const struct cli_datum *d, struct cli_stack_style style)
{
	char text[CLI_SYMBOL_MAX];
	struct helper_strings helper;
	uint32_t depth;
	uint64_t pid;

	if (d->size < 16 || !(depth = ustack_depth(p, d)))
		return;
	helper.at = (const char *)d->data + (depth + 1) * 8;
	helper.left = d->size - (depth + 1) * 8;
	pid = cli_load(d->data, 8);
	putc('\n', p->fp);
	for (uint32_t i = 1; i <= depth; i++) {
		uint64_t pc = cli_load(d->data + i * 8, 8);
		if (!pc)
			break;
		const char *note = next_helper(&helper);
		cli_user_text(p, pid, pc, VP_SYM_OFFSET, text, sizeof(text));
		/* an address without a name is one that the helper may know (code made at run time) */
		if (*note && *note != '@' && !strchr(text, '`'))
			take_note(note, text, sizeof(text));
		print_frame(p, style, text);
		if (*note == '@') {
			char inner[CLI_SYMBOL_MAX - 16];
			take_note(note + 1, inner, sizeof(inner));
			snprintf(text, sizeof(text), "  [ %s ]", inner);
			print_frame(p, style, text);
		}
	}
}
