/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests of a handle, attached when its first program is compiled. */
#include <stdlib.h>

#include "consumer/guest_patterns.h"
#include "consumer/joining.h"
#include "consumer/session_log.h"
#include "lib/handle.h"

static void say(void *arg, const char *text)
{
	lib_report(arg, text);
}

/* In the system log first: the user is recorded whatever the result. */
static void entering(void *arg, const char *guest, uint32_t pid, const char *why)
{
	dtrace_hdl_t *h = arg;
	struct ot_buf text;

	con_journal_note_one("injecting", guest);
	ot_buf_init(&text);
	ot_buf_printf(&text, "guest %s: injecting the engine into its VMM (PID %u): %s", guest, pid, why);
	lib_report(h, ot_buf_str(&text));
	ot_buf_deinit(&text);
}

/* --- guests that join ----------------------------------------------------------------------------------- */

/* A guest's kernel is another one: the texts that are enabled are compiled for it too. */
static struct ot_err *compile(void *arg)
{
	dtrace_hdl_t *h = arg;
	const struct con_texts texts = lib_texts(h);
	uint32_t first = h->comp.prog.nclauses;
	struct ot_err *err = con_compile_joining(&h->comp, &texts, h->session);

	if (err)
		return ot_err_prefix(err, "the program can't be compiled for its kernel");
	lib_keep_executed(h, first);
	return NULL;
}

static void joined(void *arg, uint32_t guest, const char *name)
{
	dtrace_hdl_t *h = arg;
	struct ot_buf text;

	ot_buf_init(&text);
	ot_buf_printf(&text, "guest %s: joined", name);
	lib_report(h, ot_buf_str(&text));
	ot_buf_deinit(&text);
	vp_session_notes(h->session, guest, lib_report_note, h);
}

static struct ot_err *attach_pattern(dtrace_hdl_t *h, struct vp_session *s, const char *pattern)
{
	const struct con_joining_config config = {
		.session = s,
		.comp = &h->comp,
		.compile = compile,
		.joined = joined,
		.say = say,
		.arg = h,
	};

	if (!h->joining)
		OT_TRY(con_joining_create(&config, &h->joining));
	return con_joining_attach(h->joining, pattern);
}

/* --- all of them ---------------------------------------------------------------------------------------- */

static struct ot_err *attach_all(dtrace_hdl_t *h, struct vp_session *s)
{
	if (!h->guests.count) /* the only one that runs */
		return vp_session_attach(s, h->no_guest ? "none" : NULL);
	for (size_t i = 0; i < h->guests.count; i++) {
		const char *guest = h->guests.items[i];

		OT_TRY(con_is_guest_pattern(guest) ? attach_pattern(h, s, guest)
						   : vp_session_attach(s, guest));
	}
	return h->joining ? con_joining_await(h->joining) : NULL;
}

struct ot_err *lib_attach(dtrace_hdl_t *h)
{
	const struct vp_session_config config = {
		.options = &h->opts,
		.sysroot = h->sysroot,
		.attach = {
			.vmlinux = h->vmlinux,
			.symbols = h->symbols,
			.entry = h->opts.noattach ? VP_ENTRY_REFUSED : VP_ENTRY_AS_NEEDED,
			.entering = entering,
			.arg = h,
		},
	};
	struct vp_session *s = NULL;

	if (h->session)
		return NULL;
	OT_TRY(vp_session_create(&config, &s));
	struct ot_err *err = attach_all(h, s);
	if (!err) {
		h->session = s;
		return NULL;
	}
	vp_session_destroy(s);
	con_joining_destroy(h->joining); /* the next attempt begins again */
	h->joining = NULL;
	return err;
}

int outsight_attach(dtrace_hdl_t *h)
{
	if (lib_check_idle(h))
		return -1;
	lib_begin(h);
	int result = lib_result(h, lib_attach(h));
	lib_end(h);
	return result;
}

unsigned outsight_guests(dtrace_hdl_t *h)
{
	return h->session ? vp_session_nguests(h->session) : 0;
}

const char *outsight_guest_name(dtrace_hdl_t *h, unsigned i)
{
	return i < outsight_guests(h) ? vp_session_guest_name(h->session, i) : NULL;
}
