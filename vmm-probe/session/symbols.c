/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as text. */
#include <inttypes.h>
#include <stdio.h>

#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/user_seen.h"

static void format_known(const struct vp_symtab *tab, const struct vp_symbol *sym, uint64_t offset,
			 enum vp_symbol_form form, char *buf, size_t size)
{
	const char *module = vp_symbol_module(tab, sym), *name = vp_symbol_name(tab, sym);

	if (form == VP_SYM_MODULE)
		snprintf(buf, size, "%s", module);
	else if (form == VP_SYM_NAME || offset == 0)
		snprintf(buf, size, "%s`%s", module, name);
	else
		snprintf(buf, size, "%s`%s+0x%" PRIx64, module, name, offset);
}

void vp_session_symbol(struct vp_session *s, uint32_t guest, uint64_t addr, enum vp_symbol_form form,
		       char *buf, size_t size)
{
	const struct vp_symtab *tab = guest < s->links.n ? vp_link_symtab(s->links.items[guest]) : NULL;
	uint64_t offset = 0;
	const struct vp_symbol *sym = tab ? vp_symtab_find_addr(tab, (struct vp_gva){ addr }, &offset) : NULL;

	if (sym)
		format_known(tab, sym, offset, form, buf, size);
	else
		snprintf(buf, size, "0x%" PRIx64, addr);
}

void vp_session_user_symbol(struct vp_session *s, uint32_t guest, uint64_t pid, uint64_t addr,
			    enum vp_symbol_form form, char *buf, size_t size)
{
	if (!s->links.n)
		vp_host_symbol(&s->host.symbols, pid, addr, form, buf, size);
	else
		vp_user_symbols_text(vp_user_symbols_of(s, guest), pid, addr, form, buf, size);
}

const char *vp_session_note_text(struct vp_session *s, uint32_t guest, uint64_t pid, uint64_t addr,
				 const char *note)
{
	return s->links.n ? vp_user_notes_text(&vp_user_symbols_of(s, guest)->notes, pid, addr, note) : NULL;
}

struct ot_err *vp_session_each_symbol(struct vp_session *s,
				      bool (*each)(void *arg, uint64_t addr, char type, const char *name,
						   const char *module),
				      void *arg)
{
	if (!s->links.n)
		return ot_err_new(OT_ERR_UNSUPPORTED, "-g none has no symbols: pick a guest");
	const struct vp_symtab *tab = vp_link_symtab(s->links.items[0]);
	if (!tab)
		return ot_err_new(OT_ERR_NOT_FOUND, "no kernel was found in %s: %s",
				  s->links.items[0]->client.guest_name, s->links.items[0]->unread);
	for (size_t i = 0; i < vp_symtab_count(tab); i++) {
		const struct vp_symbol *sym = vp_symtab_at(tab, i);
		const char *module = sym->module == VP_SYMTAB_VMLINUX ? NULL : vp_symbol_module(tab, sym);
		if (!each(arg, sym->addr, sym->type, vp_symbol_name(tab, sym), module))
			break;
	}
	return NULL;
}
