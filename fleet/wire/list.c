/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The elements of messages that are lists: each with its struct's members, one after the other to the
 * message's end. */
#include "fleet/wire/message.h"

void fl_put_enabled(struct ot_buf *out, const struct fl_enabled *e)
{
	fl_put_u32(out, e->epid);
	fl_put_u32(out, e->clause);
	fl_put_u32(out, e->guest);
	fl_put_u32(out, e->probe);
	fl_put_sentence(out, e->provider);
	fl_put_sentence(out, e->module);
	fl_put_sentence(out, e->function);
	fl_put_sentence(out, e->name);
}

bool fl_next_enabled(struct fl_reader *r, struct ot_arena *arena, struct fl_enabled *ret)
{
	if (!fl_more(r))
		return false;
	ret->epid = fl_get_u32(r);
	ret->clause = fl_get_u32(r);
	ret->guest = fl_get_u32(r);
	ret->probe = fl_get_u32(r);
	ret->provider = fl_get_text(r, FL_TEXT_MAX, arena);
	ret->module = fl_get_text(r, FL_TEXT_MAX, arena);
	ret->function = fl_get_text(r, FL_TEXT_MAX, arena);
	ret->name = fl_get_text(r, FL_TEXT_MAX, arena);
	return !r->failed;
}

void fl_put_name(struct ot_buf *out, const struct fl_name *e)
{
	fl_put_u32(out, e->guest);
	fl_put_u64(out, e->number);
	fl_put_sentence(out, e->text);
	fl_put_sentence(out, e->note);
}

bool fl_next_name(struct fl_reader *r, struct ot_arena *arena, struct fl_name *ret)
{
	if (!fl_more(r))
		return false;
	ret->guest = fl_get_u32(r);
	ret->number = fl_get_u64(r);
	ret->text = fl_get_text(r, FL_TEXT_MAX, arena);
	ret->note = fl_get_text(r, FL_TEXT_MAX, arena);
	return !r->failed;
}

void fl_put_aggregate(struct ot_buf *out, const struct fl_aggregate *e)
{
	fl_put_u32(out, e->epid);
	fl_put_u32(out, e->action);
	fl_put_bytes(out, e->tuple.data, e->tuple.len);
	fl_put_bytes(out, e->words.data, e->words.len);
}

bool fl_next_aggregate(struct fl_reader *r, struct ot_arena *arena, struct fl_aggregate *ret)
{
	(void)arena;
	if (!fl_more(r))
		return false;
	ret->epid = fl_get_u32(r);
	ret->action = fl_get_u32(r);
	ret->tuple = fl_get_bytes(r);
	ret->words = fl_get_bytes(r);
	if (ret->words.len % 8)
		r->failed = true;
	return !r->failed;
}

void fl_put_record(struct ot_buf *out, const struct fl_record *e)
{
	fl_put_u32(out, e->epid);
	fl_put_u32(out, e->cpu);
	fl_put_u64(out, e->time);
	fl_put_bytes(out, e->data.data, e->data.len);
}

bool fl_next_record(struct fl_reader *r, struct ot_arena *arena, struct fl_record *ret)
{
	(void)arena;
	if (!fl_more(r))
		return false;
	ret->epid = fl_get_u32(r);
	ret->cpu = fl_get_u32(r);
	ret->time = fl_get_u64(r);
	ret->data = fl_get_bytes(r);
	return !r->failed;
}

void fl_put_fault(struct ot_buf *out, const struct fl_fault *e)
{
	fl_put_u32(out, e->epid);
	fl_put_u32(out, e->cpu);
	fl_put_u32(out, e->action);
	fl_put_u32(out, (uint32_t)e->offset);
	fl_put_u32(out, e->fault);
	fl_put_u64(out, e->address);
}

bool fl_next_fault(struct fl_reader *r, struct ot_arena *arena, struct fl_fault *ret)
{
	(void)arena;
	if (!fl_more(r))
		return false;
	ret->epid = fl_get_u32(r);
	ret->cpu = fl_get_u32(r);
	ret->action = fl_get_u32(r);
	ret->offset = (int32_t)fl_get_u32(r);
	ret->fault = fl_get_u32(r);
	ret->address = fl_get_u64(r);
	return !r->failed;
}

void fl_put_drop(struct ot_buf *out, const struct fl_drop *e)
{
	fl_put_u32(out, e->kind);
	fl_put_u32(out, e->cpu);
	fl_put_u64(out, e->count);
}

bool fl_next_drop(struct fl_reader *r, struct ot_arena *arena, struct fl_drop *ret)
{
	(void)arena;
	if (!fl_more(r))
		return false;
	ret->kind = fl_get_u32(r);
	ret->cpu = fl_get_u32(r);
	ret->count = fl_get_u64(r);
	return !r->failed;
}
