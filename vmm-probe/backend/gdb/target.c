/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target description: the number and place of each of the stub's registers. */
#include "vmm-probe/backend/gdb/target.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/backend/gdb/packet.h"

struct parse {
	struct vp_gdb_target *target;
	struct ot_err *err;
	bool in_architecture;
	char architecture[32];
	size_t len;
};

static const char *attribute(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

static bool number(const char *text, unsigned long max, unsigned long *ret)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	*ret = strtoul(text, &end, 10);
	return !*end && *ret <= max;
}

static void remember(struct vp_gdb_target *t, const char *name, uint32_t regnum)
{
	for (unsigned i = 0; name && i < VP_NREGS; i++)
		if (vp_reg_names[i] && !strcmp(vp_reg_names[i], name) && !(t->known & VP_REG_BIT(i))) {
			t->known |= VP_REG_BIT(i);
			t->number[i] = (uint16_t)regnum;
		}
}

static struct ot_err *add_register(struct vp_gdb_target *t, const char **attributes)
{
	const char *regnum = attribute(attributes, "regnum");
	unsigned long bits, at = t->next;

	if (!number(attribute(attributes, "bitsize"), 65528, &bits) || !bits || bits % 8)
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub describes a register of size 0");
	if ((regnum && !number(regnum, VP_GDB_REGS_MAX - 1, &at)) || at >= VP_GDB_REGS_MAX || t->size[at])
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's registers have invalid numbers");
	t->size[at] = (uint16_t)(bits / 8);
	t->next = (uint32_t)at + 1;
	remember(t, attribute(attributes, "name"), (uint32_t)at);
	return NULL;
}

static struct ot_err *add_include(struct vp_gdb_target *t, const char *annex)
{
	if (!annex || !*annex || strlen(annex) >= VP_GDB_ANNEX_MAX || strpbrk(annex, "$#}*:") ||
	    t->nincludes == VP_GDB_INCLUDES_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's description has invalid includes");
	for (uint32_t i = 0; i < t->nincludes; i++)
		if (!strcmp(t->includes[i], annex))
			return NULL;
	memcpy(t->includes[t->nincludes++], annex, strlen(annex) + 1);
	return NULL;
}

static void on_start(void *arg, const char *element, const char **attributes)
{
	struct parse *p = arg;

	if (p->err)
		return;
	p->in_architecture = !strcmp(element, "architecture");
	if (!strcmp(element, "reg"))
		p->err = add_register(p->target, attributes);
	else if (!strcmp(element, "xi:include"))
		p->err = add_include(p->target, attribute(attributes, "href"));
}

static void on_end(void *arg, const char *element)
{
	(void)element;
	((struct parse *)arg)->in_architecture = false;
}

static void on_text(void *arg, const char *text, int len)
{
	struct parse *p = arg;

	for (int i = 0; p->in_architecture && i < len; i++)
		if (p->len < sizeof(p->architecture) - 1 && text[i] > ' ')
			p->architecture[p->len++] = text[i];
}

/* A document needs entities of its own to expand when it is parsed. */
static void on_entity(void *arg, const char *name, int is_parameter, const char *value, int value_length,
		      const char *base, const char *system, const char *public, const char *notation)
{
	struct parse *p = arg;

	(void)name, (void)is_parameter, (void)value, (void)value_length;
	(void)base, (void)system, (void)public, (void)notation;
	if (!p->err)
		p->err = ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's description has entities");
}

struct ot_err *vp_gdb_target_add(struct vp_gdb_target *t, const char *xml, size_t len)
{
	struct parse p = { .target = t };
	XML_Parser parser = XML_ParserCreate(NULL);

	if (!parser)
		return ot_err_nomem();
	XML_SetUserData(parser, &p);
	XML_SetElementHandler(parser, on_start, on_end);
	XML_SetCharacterDataHandler(parser, on_text);
	XML_SetEntityDeclHandler(parser, on_entity);
	if (XML_Parse(parser, xml, (int)len, 1) != XML_STATUS_OK && !p.err)
		p.err = ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's description is not XML: %s",
				   XML_ErrorString(XML_GetErrorCode(parser)));
	XML_ParserFree(parser);
	t->is_x86_64 |= !strcmp(p.architecture, VP_GDB_ARCHITECTURE);
	return p.err;
}

struct ot_err *vp_gdb_target_finish(struct vp_gdb_target *t)
{
	const uint64_t needed = VP_REGS_OF_KERNEL;
	uint32_t offset = 0;

	if (!t->is_x86_64)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the gdb stub's machine is not x86-64");
	for (unsigned i = 0; i < VP_NREGS; i++)
		if (!(t->known & VP_REG_BIT(i)) && needed & VP_REG_BIT(i))
			return ot_err_new(
			    OT_ERR_UNSUPPORTED,
			    "the gdb stub does not send register %s, which finding the kernel requires",
			    vp_reg_names[i]);
	for (uint32_t n = 0; n < VP_GDB_REGS_MAX; n++) {
		for (unsigned i = 0; i < VP_NREGS; i++)
			if (t->known & VP_REG_BIT(i) && t->number[i] == n)
				t->offset[i] = offset;
		offset += t->size[n];
	}
	return NULL;
}

struct ot_err *vp_gdb_target_regs(const struct vp_gdb_target *t, const char *hex, size_t len,
				  struct vp_regs *ret)
{
	*ret = (struct vp_regs){ 0 };
	for (unsigned i = 0; i < VP_NREGS; i++) {
		uint32_t at = t->offset[i], size = t->known & VP_REG_BIT(i) ? t->size[t->number[i]] : 0;
		size = size > sizeof(uint64_t) ? sizeof(uint64_t) : size;
		/* a stub may omit the last ones, and writes x for unavailable ones */
		if (!size || len / 2 < at + size || hex[2 * at] == 'x')
			continue;
		if (!vp_gdb_bytes(hex + 2 * at, size, &ret->v[i]))
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's registers are not hexadecimal");
		ret->valid |= VP_REG_BIT(i);
	}
	return NULL;
}
