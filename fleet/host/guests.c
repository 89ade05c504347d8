/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests of a worker's session: attaching, joining, and the messages about them to the operator. */
#include <string.h>

#include "base/clock.h"
#include "consumer/guest_patterns.h"
#include "fleet/host/internal.h"

/* --- callbacks of the session ------------------------------------------------------------------------------ */

/* Keeps the operator's lease while an engine is waited for. */
static void waiting(void *arg)
{
	struct fl_worker *w = arg;

	if (!w->broken && ot_now_ns() >= fl_link_due_ns(w->link))
		ot_err_destroy(fl_link_poll(w->link)); /* the next poll fails again, and is checked */
}

/* The same while kernels are read. */
static void progress(void *arg, const char *what)
{
	(void)what;
	waiting(arg);
}

static void entering(void *arg, const char *guest, uint32_t pid, const char *why)
{
	struct ot_buf text;

	con_journal_note_one("injecting", guest);
	ot_buf_init(&text);
	ot_buf_printf(&text, "guest %s: injecting the engine into its VMM (PID %u): %s", guest, pid, why);
	ot_err_destroy(fl_send_say(arg, true, ot_buf_str(&text)));
	ot_buf_deinit(&text);
}

static void say(void *arg, const char *text)
{
	ot_err_destroy(fl_send_say(arg, true, text));
}

bool fl_guest_may(void *arg, const char *name)
{
	const struct fl_worker *w = arg;
	const struct fl_rights *rights = w->config->rights;

	return !rights || !rights->guest || rights->guest(rights->arg, name);
}

/* --- guests that join ------------------------------------------------------------------------------------- */

/* The new guest may add records to keep. */
static void set_room(struct fl_worker *w)
{
	const uint64_t most = 1ull << 30, each = w->run.opts.bufsize;
	uint64_t vcpus = 0;

	for (uint32_t i = 0; i < vp_session_nguests(w->session); i++)
		vcpus += vp_session_nvcpus(w->session, i);
	w->records.limit = vcpus && each > most / vcpus ? most : each * vcpus;
}

static void joined(void *arg, uint32_t guest, const char *name)
{
	(void)name; /* the session has reported it */
	fl_guest_notes(arg, guest);
}

static struct ot_err *compile(void *arg)
{
	return fl_compile_joining(arg);
}

static struct ot_err *attach_pattern(struct fl_worker *w, const char *pattern)
{
	const struct con_joining_config config = {
		.session = w->session,
		.comp = &w->comp,
		.compile = compile,
		.joined = joined,
		.may = fl_guest_may,
		.say = say,
		.arg = w,
	};

	if (!w->joining)
		OT_TRY(con_joining_create(&config, &w->joining));
	struct ot_err *err = con_joining_attach(w->joining, pattern);
	return err;
}

/* --- attaching -------------------------------------------------------------------------------------------- */

/* A host allows its guests only: a dump or a gdb stub that an operator names is not one. */
static struct ot_err *check_one(struct fl_worker *w, const char *spec)
{
	const struct fl_rights *rights = w->config->rights;

	w->reason = FL_REASON_POLICY;
	/* nor a PID or an empty name: they could be any guest's */
	if (rights && rights->guest && (strpbrk(spec, ":/") || strspn(spec, "0123456789") == strlen(spec)))
		return ot_err_new(OT_ERR_PERMISSION, "-g %s: this host allows guests by their names", spec);
	if (strcmp(spec, "none") != 0 && !fl_guest_may(w, spec)) /* whether there is one is not revealed */
		return ot_err_new(OT_ERR_PERMISSION, "-g %s: this host does not allow it", spec);
	w->reason = FL_REASON_GUEST;
	return NULL;
}

static struct ot_err *attach_one(struct fl_worker *w, const char *spec)
{
	OT_TRY(check_one(w, spec));
	OT_TRY(vp_session_attach(w->session, *spec ? spec : NULL));
	for (uint32_t i = 0; i < vp_session_nguests(w->session); i++) {
		const char *name = vp_session_guest_name(w->session, i);

		if (fl_guest_may(w, name))
			continue;
		w->reason = FL_REASON_POLICY;
		return ot_err_new(OT_ERR_PERMISSION, "-g %s: this host does not allow it", spec);
	}
	return NULL;
}

/* Names and patterns with blanks between them; none: the only guest there is. */
static struct ot_err *attach_all(struct fl_worker *w)
{
	char *words = ot_arena_strdup(&w->arena, w->run.guests), *left;

	if (!words)
		return ot_err_nomem();
	char *spec = strtok_r(words, " ", &left);
	if (!spec)
		return attach_one(w, "");
	if (fl_is_arriving(spec))
		return fl_arriving_attach(w, spec);
	for (; spec; spec = strtok_r(NULL, " ", &left))
		OT_TRY(con_is_guest_pattern(spec) ? attach_pattern(w, spec) : attach_one(w, spec));
	return NULL;
}

struct ot_err *fl_guests_attach(struct fl_worker *w)
{
	const struct vp_session_config config = {
		.options = &w->run.opts,
		.attach = {
			.vmlinux = w->config->vmlinux,
			.entry = w->run.opts.noattach ? VP_ENTRY_REFUSED : VP_ENTRY_AS_NEEDED,
			.progress = progress,
			.entering = entering,
			.arg = w,
		},
		.waiting = waiting,
	};

	OT_TRY(vp_session_create(&config, &w->session));
	OT_TRY(attach_all(w));
	return w->joining ? con_joining_await(w->joining) : NULL;
}

/* --- what is said ----------------------------------------------------------------------------------------- */

static void say_note(void *arg, bool missing, const char *text)
{
	ot_err_destroy(fl_send_say(arg, missing, text));
}

void fl_guest_notes(struct fl_worker *w, uint32_t guest)
{
	struct ot_buf text;
	uint32_t pid;

	set_room(w);
	vp_session_notes(w->session, guest, say_note, w);
	ot_buf_init(&text);
	if (vp_session_paused(w->session, guest, &pid))
		ot_buf_printf(&text, "guest %s (PID %u) is paused: `cont` in QEMU's monitor lets it run",
			      vp_session_guest_name(w->session, guest), pid);
	if (text.len)
		say(w, ot_buf_str(&text));
	ot_buf_clear(&text);
	vp_session_cost(w->session, guest, &text);
	if (text.len)
		say(w, ot_buf_str(&text));
	ot_buf_deinit(&text);
}

/* --- names ------------------------------------------------------------------------------------------------ */

static void number(uint64_t addr, char *buf, size_t size)
{
	snprintf(buf, size, "0x%llx", (unsigned long long)addr);
}

static void kernel_symbol(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
			  size_t size)
{
	const struct fl_worker *w = arg;

	if (w->run.opts.noresolve)
		number(addr, buf, size);
	else
		vp_session_symbol(w->session, guest, addr, form, buf, size);
}

static void user_symbol(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
			char *buf, size_t size)
{
	const struct fl_worker *w = arg;

	if (w->run.opts.noresolve)
		number(addr, buf, size);
	else
		vp_session_user_symbol(w->session, guest, pid, addr, form, buf, size);
}

static const char *note_text(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, const char *note)
{
	const struct fl_worker *w = arg;

	return w->run.opts.noresolve ? NULL : vp_session_note_text(w->session, guest, pid, addr, note);
}

struct con_symbols fl_guests_symbols(struct fl_worker *w)
{
	return (struct con_symbols){
		.arg = w, .kernel = kernel_symbol, .user = user_symbol, .note = note_text, .nguests = 1
	};
}
