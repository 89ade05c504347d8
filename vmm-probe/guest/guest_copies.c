/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inlined copies of the core kernel's functions, by the operator's vmlinux: identity, child and cache. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/confined/confined.h"
#include "vmm-probe/dwarf/copies.h"
#include "vmm-probe/dwarf/reader.h"
#include "vmm-probe/guest/cache.h"
#include "vmm-probe/guest/guest_internal.h"

#define CACHE_KIND "inlined"
#define PROGRESS   "reading where functions are inlined"

#define RESULT_MIB 256u

/* Debian's 6.1 (590 MB) takes 2 s and, with the file itself, 1 GiB. */
static struct vp_confined_limits limits_of(const struct vp_reading *reading)
{
	return (struct vp_confined_limits){
		.memory_mib = reading->memory_mib,
		.cpu_s = reading->cpu_ms / 1000,
		.wall_s = reading->wall_ms / 1000,
		.result_mib = RESULT_MIB,
	};
}

struct ot_err *vp_guest_file_set(struct vp_guest *guest, const struct vp_guest_opts *opts)
{
	struct vp_guest_file *f = &guest->file;

	f->use_cache = opts->use_cache;
	f->progress = opts->progress;
	f->progress_ctx = opts->progress_ctx;
	f->vmlinux = opts->vmlinux ? strdup(opts->vmlinux) : NULL;
	f->cache_dir = opts->cache_dir ? strdup(opts->cache_dir) : NULL;
	return !f->vmlinux == !opts->vmlinux && !f->cache_dir == !opts->cache_dir ? NULL : ot_err_nomem();
}

void vp_guest_file_deinit(struct vp_guest *guest)
{
	if (guest->copies)
		vp_copies_deinit(guest->copies);
	free(guest->copies);
	free(guest->file.vmlinux);
	free(guest->file.cache_dir);
}

const char *vp_guest_vmlinux(const struct vp_guest *guest)
{
	return guest->file.vmlinux;
}

/* --- the file --------------------------------------------------------------------------------------------- */

static struct ot_err *read_copies(void *fd, struct ot_buf *result)
{
	return vp_dwarf_copies(*(int *)fd, result);
}

static void show_progress(void *arg)
{
	const struct vp_guest_file *f = arg;

	if (f->progress)
		f->progress(f->progress_ctx, PROGRESS);
}

static struct ot_err *from_file(const struct vp_guest_file *f, struct vp_copies *ret)
{
	ot_auto_close int fd = open(f->vmlinux, O_RDONLY | O_CLOEXEC);
	ot_auto(vp_confined_result_deinit) struct vp_confined_result result = { 0 };
	const struct vp_confined_job job = {
		.what = f->vmlinux,
		.run = read_copies,
		.arg = &fd,
		.fds = &fd,
		.nfds = 1,
		.limits = limits_of(&vp_readings[VP_READ_COPIES]),
		.waiting = show_progress,
		.waiting_arg = (void *)(uintptr_t)f,
	};

	if (fd < 0)
		return ot_err_os(errno, "cannot open %s", f->vmlinux);
	show_progress((void *)(uintptr_t)f);
	OT_TRY(vp_confined_run(&job, &result));
	char *data = malloc(result.len + 1);
	if (!data)
		return ot_err_nomem();
	memcpy(data, result.data, result.len);
	struct ot_err *err = vp_copies_open(data, result.len, ret);
	if (err)
		free(data);
	return ot_err_prefix(err, "%s", f->vmlinux);
}

static bool is_of(const struct vp_copies *c, const struct vp_kernel *kernel)
{
	return kernel->build_id_len && c->head->build_id_len == kernel->build_id_len &&
	       memcmp(c->head->build_id, kernel->build_id, kernel->build_id_len) == 0;
}

/* --- the cache -------------------------------------------------------------------------------------------- */

/* *ret->data stays NULL: it is not in the cache. Without a usable cache the file is read each time. */
static struct ot_err *from_cache(const struct vp_cache *cache, const struct vp_kernel *kernel,
				 struct vp_copies *ret)
{
	char *data = NULL;
	size_t len;
	struct ot_err *err =
	    vp_cache_read(cache, kernel->build_id, kernel->build_id_len, CACHE_KIND, &data, &len);

	if (!err)
		err = vp_copies_open(data, len, ret);
	if (!err)
		return NULL;
	free(data);
	if (ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *to_cache(const struct vp_cache *cache, const struct vp_kernel *kernel,
			       const struct vp_copies *c)
{
	size_t len = (size_t)(c->strings - (const char *)c->data) + c->head->strings_size;

	return vp_cache_write(cache, kernel->build_id, kernel->build_id_len, CACHE_KIND, c->data, len);
}

static void cache_close(struct vp_cache **cache)
{
	vp_cache_close(*cache);
}

static struct ot_err *load(struct vp_guest *guest, struct vp_copies *ret)
{
	const struct vp_guest_file *f = &guest->file;
	ot_auto(cache_close) struct vp_cache *cache = NULL;

	if (f->use_cache)
		OT_TRY(vp_guest_note_missing(guest, "no cache", vp_cache_open(f->cache_dir, &cache)));
	if (cache)
		OT_TRY(from_cache(cache, &guest->kernel, ret));
	if (ret->data && is_of(ret, &guest->kernel))
		return NULL;
	vp_copies_deinit(ret);
	OT_TRY(from_file(f, ret));
	if (!is_of(ret, &guest->kernel))
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s belongs to another kernel than the guest's (%s): build ids differ",
				  f->vmlinux, guest->kernel.release);
	return cache ? vp_guest_note_missing(guest, "no cache", to_cache(cache, &guest->kernel, ret)) : NULL;
}

struct ot_err *vp_guest_copies(struct vp_guest *guest, const struct vp_copies **ret)
{
	struct vp_copies c = { 0 };

	if (!guest->file.vmlinux)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "without --vmlinux it is not known where functions are inlined");
	if (!guest->kernel.build_id_len)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the guest's kernel has no build id: it can't be known whether %s is its",
				  guest->file.vmlinux);
	if (!guest->copies) {
		struct ot_err *err = load(guest, &c);

		if (!err)
			guest->copies = malloc(sizeof(*guest->copies));
		if (!guest->copies) {
			vp_copies_deinit(&c);
			return err ? err : ot_err_nomem();
		}
		*guest->copies = c;
	}
	*ret = guest->copies;
	return NULL;
}
