/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory layout of a QEMU whose KVM_SET_USER_MEMORY_REGION calls were made before the injection, queried
 * from its monitor: `info mtree -f` and `gpa2hva` (machines/qemu_ask.h).
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "vmm-probe/hook/internal.h"
#include "vmm-probe/machines/qemu_ask.h"
#include "vmm-probe/machines/qemu_gap.h"
#include "vmm-probe/machines/qemu_view.h"

#define ANSWER_NS 10000000000ull /* wait for a busy main loop */

/* The question to the main loop, and its answer, which may come after our time-out. */
static struct {
	pthread_mutex_t lock;
	bool first;          /* ioctl() was not redirected before */
	const char *trouble; /* NULL: the slots were read */
	uint16_t port;       /* a trap port on which there is a device; 0: none */
	bool place;          /* the question is vp_hook_ask_place()'s: */
	uint32_t bits;
	uint64_t size, gpa;
} asked = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool vp_hook_is_qemu(void)
{
	return vp_qemu_can_ask();
}

bool vp_hook_paused(void)
{
	bool (*runs)(void);
	void *f = dlsym(RTLD_DEFAULT, "runstate_is_running");

	memcpy(&runs, &f, sizeof(f));
	return runs && !runs();
}

/* --- on QEMU's main loop ----------------------------------------------------------------------------- */

/* Read the RAM of address space "memory". Repetitions under another name are skipped. */
static const char *read_view(const char *text)
{
	uint32_t number = VP_HOOK_SLOT_FOUND;
	const char *at = vp_qemu_view_of(text, "memory");
	uint64_t start, end, host;

	while (vp_qemu_view_ram(&at, &start, &end)) {
		if (vp_hook_touches_found(start, end - start))
			continue;
		if (!vp_qemu_host_of(start, &host))
			return "its monitor reports no host address of guest memory";
		const struct vp_hook_slot slot = { number++, 0, start, end - start, host };
		vp_hook_add_slot(&slot);
	}
	return number == VP_HOOK_SLOT_FOUND ? "its monitor lists no RAM" : NULL;
}

/* A trap port that a device of the machine uses; 0: none. */
static uint16_t taken_port(const char *text)
{
	const char *at = vp_qemu_view_of(text, "I/O");
	uint64_t start, last;

	while (vp_qemu_view_device(&at, &start, &last))
		for (uint32_t i = 0; vp_kvm_port(i); i++)
			if (vp_kvm_port(i) >= start && vp_kvm_port(i) <= last)
				return vp_kvm_port(i);
	return 0;
}

static bool has_word(const char *line, const char *const *words)
{
	char *text = vp_qemu_monitor(line);
	bool found = false;

	for (; text && *words; words++)
		found |= strstr(text, *words) != NULL;
	vp_qemu_free(text);
	return found;
}

static bool is_migrating(void)
{
	static const char *const words[] = { "tatus: active", "tatus: setup", "tatus: device",
					     "tatus: pre-switchover", NULL };

	return has_word("info migrate", words);
}

/* Is a debugger connected to its gdbstub? What that has requested of KVM can't be read back and would be
 * lost. The line of its chardev is "gdb: filename=ADDRESS", or "…=disconnected:ADDRESS" without a client. */
static bool is_debugged(void)
{
	static const char *const words[] = { "gdb: filename=tcp:", "gdb: filename=unix:",
					     "gdb: filename=pty:", "gdb: filename=stdio", NULL };

	return has_word("info chardev", words);
}

/* With QEMU's big lock held, so no slot changes meanwhile. NULL, or the error. */
static const char *read_slots(bool first)
{
	if (is_migrating())
		return "the guest is being migrated or saved";
	if (first && is_debugged())
		return "a debugger is connected to its gdbstub: disconnect it first";
	char *view = vp_qemu_monitor("info mtree -f");
	if (!view)
		return "its monitor has no `info mtree`";
	pthread_mutex_lock(&vp_hook.lock);
	vp_hook_forget_slots();
	const char *trouble = read_view(view);
	asked.port = taken_port(view);
	pthread_mutex_unlock(&vp_hook.lock);
	vp_qemu_free(view);
	return trouble;
}

static bool number_of(const char *line, uint64_t *ret)
{
	char *text = vp_qemu_monitor(line), *end = NULL;

	if (text)
		*ret = strtoull(text, &end, 10);
	bool ok = end && end != text && (*end == '\r' || *end == '\n' || !*end);
	vp_qemu_free(text);
	return ok;
}

/* The window above 4 GiB of the PCI host bridge that a machine of type pc or q35 has. */
static bool find_window(struct vp_qemu_window *ret)
{
	return (number_of("qom-get /machine/q35 pci-hole64-start", &ret->start) &&
		number_of("qom-get /machine/q35 pci-hole64-end", &ret->end)) ||
	       (number_of("qom-get /machine/i440fx pci-hole64-start", &ret->start) &&
		number_of("qom-get /machine/i440fx pci-hole64-end", &ret->end));
}

static const char *find_place(uint32_t bits, uint64_t size, uint64_t *ret)
{
	struct vp_qemu_window pci;

	if (!find_window(&pci))
		return "its machine is neither pc nor q35, so where it may have devices is not known";
	char *tree = vp_qemu_monitor("info mtree");
	bool found = tree && vp_qemu_gap(tree, &pci, bits, size, ret);
	vp_qemu_free(tree);
	return found ? NULL : "its machine has no room between its memory and its devices";
}

static void on_main_loop(void)
{
	/* The big lock is held here: a vCPU that exits to QEMU waits for it. */
	uint64_t start = ot_now_ns(), size, gpa = 0;

	pthread_mutex_lock(&asked.lock);
	bool first = asked.first, place = asked.place;
	uint32_t bits = asked.bits;
	size = asked.size;
	pthread_mutex_unlock(&asked.lock);
	const char *trouble = place ? find_place(bits, size, &gpa) : read_slots(first);
	vp_hook_held_since(start);
	pthread_mutex_lock(&asked.lock);
	asked.trouble = trouble;
	asked.gpa = gpa;
	pthread_mutex_unlock(&asked.lock);
}

/* --- on our thread ----------------------------------------------------------------------------------- */

struct ot_err *vp_hook_ask_slots(bool first)
{
	if (!vp_qemu_can_ask())
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this VMM is not a QEMU whose memory layout can be queried");
	pthread_mutex_lock(&asked.lock);
	asked.place = false;
	asked.first = first; /* also if a request that has timed out is still pending: it answers this one */
	pthread_mutex_unlock(&asked.lock);
	bool done = vp_qemu_ask(on_main_loop, ANSWER_NS);
	pthread_mutex_lock(&asked.lock);
	const char *trouble = done ? asked.trouble : "its main loop does not answer";
	uint16_t port = trouble ? 0 : asked.port;
	pthread_mutex_unlock(&asked.lock);
	if (port)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "QEMU: its machine has a device on I/O port 0x%x, which traps use", port);
	return trouble ? ot_err_new(OT_ERR_BUSY, "QEMU: %s", trouble) : NULL;
}

struct ot_err *vp_hook_ask_place(uint32_t bits, uint64_t size, uint64_t *ret)
{
	if (!vp_qemu_can_ask())
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this VMM is not a QEMU whose memory layout can be queried");
	pthread_mutex_lock(&asked.lock);
	asked.place = true;
	asked.bits = bits;
	asked.size = size;
	pthread_mutex_unlock(&asked.lock);
	if (!vp_qemu_ask(on_main_loop, ANSWER_NS))
		return ot_err_new(OT_ERR_BUSY, "QEMU: its main loop does not answer");
	pthread_mutex_lock(&asked.lock);
	const char *trouble = asked.trouble;
	*ret = asked.gpa;
	pthread_mutex_unlock(&asked.lock);
	return trouble ? ot_err_new(OT_ERR_UNSUPPORTED, "QEMU: %s", trouble) : NULL;
}
