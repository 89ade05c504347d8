/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw types (.BTF) and unwind tables (ORC) of the kernel, from the image, and of modules. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest_internal.h"

#define BTF_MAX     (64u << 20)
#define BTF_HEADER  24
#define BTF_MARK    "\x9f\xeb\x01\x00\x18\x00\x00\x00" /* magic, version 1, no flags, header of 24 bytes */
#define BTF_TRIES   64
#define MODULE_ORCS 4000000u

/* Copy [start, stop) of the image; *ret stays NULL if the image does not contain all of it. */
static struct ot_err *copy_between(const struct vp_image *image, uint64_t start, uint64_t stop,
				   const uint8_t **ret, size_t *ret_size)
{
	const uint8_t *bytes = start && stop > start ? vp_image_at(image, vp_gva(start), stop - start) : NULL;
	uint8_t *copy;

	if (!bytes)
		return NULL;
	OT_TRY(vp_budget_take(stop - start));
	copy = malloc(stop - start);
	if (!copy)
		return ot_err_nomem();
	memcpy(copy, bytes, stop - start);
	*ret = copy;
	*ret_size = stop - start;
	return NULL;
}

/* The size of a BTF blob by its header; 0: it exceeds the image. */
static size_t blob_size(const uint8_t *at, const uint8_t *end)
{
	struct vp_btf_header h;
	uint64_t types, strings, size;

	if ((size_t)(end - at) < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	types = (uint64_t)h.hdr_len + h.type_off + h.type_len;
	strings = (uint64_t)h.hdr_len + h.str_off + h.str_len;
	size = types > strings ? types : strings;
	return size > BTF_HEADER && size <= (uint64_t)(end - at) && size <= BTF_MAX ? size : 0;
}

/* Without __start_BTF: the largest blob with a valid header. */
static struct ot_err *scan_btf(const struct vp_image *image, const uint8_t **ret, size_t *ret_size)
{
	const uint8_t *at = image->data, *end = image->data + image->size, *best = NULL;
	size_t best_size = 0;
	uint64_t start;

	for (int i = 0; i < BTF_TRIES; i++) {
		size_t size;

		at = memmem(at, (size_t)(end - at), BTF_MARK, sizeof(BTF_MARK) - 1);
		if (!at)
			break;
		size = blob_size(at, end);
		if (size > best_size) {
			best = at;
			best_size = size;
		}
		at++;
	}
	if (!best)
		return ot_err_new(OT_ERR_NOT_FOUND,
				  "the kernel has no .BTF in its memory (--vmlinux FILE gives it)");
	start = image->base.v + (uint64_t)(best - image->data);
	return copy_between(image, start, start + best_size, ret, ret_size);
}

static struct ot_err *find_btf(struct vp_guest *guest, const struct vp_image *image)
{
	uint64_t start = vp_guest_address(guest->symtab, "__start_BTF");
	uint64_t stop = vp_guest_address(guest->symtab, "__stop_BTF");

	if (!guest->btf_data)
		OT_TRY(copy_between(image, start, stop, &guest->btf_data, &guest->btf_size));
	return guest->btf_data ? NULL : scan_btf(image, &guest->btf_data, &guest->btf_size);
}

struct ot_err *vp_guest_types(struct vp_guest *guest, const struct vp_image *image)
{
	return vp_guest_note_missing(guest, "no types", find_btf(guest, image));
}

struct ot_err *vp_guest_index_types(struct vp_guest *guest, const uint8_t *data, size_t size)
{
	struct ot_err *err;

	if (data) {
		err = vp_btf_create(data, size, NULL, &guest->btf);
		err = ot_err_prefix(err, "the kernel's types can't be read (--vmlinux FILE gives them)");
		OT_TRY(vp_guest_note_missing(guest, "no types", err));
	}
	free((void *)guest->btf_data); /* guest->btf has a copy */
	guest->btf_data = NULL;
	guest->btf_size = 0;
	if (!guest->btf)
		return vp_guest_note_missing(
		    guest, "no modules",
		    ot_err_new(OT_ERR_NOT_FOUND, "without types their layout is unknown"));
	err = vp_module_layout_from_btf(guest->btf, &guest->layout);
	OT_TRY(vp_guest_note_missing(guest, "no modules", err));
	guest->have_layout = guest->layout.name_size != 0;
	return NULL;
}

/* --- stack tables ---------------------------------------------------------------------------------------- */

static struct ot_err *copy_bytes(const uint8_t *bytes, size_t size, const uint8_t **ret)
{
	OT_TRY(vp_budget_take(size));
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		return ot_err_nomem();
	if (size)
		memcpy(copy, bytes, size);
	*ret = copy;
	return NULL;
}

/* Copy the bytes between two symbols of the kernel's image. */
static struct ot_err *copy_of_kernel(struct vp_guest *guest, const char *from, const char *to,
				     const uint8_t **ret, size_t *ret_size)
{
	uint64_t start = vp_guest_address(guest->symtab, from), stop = vp_guest_address(guest->symtab, to);
	struct ot_err *err;
	uint8_t *copy;

	if (!start || stop <= start || start < guest->kernel.base.v ||
	    stop - guest->kernel.base.v > guest->kernel.size)
		return NULL;
	OT_TRY(vp_budget_take(stop - start));
	copy = malloc(stop - start);
	if (!copy)
		return ot_err_nomem();
	err = vp_guest_read(guest, vp_gva(start), copy, stop - start);
	if (err) {
		free(copy);
		return err;
	}
	*ret = copy;
	*ret_size = stop - start;
	return NULL;
}

static struct ot_err *copy_orc(struct vp_guest *guest, struct vp_orc_raw *ret)
{
	const struct vp_orc_raw *file = &guest->orc;

	if (!file->ip || !file->orc) {
		ret->ip_addr = vp_gva(vp_guest_address(guest->symtab, "__start_orc_unwind_ip"));
		OT_TRY(copy_of_kernel(guest, "__start_orc_unwind_ip", "__stop_orc_unwind_ip", &ret->ip,
				      &ret->ip_size));
		return copy_of_kernel(guest, "__start_orc_unwind", "__stop_orc_unwind", &ret->orc,
				      &ret->orc_size);
	}
	*ret = (struct vp_orc_raw){ .ip_size = file->ip_size,
				    .ip_addr = file->ip_addr,
				    .orc_size = file->orc_size };
	OT_TRY(copy_bytes(file->ip, file->ip_size, &ret->ip));
	return copy_bytes(file->orc, file->orc_size, &ret->orc);
}

struct ot_err *vp_guest_kernel_orc(struct vp_guest *guest, struct vp_orc_raw *ret)
{
	struct vp_orc_raw raw = { 0 };
	struct ot_err *err = copy_orc(guest, &raw);

	if (err) {
		free((void *)raw.ip);
		free((void *)raw.orc);
		return err;
	}
	*ret = raw;
	return NULL;
}

/* Copy guest memory, which must be inside the module. */
static struct ot_err *copy_of_module(struct vp_guest *guest, const struct vp_module *module, struct vp_gva at,
				     uint64_t size, uint8_t **ret)
{
	uint8_t *copy;
	struct ot_err *err;

	if (size > vp_module_room(module, at.v))
		return ot_err_new(OT_ERR_BAD_DATA, "a table of module %s is outside it", module->name);
	OT_TRY(vp_budget_take(size));
	copy = malloc(size);
	if (!copy)
		return ot_err_nomem();
	err = vp_guest_read(guest, at, copy, size);
	if (err) {
		free(copy);
		return err;
	}
	*ret = copy;
	return NULL;
}

struct ot_err *vp_guest_module_orc(struct vp_guest *guest, const struct vp_module *module,
				   struct vp_orc_raw *ret)
{
	uint64_t n = module->num_orcs, entry = 0;
	uint8_t *ip = NULL, *orc = NULL;
	struct ot_err *err;

	memset(ret, 0, sizeof(*ret));
	if (!n || !module->orc_ip.v || !module->orc_unwind.v)
		return NULL;
	if (n > MODULE_ORCS)
		return ot_err_new(OT_ERR_LIMIT, "module %s has too many unwind entries", module->name);
	entry = guest->btf ? vp_btf_sizeof(guest->btf, "orc_entry") : 0;
	if (!entry || entry > 64)
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest's BTF has no struct orc_entry");
	OT_TRY(copy_of_module(guest, module, module->orc_ip, n * 4, &ip));
	err = copy_of_module(guest, module, module->orc_unwind, n * entry, &orc);
	if (err) {
		free(ip);
		return err;
	}
	*ret = (struct vp_orc_raw){ ip, n * 4, module->orc_ip, orc, n * entry };
	return NULL;
}

struct ot_err *vp_guest_module_btf(struct vp_guest *guest, const struct vp_module *module, uint8_t **ret_data,
				   size_t *ret_size)
{
	struct ot_err *err;
	uint8_t *copy;

	if (!module->btf_data.v || !module->btf_size) {
		*ret_data = NULL;
		*ret_size = 0;
		return NULL;
	}
	if (module->btf_size > BTF_MAX)
		return ot_err_new(OT_ERR_LIMIT, "module %s has types of more than %u MiB", module->name,
				  BTF_MAX >> 20);
	/* The kernel keeps it outside the module's memory (struct btf, kernel/bpf/btf.c): vp_module_room()
	 * does not bound it. */
	OT_TRY(vp_budget_take(module->btf_size));
	copy = malloc(module->btf_size);
	if (!copy)
		return ot_err_nomem();
	err = vp_guest_read(guest, module->btf_data, copy, module->btf_size);
	if (err) {
		vp_budget_give(module->btf_size);
		free(copy);
		return err;
	}
	*ret_data = copy;
	*ret_size = module->btf_size;
	return NULL;
}
