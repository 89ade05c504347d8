/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading lists of symbols: lines "ffffffff81000000 T _text", followed by "\t[name]" for a module's. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/guest/elf_symbols.h"
#include "vmm-probe/guest/kernel.h"

#define LIST_MAX  (512u << 20)
#define STEXT_MAX (2ull << 20)

struct entry {
	uint64_t addr;
	char type;
	const char *name;
	size_t len;
	bool module;
};

/* Parse one line; false: it has another form. */
static bool parse(const char *line, const char *end, struct entry *ret)
{
	const char *at = line, *name;

	ret->addr = 0;
	for (; at < end && isxdigit((unsigned char)*at); at++) {
		if (at - line >= 16)
			return false;
		ret->addr = ret->addr << 4 |
			    (uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : tolower(*at) - 'a' + 10);
	}
	if (at == line || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	ret->type = at[1];
	name = at + 3;
	for (at = name; at < end && isgraph((unsigned char)*at);)
		at++;
	ret->name = name;
	ret->len = (size_t)(at - name);
	ret->module = at < end && (*at == '\t' || *at == ' ');
	return ret->len > 0 && ret->len <= VP_SYM_NAME_MAX && (at == end || ret->module || *at == '\r');
}

static bool named(const struct entry *entry, const char *name)
{
	return !entry->module && entry->len == strlen(name) && !memcmp(entry->name, name, entry->len);
}

/* Parse the next line that isn't empty. *ret_more is false at the end. */
static struct ot_err *next_line(const char *path, const char **at, const char *end, size_t *line,
				struct entry *ret, bool *ret_more)
{
	while (*at < end) {
		const char *eol = memchr(*at, '\n', (size_t)(end - *at));
		const char *start = *at;

		if (!eol)
			eol = end;
		*at = eol + 1;
		(*line)++;
		if (eol == start)
			continue;
		if (!parse(start, eol, ret))
			return ot_err_new(OT_ERR_SYNTAX, "%s:%zu: not a symbol (\"address type name\")", path,
					  *line);
		*ret_more = true;
		return NULL;
	}
	*ret_more = false;
	return NULL;
}

/* The distance from the list's addresses to the guest's. */
static struct ot_err *find_move(const char *path, const char *text, const char *end, struct vp_gva base,
				uint64_t *ret)
{
	uint64_t start = 0, stext = 0;
	struct entry entry;
	size_t line = 0;
	bool more = false;

	for (;;) {
		OT_TRY(next_line(path, &text, end, &line, &entry, &more));
		if (!more)
			break;
		if (named(&entry, "_text"))
			start = entry.addr;
		else if (named(&entry, "_stext"))
			stext = entry.addr;
	}
	if (!start)
		start = stext & ~(STEXT_MAX - 1);
	if (start < VP_KERNEL_MAP_START)
		return ot_err_new(
		    OT_ERR_BAD_DATA, "%s does not contain the address of _text%s", path,
		    line ? " (was /proc/kallsyms saved by a user without permission to see addresses?)" : "");
	*ret = base.v - start;
	return NULL;
}

struct ot_err *vp_symbols_open(const char *path, struct vp_gva base, struct vp_symtab *symtab)
{
	return vp_symbols_read(path, -1, base, symtab);
}

struct ot_err *vp_symbols_read(const char *path, int fd, struct vp_gva base, struct vp_symtab *symtab)
{
	ot_auto_close int file = fd;
	ot_auto_free char *text = NULL;
	const char *at, *end;
	size_t len, line = 0;
	uint64_t move = 0;

	if (file >= 0)
		OT_TRY(ot_read_fd(file, path, LIST_MAX, &text, &len));
	else
		OT_TRY(ot_read_file(path, LIST_MAX, &text, &len));
	at = text;
	end = text + len;
	OT_TRY(find_move(path, text, end, base, &move));
	for (;;) {
		struct entry e;
		bool more = false;

		OT_TRY(next_line(path, &at, end, &line, &e, &more));
		if (!more)
			return NULL;
		if (e.module)
			continue;
		if (e.addr >= VP_KERNEL_MAP_START)
			e.addr += move;
		OT_TRY(vp_symtab_add(symtab, e.addr, e.type, VP_SYMTAB_VMLINUX, 0, e.name, e.len));
	}
}
