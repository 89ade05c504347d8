/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting a transient libvirt domain with the plugin, and waiting for its engine. */
#include "vmm-probe/launch/domain.h"
#include "vmm-probe/hosts/engine_files.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/hosts/enter.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/hosts/machines.h"
#include "vmm-probe/machines/domain_xml.h"
#include "vmm-probe/machines/libvirt.h"

#define XML_MAX        (16u << 20)
#define ANSWER_SECONDS 30
#define STEP_MS        20

struct vp_domain_vm {
	struct vp_libvirt *lv;
	struct vp_domain domain;
	bool started, with_us;
	struct vp_qemu qemu;
	int pidfd;
	char socket[108];
};

static struct ot_err *prepare(const char *path, char **ret)
{
	ot_auto(vp_engine_files_deinit) struct vp_engine_files files = { 0 };
	ot_auto_free char *text = NULL, *xml = NULL;
	size_t len = 0;

	OT_TRY(ot_read_file(path, XML_MAX, &text, &len));
	xml = strndup(text ? text : "", len);
	if (!xml)
		return ot_err_nomem();
	OT_TRY(vp_engine_files_find(&files));
	const struct vp_domain_files in = { .plugin = files.plugin, .hook = files.hook };
	return ot_err_prefix(vp_domain_xml_add(xml, &in, ret), "%s", path);
}

static struct ot_err *find_process(struct vp_domain_vm *vm)
{
	ot_auto_free struct vp_qemu *qemus = NULL;
	size_t n = 0;

	OT_TRY(vp_qemu_list(&qemus, &n));
	const struct vp_qemu *q = vp_locate_domain(qemus, n, vm->domain.uuid);
	if (q) {
		vm->qemu = *q;
		vm->pidfd = (int)syscall(SYS_pidfd_open, vm->qemu.pid, 0);
		return vm->pidfd < 0
			   ? ot_err_new(OT_ERR_GUEST_GONE, "domain %s has ended already", vm->domain.name)
			   : NULL;
	}
	return ot_err_new(OT_ERR_NOT_FOUND,
			  "domain %s: its QEMU can't be seen from here, or has ended already",
			  vm->domain.name);
}

/* The plugin creates its engine with the first vCPU. */
static struct ot_err *try_plugin(struct vp_domain_vm *vm)
{
	struct vp_client client;

	snprintf(vm->socket, sizeof(vm->socket), "%s", vm->qemu.socket);
	OT_TRY(vp_client_connect(&client, vm->socket));
	vp_client_close(&client);
	return NULL;
}

/* The hook is preloaded; vp_enter() gives it the socket of its engine. */
static struct ot_err *try_hook(struct vp_domain_vm *vm)
{
	struct vp_inject_result result;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)vm->qemu.pid);
	OT_TRY(vp_enter(pid, &result));
	return vp_locate(pid, vm->socket, sizeof(vm->socket));
}

/* No engine yet: nothing listens, there is no memory, or the firmware is changing it. */
static bool may_come(const struct ot_err *err)
{
	return ot_err_code(err) == OT_ERR_NOT_FOUND || ot_err_code(err) == OT_ERR_BUSY ||
	       ot_err_code(err) == OT_ERR_GUEST_GONE;
}

static struct ot_err *wait_engine(struct vp_domain_vm *vm)
{
	struct pollfd p = { .fd = vm->pidfd, .events = POLLIN };
	time_t end = time(NULL) + ANSWER_SECONDS;

	if (vm->qemu.plugin && !*vm->qemu.socket)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "domain %s: its QEMU has no directory from libvirt for the plugin's socket",
				  vm->domain.name);
	for (;;) {
		struct ot_err *err = vm->qemu.plugin ? try_plugin(vm) : try_hook(vm);
		if (!err || !may_come(err) || time(NULL) > end)
			return err;
		ot_err_destroy(err);
		if (poll(&p, 1, STEP_MS) > 0)
			return ot_err_new(OT_ERR_GUEST_GONE, "domain %s has ended: see libvirt's log of it",
					  vm->domain.name);
	}
}

static struct ot_err *start(struct vp_domain_vm *vm, const struct vp_domain_opts *opts)
{
	ot_auto_free char *xml = NULL;

	OT_TRY(prepare(opts->xml, &xml));
	OT_TRY(vp_libvirt_open(opts->uri, true, &vm->lv));
	if (vp_libvirt_is_remote(vm->lv))
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s is another host: run outsight there",
				  vp_libvirt_uri(vm->lv));
	OT_TRY(vp_libvirt_start(vm->lv, xml, opts->with_us, &vm->domain));
	vm->started = true;
	OT_TRY(find_process(vm));
	return wait_engine(vm);
}

struct ot_err *vp_domain_launch(const struct vp_domain_opts *opts, struct vp_domain_vm **ret)
{
	struct vp_domain_vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return ot_err_nomem();
	vm->pidfd = -1;
	struct ot_err *err = start(vm, opts);
	/* A domain that failed to start is not left running. */
	vm->with_us = opts->with_us || err;
	if (err) {
		vp_domain_vm_destroy(vm);
		return err;
	}
	*ret = vm;
	return NULL;
}

void vp_domain_vm_destroy(struct vp_domain_vm *vm)
{
	if (!vm)
		return;
	if (vm->started && vm->with_us)
		ot_err_destroy(vp_libvirt_stop(vm->lv, &vm->domain));
	vp_libvirt_close(vm->lv);
	if (vm->pidfd >= 0)
		close(vm->pidfd);
	free(vm);
}

const char *vp_domain_vm_name(const struct vp_domain_vm *vm)
{
	return vm->domain.name;
}

const char *vp_domain_vm_socket(const struct vp_domain_vm *vm)
{
	return vm->socket;
}

int vp_domain_vm_fd(const struct vp_domain_vm *vm)
{
	return vm->pidfd;
}
