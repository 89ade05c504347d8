/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types and names of system calls' parameters. BTF has the functions' own prototype only, struct pt_regs *;
 * but the kernel keeps each parameter's type and name as text, which the files `format` of its tracepoints
 * show.
 */
#include "vmm-probe/provider/syscall_args.h"

#include <stdio.h>
#include <string.h>

#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/readings.h"
#include "vmm-probe/provider/registry.h"

#define ARGS_MAX 6
#define TEXT_MAX 128

uint64_t vp_syscall_metadata(struct vp_probes *probes, const char *name)
{
	const struct vp_symtab *tab = vp_guest_symtab(vp_probes_guest(probes));
	char symbol[128];

	snprintf(symbol, sizeof(symbol), "__syscall_meta__%s", name);
	const struct vp_symbol *sym = vp_symtab_find(tab, "vmlinux", symbol);
	return sym ? sym->addr : 0;
}

static bool read_guest(struct vp_probes *probes, uint64_t addr, void *dst, size_t len)
{
	struct ot_err *err =
	    vp_guest_read_once(vp_probes_guest(probes), &vp_readings[VP_READ_LISTS], vp_gva(addr), dst, len);
	bool ok = !err;

	ot_err_destroy(err);
	return ok;
}

/* The address of a member of the metadata; 0: the guest's BTF has no such member. */
static uint64_t member_at(struct vp_probes *probes, uint64_t metadata, const char *member)
{
	const struct vp_btf *btf = vp_types_btf(vp_probes_types(probes), "vmlinux");
	uint32_t offset;

	if (!metadata || !btf || !vp_btf_member_offset(btf, "syscall_metadata", member, &offset, NULL))
		return 0;
	return metadata + offset;
}

int vp_syscall_nargs(struct vp_probes *probes, uint64_t metadata)
{
	const struct vp_btf *btf = vp_types_btf(vp_probes_types(probes), "vmlinux");
	uint64_t at = member_at(probes, metadata, "nb_args"), size = 0;
	struct vp_btf_field field;
	uint32_t n = 0;

	/* an int for long, a byte in newer kernels */
	if (!at ||
	    !vp_btf_field(btf, vp_btf_find(btf, VP_BTF_STRUCT, "syscall_metadata"), "nb_args", &field) ||
	    !vp_btf_size(btf, field.type, &size) || !size || size > sizeof(n) ||
	    !read_guest(probes, at, &n, size))
		return -1;
	return n <= ARGS_MAX ? (int)n : -1;
}

/* Element @n of the array of texts that @member points to. */
static bool read_text(struct vp_probes *probes, uint64_t metadata, const char *member, unsigned n,
		      char ret[TEXT_MAX])
{
	uint64_t at = member_at(probes, metadata, member), texts, text;

	if (!at || !read_guest(probes, at, &texts, sizeof(texts)) ||
	    !read_guest(probes, texts + n * sizeof(text), &text, sizeof(text)) ||
	    !read_guest(probes, text, ret, TEXT_MAX))
		return false;
	return memchr(ret, 0, TEXT_MAX) != NULL;
}

/* --- C's text of a type ---------------------------------------------------------------------------- */

struct c_type {
	enum dif_ckind kind; /* STRUCT, UNION, ENUM, or TYPEDEF for other names */
	char name[TEXT_MAX];
	unsigned stars;
};

static void add_word(struct c_type *t, const char *word)
{
	static const char *const ignored[] = { "const", "volatile", "__user" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(ignored); i++)
		if (!strcmp(word, ignored[i]))
			return;
	if (!strcmp(word, "struct"))
		t->kind = DIF_C_STRUCT;
	else if (!strcmp(word, "union"))
		t->kind = DIF_C_UNION;
	else if (!strcmp(word, "enum"))
		t->kind = DIF_C_ENUM;
	else
		snprintf(t->name + strlen(t->name), sizeof(t->name) - strlen(t->name), "%s%s",
			 *t->name ? " " : "", word);
}

/* Where __user is an attribute (Clang's btf_type_tag), the text has it in full: blanks instead of each
 * __attribute__((…)), with its parentheses. */
static void blank_attributes(char *text)
{
	static const char word[] = "__attribute__";
	int depth;

	while ((text = strstr(text, word))) {
		memset(text, ' ', sizeof(word) - 1);
		text += strspn(text, " ");
		depth = 0;
		do {
			depth += (*text == '(') - (*text == ')');
			if (*text)
				*text++ = ' ';
		} while (*text && depth);
	}
}

/* "const struct sigaction *", split into parts; @text is consumed. */
static struct c_type parse(char *text)
{
	struct c_type t = { .kind = DIF_C_TYPEDEF };
	char *save;

	blank_attributes(text);
	for (const char *p = text; (p = strchr(p, '*')); p++)
		t.stars++;
	for (char *word = strtok_r(text, " *", &save); word; word = strtok_r(NULL, " *", &save))
		add_word(&t, word);
	if (!strcmp(t.name, "unsigned"))
		memcpy(t.name, "unsigned int", sizeof("unsigned int"));
	return t;
}

static struct dif_type *find(struct vp_types *types, char *text)
{
	struct c_type t = parse(text);
	struct dif_type *type = vp_types_find(types, "vmlinux", t.kind, t.name);

	if (!type && t.stars)
		type = vp_types_find(types, "vmlinux", DIF_C_TYPEDEF, "void");
	else if (!type)
		type = vp_types_find(types, "vmlinux", DIF_C_TYPEDEF, "unsigned long");
	for (unsigned i = 0; type && i < t.stars; i++)
		type = vp_types_user_pointer(types, type);
	return type;
}

bool vp_syscall_arg(struct vp_probes *probes, uint64_t metadata, unsigned n, struct dif_probe_arg *ret)
{
	char type[TEXT_MAX], name[TEXT_MAX];

	if ((int)n >= vp_syscall_nargs(probes, metadata) || !read_text(probes, metadata, "types", n, type) ||
	    !read_text(probes, metadata, "args", n, name))
		return false;
	ret->mapping = n;
	ret->native = find(vp_probes_types(probes), type);
	ret->name = vp_probes_strdup(probes, name);
	return ret->native && ret->name;
}
