/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles and their options: dtrace_open(3). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/handle.h"

static int check_open(int version, int flags)
{
	if (version <= 0 || flags & ~DTRACE_O_MASK)
		return EINVAL;
	if (version > DTRACE_VERSION)
		return OUTSIGHT_E_VERSION;
	return flags & DTRACE_O_ILP32 ? OUTSIGHT_E_UNSUPPORTED : 0;
}

static void init(dtrace_hdl_t *h, int flags)
{
	dif_options_init(&h->opts);
	ot_arena_init(&h->arena);
	ot_map_init(&h->enabled);
	ot_map_init(&h->aggs);
	ot_map_init(&h->symbols_seen);
	h->no_guest = flags & DTRACE_O_NODEV;
	h->kept_end = &h->kept;
}

dtrace_hdl_t *dtrace_open(int version, int flags, int *errp)
{
	int error = check_open(version, flags);
	dtrace_hdl_t *h = error ? NULL : calloc(1, sizeof(*h));

	if (!h && !error)
		error = ENOMEM;
	if (h) {
		init(h, flags);
		h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		error = h->wake_fd < 0 ? errno : 0;
		if (!error && !con_strings_add(&h->no_args, "")) /* $0 */
			error = ENOMEM;
	}
	if (error) {
		dtrace_close(h);
		h = NULL;
		if (errp)
			*errp = error;
	}
	return h;
}

static void free_programs(dtrace_hdl_t *h)
{
	for (size_t i = 0; i < h->nprogs; i++) {
		free(h->progs[i]->args.items);
		free(h->progs[i]);
	}
	free(h->progs);
	free(h->texts);
}

void dtrace_close(dtrace_hdl_t *h)
{
	if (!h)
		return;
	lib_begin(h);
	/* the session borrows program and sink: first the one, then the others */
	vp_session_destroy(h->session);
	con_joining_destroy(h->joining);
	con_journal_end(&h->journal, 0);
	lib_consumer_end(h);
	con_compilation_deinit(&h->comp);
	lib_end(h);
	free_programs(h);
	dif_options_deinit(&h->opts);
	ot_map_deinit(&h->enabled);
	ot_map_deinit(&h->aggs);
	ot_map_deinit(&h->symbols_seen);
	free(h->guests.items);
	free(h->libdirs.items);
	free(h->no_args.items);
	ot_arena_deinit(&h->arena);
	free(h->pending_message);
	free(h->scratch);
	free(h->message);
	if (h->wake_fd >= 0)
		close(h->wake_fd);
	free(h);
}

/* --- options -------------------------------------------------------------------------------------------- */

/* Options other than -x's: those that are letters and words on the command line. */
static int set_ours(dtrace_hdl_t *h, const char *name, const char *value, bool *ret_is_ours)
{
	const struct {
		const char *name;
		struct con_strings *list;
		const char **one;
	} ours[] = {
		{ "guest", &h->guests, NULL },
		{ "vmlinux", NULL, &h->vmlinux },
		{ "symbols", NULL, &h->symbols },
		{ "sysroot", NULL, &h->sysroot },
	};

	*ret_is_ours = false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(ours) && !*ret_is_ours; i++) {
		if (strcmp(name, ours[i].name) != 0)
			continue;
		*ret_is_ours = true;
		if (!value || !*value)
			return lib_fail(h, OUTSIGHT_E_OPTION_VALUE);
		if (h->session)
			return lib_fail_text(h, OUTSIGHT_E_ACTIVE,
					     "%s: the guests are attached already, by the first program",
					     name);
		const char *copy = ot_arena_strdup(&h->arena, value);
		if (!copy || (ours[i].list && !con_strings_add(ours[i].list, copy)))
			return lib_fail(h, ENOMEM);
		if (ours[i].one)
			*ours[i].one = copy;
	}
	return 0;
}

/* -x libdir is a list. */
static int keep_libdir(dtrace_hdl_t *h, const char *value)
{
	const char *copy = ot_arena_strdup(&h->arena, value);

	return copy && con_strings_add(&h->libdirs, copy) ? 0 : lib_fail(h, ENOMEM);
}

static int option_error(dtrace_hdl_t *h, struct ot_err *err)
{
	int error = ot_err_code(err) == OT_ERR_NOT_FOUND   ? OUTSIGHT_E_OPTION_NAME
		    : ot_err_code(err) == OT_ERR_BUSY      ? OUTSIGHT_E_ACTIVE
		    : ot_err_code(err) == OT_ERR_NO_MEMORY ? ENOMEM
							   : OUTSIGHT_E_OPTION_VALUE;

	lib_fail_text(h, error, "%s", ot_err_message(err));
	ot_err_destroy(err);
	return -1;
}

int dtrace_setopt(dtrace_hdl_t *h, const char *name, const char *value)
{
	enum dif_opt_phase phase = h->state == LIB_IDLE ? DIF_OPT_COMMAND_LINE : DIF_OPT_ACTIVE;
	bool is_ours;

	if (!name)
		return lib_fail(h, OUTSIGHT_E_OPTION_NAME);
	if (set_ours(h, name, value, &is_ours) < 0)
		return -1;
	if (is_ours)
		return 0;
	if (!strcmp(name, "oformat"))
		return lib_fail_text(h, OUTSIGHT_E_UNSUPPORTED,
				     "oformat is the command's: here data come as structures and as text");
	struct ot_err *err = dif_options_set(&h->opts, name, value, phase);
	if (err)
		return option_error(h, err);
	return value && !strcmp(name, "libdir") ? keep_libdir(h, value) : 0;
}
