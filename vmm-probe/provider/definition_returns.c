/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the clauses of a `return` that keeps its `entry`'s arguments: see definition_returns.h. */
#include "vmm-probe/provider/definition_returns.h"

#include <string.h>

#include "base/buf.h"

/* Skip to after the next @p to that is not in a comment, constant, or nested parentheses or braces; @p end:
 * there is none. */
static const char *behind(const char *p, const char *end, char to)
{
	unsigned depth = 0;

	while (p < end) {
		const char *quoted = vp_definition_behind_quoted(p);

		if (quoted) {
			p = quoted;
			continue;
		}
		if (!depth && *p == to)
			return p + 1;
		depth += *p == '(' || *p == '{';
		depth -= depth && (*p == ')' || *p == '}');
		p++;
	}
	return end;
}

/* A clause: the text before its braces, and between them. False: there is none from @p *at on. */
static bool next_clause(const char **at, const char *end, struct vp_text_part *head,
			struct vp_text_part *body)
{
	const char *brace = behind(*at, end, '{');

	if (brace == end)
		return false;
	head->text = *at;
	head->len = (size_t)(brace - 1 - *at);
	*at = behind(brace, end, '}');
	body->text = brace;
	body->len = (size_t)(*at - 1 - brace);
	return true;
}

/* The traces of @p body as assignments to the variables that keep them. */
static void keep(const char *function, const struct vp_text_part *body, struct ot_buf *out)
{
	const char *p = body->text, *end = p + body->len;

	for (unsigned n = 0; (p = behind(p, end, '(')) != end; n++) {
		const char *close = behind(p, end, ')');

		ot_buf_printf(out, " self->%s_kept%u = (uint64_t)(%.*s);", function, n, (int)(close - 1 - p),
			      p);
		p = close;
	}
}

static void write_with(const char *function, const struct vp_text_part *entry, struct ot_buf *out)
{
	const char *at = entry->text, *end = at + entry->len;
	struct vp_text_part head, body;

	while (next_clause(&at, end, &head, &body)) {
		ot_buf_printf(out, "%.*s{ self->%s_kept = 1;", (int)head.len, head.text, function);
		keep(function, &body, out);
		ot_buf_printf(out, " }");
	}
}

static void write_at(const char *function, unsigned nkept, const struct vp_text_part *returns,
		     struct ot_buf *out)
{
	const char *at = returns->text, *end = at + returns->len;
	struct vp_text_part head, body;

	while (next_clause(&at, end, &head, &body)) {
		ot_buf_printf(out, "%.*s/ self->%s_kept / {", (int)head.len, head.text, function);
		for (unsigned n = 0; n < nkept; n++)
			ot_buf_printf(out, " trace(self->%s_kept%u);", function, n);
		ot_buf_printf(out, "%.*s}", (int)body.len, body.text);
	}
}

static void write_after(const char *function, unsigned nkept, const struct vp_text_part *returns,
			struct ot_buf *out)
{
	const char *at = returns->text, *end = at + returns->len;
	struct vp_text_part head, body;

	while (next_clause(&at, end, &head, &body)) {
		ot_buf_printf(out, "%.*s/ self->%s_kept / { self->%s_kept = 0;", (int)head.len, head.text,
			      function, function);
		for (unsigned n = 0; n < nkept; n++)
			ot_buf_printf(out, " self->%s_kept%u = 0;", function, n);
		ot_buf_printf(out, " }");
	}
}

static bool take(struct ot_buf *buf, struct ot_arena *arena, struct vp_text_part *ret)
{
	const char *text = ot_arena_strndup(arena, ot_buf_str(buf), buf->len);

	*ret = (struct vp_text_part){ text, buf->len };
	bool whole = text && !buf->failed;
	ot_buf_clear(buf);
	return whole;
}

bool vp_definition_returns(const char *function, unsigned nkept, const struct vp_text_part *entry,
			   const struct vp_text_part *returns, struct ot_arena *arena,
			   struct vp_alternative *ret)
{
	struct ot_buf buf;

	ot_buf_init(&buf);
	write_at(function, nkept, returns, &buf);
	bool made = take(&buf, arena, &ret->at);
	write_with(function, entry, &buf);
	made = made && take(&buf, arena, &ret->with);
	write_after(function, nkept, returns, &buf);
	made = made && take(&buf, arena, &ret->after);
	ot_buf_deinit(&buf);
	return made;
}
