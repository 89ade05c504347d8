/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's names for addresses, guests and vCPUs, for the printer. */
#include "consumer/consumer.h"

static void kernel_symbol(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
			  size_t size)
{
	const struct con_consumer *c = arg;

	if (c->opts->noresolve)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else
		vp_session_symbol(c->session, guest, addr, form, buf, size);
}

static void user_symbol(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
			char *buf, size_t size)
{
	const struct con_consumer *c = arg;

	if (c->opts->noresolve)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else
		vp_session_user_symbol(c->session, guest, pid, addr, form, buf, size);
}

static const char *note_text(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, const char *note)
{
	const struct con_consumer *c = arg;

	return c->opts->noresolve ? NULL : vp_session_note_text(c->session, guest, pid, addr, note);
}

static const char *guest_name(void *arg, uint32_t guest)
{
	const struct con_consumer *c = arg;

	return guest < vp_session_nguests(c->session) ? vp_session_guest_name(c->session, guest) : NULL;
}

static void vcpu_thread(void *arg, uint32_t guest, uint32_t cpu, uint32_t *ret_pid, uint32_t *ret_tid)
{
	const struct con_consumer *c = arg;

	*ret_pid = *ret_tid = 0;
	if (guest < vp_session_nguests(c->session))
		vp_session_vcpu(c->session, guest, cpu, ret_pid, ret_tid);
}

void con_consumer_names(struct con_consumer *c, struct vp_session *s)
{
	c->session = s;
	c->out->printer.symbols = (struct con_symbols){
		c, kernel_symbol, user_symbol, note_text, guest_name, vcpu_thread, vp_session_nguests_max(s)
	};
	c->out->printer.asks_names = !vp_session_nguests(s);
}
