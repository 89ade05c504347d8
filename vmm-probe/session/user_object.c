/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Combines a file's names from several places, and finds one. */
#include "vmm-probe/session/user_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/elf/symbols.h"
#include "vmm-probe/guest/process/image.h"
#include "vmm-probe/session/user_files.h"

#define NAME_BYTES 256u

struct vp_user_object {
	char name[NAME_BYTES];
	struct vp_file_reader reader;
	const char *sysroot;        /* borrowed; NULL: none */
	char *path;                 /* in the guest */
	struct vp_elf_pages *pages; /* NULL: they can't be read */
	struct vp_elf elf;
	bool has_elf;
	struct vp_elf_symbols symbols;
	uint64_t npages, nmissing; /* when its names were read */
	char missing[128];         /* parts of the file; "": all were there */
	bool supplied;             /* by one of the operator's files */
	bool unnamed_seen;         /* an address was looked up that has no symbol */
	bool said;
	char unnamed[32]; /* "sub_1234" */
};

/* Valid symbols are kept: a file with too many has those that fit. */
static struct ot_err *forgive(struct ot_err *err)
{
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *add_symbols(void *arg, struct vp_elf *elf)
{
	struct vp_user_object *o = arg;

	if (elf->image != o->elf.image)
		o->supplied = true;
	OT_TRY(forgive(vp_elf_symbols_add(elf, &elf->symtab, VP_PART_SYMTAB, VP_PART_STRTAB, &o->symbols)));
	return forgive(vp_elf_symbols_add(elf, &elf->dynsym, VP_PART_DYNAMIC, VP_PART_DYNAMIC, &o->symbols));
}

static struct ot_err *read_names(struct vp_user_object *o, const struct vp_file *file, const char *sysroot)
{
	struct vp_elf_image *image = vp_elf_pages_image(o->pages);
	const struct vp_user_wanted wanted = { sysroot, file->path, o->elf.build_id, o->elf.build_id_len };

	OT_TRY(add_symbols(o, &o->elf));
	vp_elf_pages_count(o->pages, &o->npages, &o->nmissing);
	vp_elf_image_missing(image, o->missing, sizeof(o->missing));
	/* With all of its own symbols it needs no other file. */
	if (!o->elf.symtab.count || *o->missing)
		OT_TRY(vp_user_files_each(&wanted, add_symbols, o));
	vp_elf_symbols_finish(&o->symbols);
	return NULL;
}

static struct ot_err *read_object(struct vp_processes *ps, const struct vp_file *file, const char *sysroot,
				  struct vp_user_object *o)
{
	struct ot_err *err = vp_file_pages(ps, file, &o->reader, &o->pages);

	if (!err)
		err = vp_elf_read(vp_elf_pages_image(o->pages), &o->elf);
	if (err) {
		if (o->pages) {
			vp_elf_pages_count(o->pages, &o->npages, &o->nmissing);
			vp_elf_image_missing(vp_elf_pages_image(o->pages), o->missing, sizeof(o->missing));
		}
		return forgive(err);
	}
	o->has_elf = true;
	err = read_names(o, file, sysroot);
	vp_elf_pages_forget(o->pages);
	return err;
}

struct ot_err *vp_user_object_read(struct vp_processes *ps, const struct vp_file *file, const char *sysroot,
				   struct vp_user_object **ret)
{
	struct vp_user_object *o = calloc(1, sizeof(*o));
	struct ot_err *err;

	if (!o)
		return ot_err_nomem();
	snprintf(o->name, sizeof(o->name), "%s", vp_path_name(file->path));
	o->sysroot = sysroot;
	o->path = strdup(file->path);
	if (!o->path) {
		vp_user_object_destroy(o);
		return ot_err_nomem();
	}
	err = read_object(ps, file, sysroot, o);
	if (err) {
		vp_user_object_destroy(o);
		return err;
	}
	*ret = o;
	return NULL;
}

void vp_user_object_destroy(struct vp_user_object *o)
{
	if (!o)
		return;
	vp_elf_symbols_deinit(&o->symbols);
	vp_elf_deinit(&o->elf);
	vp_elf_pages_destroy(o->pages);
	free(o->path);
	free(o);
}

struct vp_elf *vp_user_object_elf(struct vp_user_object *o)
{
	return o->has_elf ? &o->elf : NULL;
}

void vp_user_object_forget(struct vp_user_object *o)
{
	if (o->pages)
		vp_elf_pages_forget(o->pages);
}

const uint8_t *vp_user_object_page(struct vp_user_object *o, uint64_t index)
{
	const struct vp_elf_image *image = o->pages ? vp_elf_pages_image(o->pages) : NULL;

	return image && index <= image->size / VP_IMAGE_PAGE ? image->page(image->arg, index) : NULL;
}

const char *vp_user_object_name(const struct vp_user_object *o)
{
	return o->name;
}

size_t vp_user_object_size(const struct vp_user_object *o)
{
	return o->symbols.cap * sizeof(*o->symbols.items) + o->symbols.names_cap;
}

/* The function at an address, by .eh_frame_hdr: it may be missing in the guest's pages. */
struct place {
	uint64_t addr, start, end;
	bool found;
};

static struct ot_err *find_function(void *arg, struct vp_elf *elf)
{
	struct place *p = arg;

	p->found = p->found || vp_elf_function_at(elf, p->addr, &p->start, &p->end);
	return NULL;
}

static bool function_at(struct vp_user_object *o, struct place *p)
{
	const struct vp_user_wanted wanted = { o->sysroot, o->path, o->elf.build_id, o->elf.build_id_len };

	ot_err_destroy(find_function(p, &o->elf));
	if (!p->found)
		ot_err_destroy(vp_user_files_each(&wanted, find_function, p));
	return p->found;
}

bool vp_user_object_find(struct vp_user_object *o, uint64_t offset, const char **ret_name,
			 uint64_t *ret_behind)
{
	const struct vp_elf_symbol *s;
	struct place p = { 0 };
	uint64_t addr;

	if (!o->has_elf || !vp_elf_address(&o->elf, offset, &addr))
		return false;
	s = vp_elf_symbols_find(&o->symbols, addr);
	if (s) {
		*ret_name = vp_elf_symbol_name(&o->symbols, s);
		*ret_behind = addr - s->addr;
		return true;
	}
	o->unnamed_seen = true;
	p.addr = addr;
	if (!function_at(o, &p))
		return false;
	snprintf(o->unnamed, sizeof(o->unnamed), "sub_%" PRIx64, p.start);
	*ret_name = o->unnamed;
	*ret_behind = addr - p.start;
	return true;
}

bool vp_user_object_note(struct vp_user_object *o, char *buf, size_t size)
{
	if (!o->unnamed_seen || o->said || o->supplied || !*o->missing)
		return false;
	o->said = true;
	snprintf(buf, size,
		 "%s: %" PRIu64 " of %" PRIu64
		 " pages are not in the guest's memory (%s): --sysroot DIR, with the file "
		 "or its debugging information below DIR, gives the names",
		 o->name, o->nmissing, o->npages, o->missing);
	return true;
}
