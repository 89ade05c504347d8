/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's own view in a comparison: a text of the operator's, or its agent's list. The agent reports it as
 * events (agent_abi.h, "Walks"), which a D program collects.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/compare.h"
#include "vmm-probe/session/session.h"

#define WORDS 5u

/* --- a text --------------------------------------------------------------------------------------------- */

const char *cli_compare_text_name(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "<stdin>";
}

static struct ot_err *load(const char *path, struct ot_buf *text)
{
	ot_auto_close int fd = -1;

	if (!strcmp(path, "-"))
		return con_inside_load(STDIN_FILENO, cli_compare_text_name(path), text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? ot_err_os(errno, "failed to open %s", path) : con_inside_load(fd, path, text);
}

struct ot_err *cli_compare_read_text(struct cli_compare_inside *in, const char *path)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };

	if (in->path && !strcmp(path, "-"))
		return NULL;
	con_inside_deinit(&in->text);
	in->text = (struct con_inside){ 0 };
	in->path = path;
	OT_TRY(load(path, &text));
	return con_inside_read(cli_compare_text_name(path), ot_buf_str(&text), text.len, &in->text);
}

/* --- the agent ------------------------------------------------------------------------------------------ */

void cli_compare_by_agent(struct cli_compare_inside *in, const struct cli_compare_list *list)
{
	in->by_agent = true;
	in->tracepoint = list->tracepoint;
	vp_agent_pass_init(&in->pass, list->pass);
}

void cli_compare_inside_deinit(struct cli_compare_inside *in)
{
	con_inside_deinit(&in->text);
	vp_agent_pass_deinit(&in->pass);
}

/* The tracepoints have no types, so the words are used unchanged. */
const char *cli_compare_program(const struct cli_compare_inside *in, char *buf, size_t size)
{
	if (!in->by_agent)
		return "BEGIN { }";
	snprintf(buf, size,
		 "sdt:::%s, sdt:::outsight_pass "
		 "{ trace(arg0); trace(arg1); trace(arg2); trace(arg3); trace(arg4); }",
		 in->tracepoint);
	return buf;
}

struct ot_err *cli_compare_record(struct cli_compare_inside *in, const struct vp_record *rec)
{
	const struct dif_clause_layout *l = rec->ecb->layout;
	uint64_t words[WORDS] = { 0 };

	if (!in->by_agent)
		return NULL;
	for (uint32_t i = 0; i < l->nrecs && i < WORDS; i++) {
		if (l->recs[i].size != sizeof(words[i]) || l->recs[i].offset > rec->size ||
		    rec->size - l->recs[i].offset < sizeof(words[i]))
			return NULL;
		memcpy(&words[i], rec->data + l->recs[i].offset, sizeof(words[i]));
	}
	return vp_agent_pass_add(&in->pass, strcmp(rec->ecb->probe->name, in->tracepoint) != 0, words);
}

struct ot_err *cli_compare_pass(struct cli_compare_inside *in, struct vp_census *ret, bool *ret_whole)
{
	uint64_t error = 0;

	OT_TRY(vp_agent_pass_take(&in->pass, CON_HIDDEN_INSIDE, ret, ret_whole, &error));
	if (*ret_whole && error)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's kernel can't read its own /proc: %s",
				  error < 4096 ? strerror((int)error) : "unknown error");
	return NULL;
}
