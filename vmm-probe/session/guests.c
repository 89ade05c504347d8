/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests of a session: attaching them, and questions about them by the session's owner. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vmm-probe/session/internal.h"

static struct ot_err *attach_none(struct vp_session *s)
{
	if (s->links.n)
		return ot_err_new(OT_ERR_UNSUPPORTED, "-g none cannot be combined with another guest");
	return s->host.probes ? NULL : vp_probes_create(NULL, &s->host.probes);
}

/* -x trap; an unknown word was refused when the option was set. */
static enum vp_trap_wish trap_wish(const struct vp_session *s)
{
	const char *word = ot_map_gets(&s->options->set, "trap");
	enum vp_trap_wish wish = VP_WISH_AUTO;

	if (word && !vp_trap_wish_parse(word, &wish))
		return VP_WISH_AUTO;
	return wish;
}

/* -x semaphores */
static bool keeps_semaphores(const struct vp_session *s)
{
	const char *word = ot_map_gets(&s->options->set, "semaphores");

	return word && !strcmp(word, "no");
}

#define UNSAID_MAX (64u << 10) /* of messages; a guest may cause more */

void vp_session_say_of(void *session, const char *text)
{
	struct vp_session *s = session;

	if (s->sink.say)
		vp_session_say(s, text);
	else if (s->unsaid.len < UNSAID_MAX)
		ot_buf_append(&s->unsaid, text, strlen(text) + 1);
}

void vp_session_say_kept(struct vp_session *s)
{
	const char *end = s->unsaid.data ? s->unsaid.data + s->unsaid.len : NULL;

	for (const char *at = s->unsaid.data; end && at < end; at += strlen(at) + 1)
		vp_session_say(s, at);
	ot_buf_clear(&s->unsaid);
}

/* Each guest has a range of the numbers of providers' variables. */
_Static_assert(VP_GUESTS_MAX <= DIF_PROVIDER_GUESTS, "guest numbers");

struct ot_err *vp_session_attach(struct vp_session *s, const char *guest)
{
	if (guest && !strcmp(guest, "none"))
		return attach_none(s);
	if (s->host.probes)
		return ot_err_new(OT_ERR_UNSUPPORTED, "-g none cannot be combined with another guest");
	s->links.opts.trap = trap_wish(s);
	s->links.opts.keep_semaphores = keeps_semaphores(s);
	OT_TRY(vp_links_attach(&s->links, guest));
	vp_kernels_group(s);
	vp_probes_set_guest(s->links.items[s->links.n - 1]->probes, s->links.n - 1);
	vp_probes_set_say(s->links.items[s->links.n - 1]->probes, vp_session_say_of, s);
	for (uint32_t i = 0; i < s->links.n; i++)
		vp_probes_set_target(s->links.items[i]->probes, (uint64_t)s->config.target_pid);
	return NULL;
}

uint32_t vp_session_nguests(const struct vp_session *s)
{
	return s->links.n;
}

const char *vp_session_guest_name(const struct vp_session *s, uint32_t guest)
{
	return guest < s->links.n ? s->links.items[guest]->client.guest_name : "";
}

const struct dif_layout_opts *vp_session_layout_opts(const struct vp_session *s)
{
	return &s->program.layout_opts;
}

uint32_t vp_session_nvcpus(const struct vp_session *s, uint32_t guest)
{
	return s->feeds && guest + 1 < s->nfeeds ? s->feeds[guest + 1].ncpus : 0;
}

bool vp_session_lacks_types(const struct vp_session *s)
{
	for (uint32_t i = 0; i < s->links.n; i++)
		if (!s->links.items[i]->guest || vp_guest_btf(s->links.items[i]->guest))
			return false;
	return s->links.n;
}

uint32_t vp_session_guest_pid(const struct vp_session *s, uint32_t guest)
{
	return guest < s->links.n ? s->links.items[guest]->client.pid : 0;
}

/* An engine may send any number, or one of its own PID namespace. */
static bool is_thread_of(uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, tid);
	return tid && !access(path, F_OK);
}

void vp_session_vcpu(const struct vp_session *s, uint32_t guest, uint32_t cpu, uint32_t *ret_pid,
		     uint32_t *ret_tid)
{
	*ret_pid = vp_session_guest_pid(s, guest);
	*ret_tid = 0;
	for (uint32_t i = 1; *ret_pid && i < s->nfeeds; i++) {
		const struct vp_feed *feed = &s->feeds[i];
		if (feed->link != s->links.items[guest] || !feed->opened || cpu >= feed->ncpus)
			continue;
		uint32_t tid = __atomic_load_n(&vp_feed_status(feed)[cpu].tid, __ATOMIC_RELAXED);
		*ret_tid = is_thread_of(*ret_pid, tid) ? tid : 0;
	}
}

struct ot_err *vp_session_access(struct vp_session *s, uint32_t guest, uint64_t logged,
				 struct vp_msg_access_reply *ret)
{
	*ret = (struct vp_msg_access_reply){ 0 };
	if (guest >= s->links.n || s->links.items[guest]->client.sock < 0)
		return NULL;
	return vp_client_access(&s->links.items[guest]->client, logged, ret);
}

bool vp_session_paused(const struct vp_session *s, uint32_t guest, uint32_t *ret_pid)
{
	if (guest >= s->links.n || !s->links.items[guest]->client.paused)
		return false;
	*ret_pid = s->links.items[guest]->client.pid;
	return true;
}

void vp_session_cost(const struct vp_session *s, uint32_t guest, struct ot_buf *out)
{
	const struct vp_guest_link *link = guest < s->links.n ? s->links.items[guest] : NULL;

	if (link && link->source.ops && link->source.ops->cost)
		link->source.ops->cost(link->source.handle, link->client.guest_name, out);
}

/* A message for each line of @note. */
static void say_lines(const char *name, const char *note, bool missing,
		      void (*say)(void *arg, bool missing, const char *text), void *arg)
{
	struct ot_buf text;

	ot_buf_init(&text);
	for (size_t len; *note; note += len + (note[len] == '\n')) {
		len = strcspn(note, "\n");
		ot_buf_clear(&text);
		ot_buf_printf(&text, "%s: %.*s", name, (int)len, note);
		say(arg, missing, ot_buf_str(&text));
	}
	ot_buf_deinit(&text);
}

/* Enabled probes that the program skips because their semaphores are 0. Mostly they belong to one program,
 * with one reason. */
static void say_asleep(const struct vp_session *s, uint32_t guest, const struct vp_guest_link *link,
		       void (*say)(void *arg, bool missing, const char *text), void *arg)
{
	const struct vp_probe *first = NULL, *other = NULL;
	const char *why = NULL;
	struct ot_buf text;

	for (size_t i = 0; i < s->program.nenabled; i++) {
		const struct vp_enabled *e = s->program.enabled[i];

		const char *asleep = e->guest == guest && e->probe->kind == VP_PROBE_SITE
					 ? vp_probes_asleep(link->probes, e->probe)
					 : NULL;

		if (!asleep)
			continue;
		if (first && e->probe != first)
			other = e->probe;
		if (first)
			continue;
		first = e->probe;
		why = asleep;
	}
	if (!first)
		return;
	ot_buf_init(&text);
	ot_buf_printf(&text,
		      "%s: %s:%s:%s:%s%s: the program skips such a probe while its semaphore is 0, and it is "
		      "not raised: %s (-lv shows semaphores)",
		      link->client.guest_name, first->provider, first->module, first->function, first->name,
		      other ? " and others" : "", why);
	say(arg, true, ot_buf_str(&text));
	ot_buf_deinit(&text);
}

void vp_session_notes(const struct vp_session *s, uint32_t guest,
		      void (*say)(void *arg, bool missing, const char *text), void *arg)
{
	const struct vp_guest_link *link = guest < s->links.n ? s->links.items[guest] : NULL;
	const struct vp_source_ops *ops = link ? link->source.ops : NULL;
	struct ot_buf text;

	if (link && link->guest) {
		say_lines(link->client.guest_name, vp_guest_note(link->guest), false, say, arg);
		say_lines(link->client.guest_name, vp_guest_warning(link->guest), true, say, arg);
	}
	if (link)
		say_asleep(s, guest, link, say, arg);
	if (!ops)
		return;
	ot_buf_init(&text);
	if (link->fell_back) {
		ot_buf_printf(&text, "%s: no engine can be injected into its VMM: %s",
			      link->client.guest_name, link->fell_back);
		say(arg, false, ot_buf_str(&text));
	}
	ot_buf_clear(&text);
	if (ops->note) {
		ops->note(link->source.handle, link->client.guest_name, &text);
		say(arg, false, ot_buf_str(&text));
	}
	ot_buf_clear(&text);
	if (link->unread) {
		ot_buf_printf(&text, "%s: no kernel was found, so there are no names: %s",
			      link->client.guest_name, link->unread);
		say(arg, true, ot_buf_str(&text));
	}
	ot_buf_deinit(&text);
}
