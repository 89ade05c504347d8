/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core kernel's symbols: from the operator's files, else from the guest's RAM. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/kallsyms.h"

/* One of opts->files, which its reader closes. */
static int take(int *fd)
{
	return fd ? ot_move_fd(*fd) : -1;
}

static struct ot_err *from_vmlinux(struct vp_guest *guest, const struct vp_guest_opts *opts,
				   struct vp_symtab *symtab, bool *ret_symbols)
{
	const char *path = opts->vmlinux;
	const struct vp_kernel *kernel = &guest->kernel;
	ot_auto(vp_vmlinux_deinit) struct vp_vmlinux v = { 0 };

	OT_TRY(vp_vmlinux_read(path, take(opts->files ? &opts->files->vmlinux : NULL), kernel->base, symtab,
			       &v));
	if (v.build_id_len && kernel->build_id_len &&
	    (v.build_id_len != kernel->build_id_len ||
	     memcmp(v.build_id, kernel->build_id, v.build_id_len) != 0))
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s belongs to another kernel than the guest's (%s): build ids differ",
				  path, kernel->release);
	guest->btf_data = ot_move(v.btf);
	guest->btf_size = v.btf_size;
	guest->orc.ip = ot_move(v.orc_ip);
	guest->orc.ip_size = v.orc_ip_size;
	guest->orc.ip_addr = vp_gva(v.orc_ip_addr);
	guest->orc.orc = ot_move(v.orc);
	guest->orc.orc_size = v.orc_size;
	*ret_symbols = v.has_symbols;
	return NULL;
}

/* A list has no build id: it belongs to this kernel if its linux_banner is a banner with this release. */
static struct ot_err *check_list(const struct vp_guest *guest, const char *path, const struct vp_image *image,
				 const struct vp_symtab *symtab)
{
	struct vp_kernel named = guest->kernel;

	for (size_t i = 0; i < vp_symtab_count(symtab); i++) {
		const struct vp_symbol *sym = vp_symtab_at(symtab, i);

		if (strcmp(vp_symbol_name(symtab, sym), "linux_banner") == 0 &&
		    (!vp_kernel_use_banner(image, vp_gva(sym->addr), &named) ||
		     strcmp(named.release, guest->kernel.release) != 0))
			return ot_err_new(
			    OT_ERR_BAD_DATA,
			    "%s belongs to another kernel than the guest's (%s): linux_banner is "
			    "not at its address",
			    path, guest->kernel.release);
	}
	return NULL;
}

static struct ot_err *add_kallsyms(const struct vp_kallsyms *ks, struct vp_symtab *symtab)
{
	for (size_t i = 0; i < ks->count; i++) {
		const char *name = ks->names + ks->syms[i].name;

		OT_TRY(vp_symtab_add(symtab, ks->syms[i].addr, ks->syms[i].type, VP_SYMTAB_VMLINUX, 0, name,
				     strlen(name)));
	}
	return NULL;
}

static struct ot_err *from_ram(const struct vp_guest *guest, const struct vp_image *image,
			       struct vp_symtab *symtab)
{
	ot_auto(vp_kallsyms_deinit) struct vp_kallsyms ks = { 0 };
	struct ot_err *err = vp_kallsyms_decode(image, guest->kernel.token_table, &ks);

	if (err)
		return ot_err_prefix(err,
				     "the symbols of the guest's kernel %s can't be read from its memory "
				     "(--vmlinux FILE or --symbols FILE gives them)",
				     guest->kernel.release);
	return add_kallsyms(&ks, symtab);
}

static void symtab_destroy(struct vp_symtab **symtab)
{
	vp_symtab_destroy(*symtab);
}

static struct ot_err *from_files(struct vp_guest *guest, const struct vp_guest_opts *opts,
				 const struct vp_image *image, struct vp_symtab *symtab, bool *ret_found)
{
	bool found = false;

	/* A list replaces all other symbols; a vmlinux then supplies types only. */
	if (opts->symbols) {
		OT_TRY(vp_symbols_read(opts->symbols, take(opts->files ? &opts->files->symbols : NULL),
				       guest->kernel.base, symtab));
		OT_TRY(check_list(guest, opts->symbols, image, symtab));
		found = true;
	}
	if (opts->vmlinux) {
		ot_auto(symtab_destroy) struct vp_symtab *unused = NULL;
		bool ignored;

		if (found)
			OT_TRY(vp_symtab_create(&unused));
		OT_TRY(from_vmlinux(guest, opts, unused ? unused : symtab, unused ? &ignored : &found));
	}
	*ret_found = found;
	return NULL;
}

struct ot_err *vp_guest_core_symbols(struct vp_guest *guest, const struct vp_guest_opts *opts,
				     const struct vp_image *image, struct vp_symtab *symtab)
{
	bool found = false;
	struct ot_err *err = from_files(guest, opts, image, symtab, &found);

	if (err && opts->ret_file_fault)
		*opts->ret_file_fault = true;
	OT_TRY(err);
	return found ? NULL : from_ram(guest, image, symtab);
}
