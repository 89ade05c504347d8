/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core kernel in the answer of a contained reader: identity, symbols, the bytes of its types, and of a
 * vmlinux's stack tables. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/contained_internal.h"

#define MAGIC     "OTCORE01"
#define TABLE_MAX (160ull << 20) /* of types or of a stack table: the whole image has no more */
#define NOTE_MAX  65536u

/* After it: symbols, names, types, a vmlinux's two stack tables, the note; each of the length that it
 * declares. */
struct head {
	char magic[8];
	uint64_t base, size, phys_base, root, banner_addr, build_id_addr, token_table, orc_ip_addr;
	uint64_t nsymbols, names_size, btf_size, orc_ip_size, orc_size, note_size;
	uint32_t levels, build_id_len, unmapped;
	uint8_t build_id[VP_BUILD_ID_MAX];
	char banner[VP_BANNER_MAX], release[VP_RELEASE_MAX];
};

/* --- in the child ---------------------------------------------------------------------------------------- */

void vp_answer_put_core(const struct vp_guest *guest, struct ot_buf *out)
{
	const struct vp_kernel *k = &guest->kernel;
	size_t start = out->len;
	struct head h = {
		.magic = MAGIC,
		.base = k->base.v,
		.size = k->size,
		.phys_base = k->phys_base,
		.root = k->mmu.root.v,
		.levels = k->mmu.levels,
		.banner_addr = k->banner_addr.v,
		.build_id_addr = k->build_id_addr.v,
		.build_id_len = (uint32_t)k->build_id_len,
		.token_table = k->token_table,
		.unmapped = k->unmapped,
		.nsymbols = vp_symtab_count(guest->symtab),
		.btf_size = guest->btf_size,
		.orc_ip_addr = guest->orc.ip_addr.v,
		.orc_ip_size = guest->orc.ip_size,
		.orc_size = guest->orc.orc_size,
		.note_size = guest->note.len,
	};

	memcpy(h.build_id, k->build_id, sizeof(h.build_id));
	memcpy(h.banner, k->banner, sizeof(h.banner));
	memcpy(h.release, k->release, sizeof(h.release));
	ot_buf_append(out, &h, sizeof(h));
	vp_answer_put_symbols(guest->symtab, out, &h.names_size);
	ot_buf_append(out, guest->btf_data, guest->btf_size);
	ot_buf_append(out, guest->orc.ip, guest->orc.ip_size);
	ot_buf_append(out, guest->orc.orc, guest->orc.orc_size);
	ot_buf_append(out, ot_buf_str(&guest->note), guest->note.len);
	if (!out->failed)
		memcpy(out->data + start, &h, sizeof(h)); /* now with the names' size */
}

/* --- in its parent --------------------------------------------------------------------------------------- */

static struct ot_err *bad(const char *what)
{
	return ot_err_new(OT_ERR_BAD_DATA, "the data read of the kernel is invalid: %s", what);
}

/* A line, followed by zeros only. */
static bool is_line(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	if (!len || len == size)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)text[i]))
			return false;
	return true;
}

static struct ot_err *take_kernel(const struct head *h, struct vp_kernel *k)
{
	const struct vp_arch_ops *arch = &vp_arch_native;

	if (h->base < arch->kernel_start || h->base >= arch->kernel_end || (h->base & ~VP_PAGE_MASK) ||
	    !h->size || h->size > VP_KERNEL_SIZE_MAX || h->size > arch->kernel_end - h->base)
		return bad("its place");
	if (!h->levels || (h->levels != arch->levels[0] && h->levels != arch->levels[1]))
		return bad("its page table");
	if (h->build_id_len > VP_BUILD_ID_MAX)
		return bad("its build id");
	if (!is_line(h->banner, sizeof(h->banner)) || !is_line(h->release, sizeof(h->release)))
		return bad("its name");
	*k = (struct vp_kernel){
		.arch = arch,
		.base = vp_gva(h->base),
		.size = h->size,
		.phys_base = h->phys_base,
		.banner_addr = vp_gva(h->banner_addr),
		.build_id_addr = vp_gva(h->build_id_addr),
		.build_id_len = h->build_id_len,
		.token_table = h->token_table,
		.unmapped = h->unmapped != 0,
	};
	vp_mmu_init(&k->mmu, arch->paging, vp_gpa(h->root), h->levels);
	memcpy(k->build_id, h->build_id, sizeof(k->build_id));
	snprintf(k->banner, sizeof(k->banner), "%s", h->banner);
	snprintf(k->release, sizeof(k->release), "%s", h->release);
	return NULL;
}

static struct ot_err *take_symbols(const struct vp_answer_symbols *answer, struct vp_guest *guest)
{
	static const uint16_t core = VP_SYMTAB_VMLINUX;
	const struct vp_kernel *k = &guest->kernel;

	OT_TRY(vp_symtab_create(&guest->symtab));
	OT_TRY(vp_symtab_add_range(guest->symtab, core, k->base.v, k->base.v + k->size));
	OT_TRY(vp_answer_take_symbols(answer, &core, 1, guest->symtab));
	return vp_symtab_finish(guest->symtab);
}

/* Lines that are shown to the operator. */
static struct ot_err *take_note(const char *text, size_t len, struct vp_guest *guest)
{
	for (size_t i = 0; i < len; i++)
		ot_buf_putc(&guest->note, isprint((unsigned char)text[i]) || text[i] == '\n' ? text[i] : '?');
	return guest->note.failed ? ot_err_nomem() : NULL;
}

/* A vmlinux's stack tables. */
static struct ot_err *take_orc(const struct head *h, const uint8_t *ip, const uint8_t *orc,
			       struct vp_guest *guest)
{
	if (!h->orc_ip_size || !h->orc_size)
		return NULL;
	OT_TRY(vp_budget_take(h->orc_ip_size + h->orc_size));
	uint8_t *own_ip = malloc(h->orc_ip_size), *own_orc = malloc(h->orc_size);
	guest->orc =
	    (struct vp_orc_raw){ own_ip, h->orc_ip_size, vp_gva(h->orc_ip_addr), own_orc, h->orc_size };
	if (!own_ip || !own_orc)
		return ot_err_nomem();
	memcpy(own_ip, ip, h->orc_ip_size);
	memcpy(own_orc, orc, h->orc_size);
	return NULL;
}

struct ot_err *vp_answer_take_core(const void *data, size_t len, struct vp_guest *guest,
				   const uint8_t **ret_btf, size_t *ret_btf_size)
{
	const struct head *h = data;

	if (len < sizeof(*h) || memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0)
		return bad("its head");
	if (h->nsymbols > VP_SYMTAB_MAX || h->names_size > len || h->btf_size > TABLE_MAX ||
	    h->orc_ip_size > TABLE_MAX || h->orc_size > TABLE_MAX || h->note_size > NOTE_MAX)
		return bad("a size");
	/* None of these is large: no sum overflows. */
	uint64_t symbols = sizeof(*h), names = symbols + h->nsymbols * sizeof(struct vp_answer_symbol);
	uint64_t btf = names + h->names_size, ip = btf + h->btf_size, orc = ip + h->orc_ip_size;
	uint64_t note = orc + h->orc_size;
	const uint8_t *bytes = data;
	if (note + h->note_size != len)
		return bad("its length");
	const struct vp_answer_symbols answer = { (const void *)(bytes + symbols),
						  (const char *)bytes + names, h->nsymbols, h->names_size };
	OT_TRY(take_kernel(h, &guest->kernel));
	OT_TRY(take_symbols(&answer, guest));
	OT_TRY(take_orc(h, bytes + ip, bytes + orc, guest));
	*ret_btf = h->btf_size ? bytes + btf : NULL;
	*ret_btf_size = h->btf_size;
	return take_note((const char *)bytes + note, h->note_size, guest);
}
