/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks and symbols. */
#include <string.h>

#include "base/utf8.h"
#include "consumer/output/print.h"

#define FIRST_OF_TEXT ' ' /* a note begins with a smaller byte */

void con_kernel_text(struct con_printer *p, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size)
{
	struct con_named_place place = { p->guest, addr };

	if (p->guest == CON_GUEST_NAMED && addr && addr <= p->nplaces)
		place = p->places[addr - 1];
	if (p->symbols.kernel)
		p->symbols.kernel(p->symbols.arg, place.guest, place.addr, form, buf, size);
	else
		snprintf(buf, size, "0x%llx", (unsigned long long)place.addr);
	ot_utf8_tame_string(buf);
}

void con_user_text(struct con_printer *p, uint64_t pid, uint64_t addr, enum vp_symbol_form form, char *buf,
		   size_t size)
{
	if (p->symbols.user)
		p->symbols.user(p->symbols.arg, p->guest, pid, addr, form, buf, size);
	else
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	ot_utf8_tame_string(buf);
}

void con_symbol_text(struct con_printer *p, const struct con_datum *d, char *buf, size_t size)
{
	uint64_t first = d->size >= 8 ? con_load(d->data, 8) : 0;
	uint64_t second = d->size >= 16 ? con_load(d->data + 8, 8) : 0;

	switch (d->action->kind) {
	case DIF_ACT_sym:
		con_kernel_text(p, first, VP_SYM_NAME, buf, size);
		return;
	case DIF_ACT_mod:
		con_kernel_text(p, first, VP_SYM_MODULE, buf, size);
		return;
	case DIF_ACT_usym:
		con_user_text(p, first, second, VP_SYM_NAME, buf, size);
		return;
	case DIF_ACT_umod:
		con_user_text(p, first, second, VP_SYM_MODULE, buf, size);
		return;
	default:
		con_user_text(p, first, second, VP_SYM_OFFSET, buf, size);
		return;
	}
}

struct con_stack_style con_stack_style(const struct con_printer *p)
{
	return (struct con_stack_style){ .indent = (int)p->opts->stackindent, .width = 0, .prec = -1 };
}

static void print_frame(struct con_printer *p, struct con_stack_style style, const char *text)
{
	fprintf(p->fp, "%*s%*.*s\n", style.indent, "", style.width, style.prec, text);
}

/* --- frames -------------------------------------------------------------------------------------------- */

/* The maximum number of frames of a ustack or jstack datum. */
static uint32_t ustack_depth(const struct con_printer *p, const struct con_datum *d)
{
	uint64_t frames = d->action->arg & 0xffffffff;

	if (!frames)
		frames = d->action->kind == DIF_ACT_jstack ? p->opts->jstackframes : p->opts->ustackframes;
	if (frames > d->size / 8 - 1)
		frames = d->size / 8 - 1;
	return (uint32_t)frames;
}

/* A PID, the frames, and the string table of helper texts. */
static bool ustack_init(struct con_frames *f, const struct con_datum *d)
{
	if (d->size < 16 || !(f->left = ustack_depth(f->p, d)))
		return false;
	f->user = true;
	f->pid = con_load(d->data, 8);
	f->pcs = d->data + 8;
	f->helper.at = (const char *)f->pcs + (size_t)f->left * 8;
	f->helper.left = d->size - (f->left + 1) * 8;
	return true;
}

bool con_frames_init(struct con_frames *f, struct con_printer *p, const struct con_datum *d)
{
	*f = (struct con_frames){ .p = p };
	if (d->action->kind != DIF_ACT_stack)
		return ustack_init(f, d);
	f->pcs = d->data;
	f->left = d->size / 8;
	return true;
}

const char *con_frames_note(struct con_frames *f)
{
	size_t len = strnlen(f->helper.at, f->helper.left);
	const char *s = f->helper.at;

	if (len == f->helper.left) /* no NUL: the table is used up */
		return "";
	f->helper.at += len + 1;
	f->helper.left -= len + 1;
	return s;
}

bool con_is_noted(const char *note)
{
	return *note > 0 && *note < FIRST_OF_TEXT;
}

/* A helper's text is the guest's. */
static void take_note(const char *note, size_t len, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)len, note);
	ot_utf8_tame_string(buf);
}

/* A line of a text. Returns the next one, NULL: there is none. */
static const char *take_line(const char *text, char *buf, size_t size)
{
	size_t len = strcspn(text, "\n");

	take_note(text, len, buf, size);
	return text[len] ? text + len + 1 : NULL;
}

/* A frame whose names were read later. False: it has none. */
static bool name_by_note(struct con_frames *f, const char *note, struct con_frame *ret)
{
	const struct con_symbols *s = &f->p->symbols;
	const char *lines = s->note ? s->note(s->arg, f->p->guest, f->pid, ret->pc, note) : NULL;

	if (!lines)
		return false;
	f->inlined = take_line(lines, ret->text, sizeof(ret->text));
	f->inlined_pc = ret->pc;
	return true;
}

static void name_user_frame(struct con_frames *f, struct con_frame *ret)
{
	const char *note = con_frames_note(f);

	if (con_is_noted(note)) {
		if (name_by_note(f, note, ret))
			return;
		note = "";
	}
	con_user_text(f->p, f->pid, ret->pc, VP_SYM_OFFSET, ret->text, sizeof(ret->text));
	if (*note == '@')
		f->more = take_line(note + 1, ret->note, sizeof(ret->note));
	/* the helper may name an address that has no symbol (code generated at run time) */
	else if (*note && !strchr(ret->text, '`'))
		take_note(note, strlen(note), ret->text, sizeof(ret->text));
	if (ret->pc == DIF_FRAME_WITHOUT_PC)
		ret->pc = 0;
}

bool con_frames_next(struct con_frames *f, struct con_frame *ret)
{
	ret->again = f->more != NULL;
	if (f->inlined) {
		ret->pc = f->inlined_pc;
		ret->note[0] = '\0';
		f->inlined = take_line(f->inlined, ret->text, sizeof(ret->text));
		return true;
	}
	if (f->more) {
		ret->pc = 0;
		ret->text[0] = '\0';
		f->more = take_line(f->more, ret->note, sizeof(ret->note));
		return true;
	}
	if (!f->left || !(ret->pc = con_load(f->pcs, 8)))
		return false;
	f->left--;
	f->pcs += 8;
	ret->note[0] = '\0';
	if (f->user)
		name_user_frame(f, ret);
	else
		con_kernel_text(f->p, ret->pc, VP_SYM_OFFSET, ret->text, sizeof(ret->text));
	return true;
}

void con_print_stack(struct con_printer *p, const struct con_datum *d, struct con_stack_style style)
{
	struct con_frames frames;
	struct con_frame frame;
	char note[CON_SYMBOL_MAX];

	if (!con_frames_init(&frames, p, d))
		return;
	putc('\n', p->fp);
	while (con_frames_next(&frames, &frame)) {
		if (!frame.again)
			print_frame(p, style, frame.text);
		if (!*frame.note)
			continue;
		snprintf(note, sizeof(note), "  [ %s ]", frame.note);
		print_frame(p, style, note);
	}
}
