/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading and extending the XML of libvirt domains. libvirt passes the contents of <qemu:commandline> to
 * QEMU: LD_PRELOAD with the library for domains on KVM, -plugin for domains under TCG. The namespace is
 * declared at the element itself, so that the element can be pasted anywhere under <domain>.
 */
#include "vmm-probe/machines/domain_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/machines/libs.h"

#define QEMU_NS     "http://libvirt.org/schemas/domain/qemu/1.0"
#define PLUGIN_FILE "liboutsight-tcg.so"
#define HOOK_FILE   "liboutsight-kvm.so"

/* An open document. libxml2's strings are released with free(), since its default allocator is in use. */
struct doc {
	struct vp_libxml_calls call;
	xmlDoc *xml;
	xmlNode *domain;
};

static void doc_close(struct doc *doc)
{
	if (doc->xml)
		doc->call.xmlFreeDoc(doc->xml);
}

static bool is_element(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

static struct ot_err *doc_open(struct doc *doc, const char *xml)
{
	size_t len = strlen(xml);

	*doc = (struct doc){ 0 };
	OT_TRY(vp_libxml_load(&doc->call));
	if (len > INT32_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the domain's XML is too long");
	doc->xml = doc->call.xmlReadMemory(xml, (int)len, NULL, NULL,
					   XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (doc->xml)
		doc->domain = doc->call.xmlDocGetRootElement(doc->xml);
	if (doc->domain && is_element(doc->domain, "domain"))
		return NULL;
	return ot_err_new(OT_ERR_SYNTAX, "this is not the XML of a domain");
}

/* --- reading ------------------------------------------------------------------------------------------- */

static xmlNode *child(const xmlNode *parent, const char *name, const char *ns)
{
	for (xmlNode *n = parent->children; n; n = n->next)
		if (is_element(n, name) && (!ns || (n->ns && !strcmp((const char *)n->ns->href, ns))))
			return n;
	return NULL;
}

/* Does the attribute's value contain @text? */
static bool has_attribute(const struct doc *doc, const xmlNode *node, const char *name, const char *text)
{
	ot_auto_free char *value = (char *)doc->call.xmlGetProp(node, BAD_CAST name);

	return value && strstr(value, text);
}

static bool has_file(const struct doc *doc, enum vp_accel accel)
{
	const xmlNode *cmd = child(doc->domain, "commandline", QEMU_NS);
	bool kvm = accel == VP_ACCEL_KVM;

	for (const xmlNode *n = cmd ? cmd->children : NULL; n; n = n->next)
		if (is_element(n, kvm ? "env" : "arg") &&
		    has_attribute(doc, n, "value", kvm ? HOOK_FILE : PLUGIN_FILE))
			return true;
	return false;
}

static enum vp_accel accel_of(const struct doc *doc)
{
	ot_auto_free char *type = (char *)doc->call.xmlGetProp(doc->domain, BAD_CAST "type");

	if (!type)
		return VP_ACCEL_UNKNOWN;
	return !strcmp(type, "kvm") ? VP_ACCEL_KVM : !strcmp(type, "qemu") ? VP_ACCEL_TCG : VP_ACCEL_UNKNOWN;
}

struct ot_err *vp_domain_xml_read(const char *xml, struct vp_domain_xml *ret)
{
	ot_auto(doc_close) struct doc doc;

	OT_TRY(doc_open(&doc, xml));
	xmlNode *name = child(doc.domain, "name", NULL);
	ot_auto_free char *text = name ? (char *)doc.call.xmlNodeGetContent(name) : NULL;
	*ret = (struct vp_domain_xml){ .accel = accel_of(&doc) };
	snprintf(ret->name, sizeof(ret->name), "%s", text ? text : "");
	ret->ready = ret->accel != VP_ACCEL_UNKNOWN && has_file(&doc, ret->accel);
	return NULL;
}

/* --- writing ------------------------------------------------------------------------------------------- */

/* QEMU's options escape a comma by doubling it. libvirt=on: the plugin's socket is created in the domain's
 * own directory, the only place in which a confined QEMU can certainly create it. */
static void put_plugin(struct ot_buf *out, const char *plugin)
{
	ot_buf_puts(out, "file=");
	for (; *plugin; plugin++) {
		if (*plugin == ',')
			ot_buf_putc(out, ',');
		ot_buf_putc(out, *plugin);
	}
	ot_buf_puts(out, ",libvirt=on");
}

static void put_escaped(struct ot_buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '&')
			ot_buf_puts(out, "&amp;");
		else if (*s == '<')
			ot_buf_puts(out, "&lt;");
		else if (*s == '\'')
			ot_buf_puts(out, "&apos;");
		else
			ot_buf_putc(out, *s);
	}
}

void vp_domain_xml_lines(enum vp_accel accel, const struct vp_domain_files *files, struct ot_buf *out)
{
	struct ot_buf value;

	if (accel == VP_ACCEL_UNKNOWN)
		return;
	ot_buf_init(&value);
	ot_buf_puts(out, "<qemu:commandline xmlns:qemu='" QEMU_NS "'>\n");
	if (accel == VP_ACCEL_KVM) {
		ot_buf_puts(&value, files->hook);
		ot_buf_puts(out, "  <qemu:env name='LD_PRELOAD' value='");
	} else {
		put_plugin(&value, files->plugin);
		ot_buf_puts(out, "  <qemu:arg value='-plugin'/>\n  <qemu:arg value='");
	}
	put_escaped(out, ot_buf_str(&value));
	ot_buf_puts(out, "'/>\n</qemu:commandline>\n");
	out->failed |= value.failed;
	ot_buf_deinit(&value);
}

/* Add <qemu:NAME A='x' …/> to @parent; @attributes alternates names and values and ends with NULL. */
static bool add_element(const struct doc *doc, xmlNode *parent, const char *name,
			const char *const *attributes)
{
	xmlNode *node = doc->call.xmlNewChild(parent, parent->ns, BAD_CAST name, NULL);

	for (; node && *attributes; attributes += 2)
		if (!doc->call.xmlNewProp(node, BAD_CAST attributes[0], BAD_CAST attributes[1]))
			return false;
	return node != NULL;
}

static bool add_file(const struct doc *doc, xmlNode *cmd, enum vp_accel accel,
		     const struct vp_domain_files *files)
{
	const char *const env[] = { "name", "LD_PRELOAD", "value", files->hook, NULL };
	const char *const option[] = { "value", "-plugin", NULL };
	struct ot_buf value;

	if (accel == VP_ACCEL_KVM)
		return add_element(doc, cmd, "env", env);
	ot_buf_init(&value);
	put_plugin(&value, files->plugin);
	const char *const argument[] = { "value", ot_buf_str(&value), NULL };
	bool done =
	    !value.failed && add_element(doc, cmd, "arg", option) && add_element(doc, cmd, "arg", argument);
	ot_buf_deinit(&value);
	return done;
}

/* Is there an LD_PRELOAD already? A second one would replace it. */
static bool has_other_preload(const struct doc *doc)
{
	const xmlNode *cmd = child(doc->domain, "commandline", QEMU_NS);

	for (const xmlNode *n = cmd ? cmd->children : NULL; n; n = n->next)
		if (is_element(n, "env") && has_attribute(doc, n, "name", "LD_PRELOAD"))
			return true;
	return false;
}

/* The domain's <qemu:commandline>, created if absent. NULL: out of memory. */
static xmlNode *commandline(const struct doc *doc)
{
	xmlNode *cmd = child(doc->domain, "commandline", QEMU_NS);
	xmlNs *ns = doc->call.xmlSearchNsByHref(doc->xml, doc->domain, BAD_CAST QEMU_NS);

	if (cmd)
		return cmd;
	if (!ns)
		ns = doc->call.xmlNewNs(doc->domain, BAD_CAST QEMU_NS, BAD_CAST "qemu");
	return ns ? doc->call.xmlNewChild(doc->domain, ns, BAD_CAST "commandline", NULL) : NULL;
}

struct ot_err *vp_domain_xml_add(const char *xml, const struct vp_domain_files *files, char **ret)
{
	ot_auto(doc_close) struct doc doc;
	xmlChar *text = NULL;
	int size = 0;

	OT_TRY(doc_open(&doc, xml));
	enum vp_accel accel = accel_of(&doc);
	if (accel == VP_ACCEL_UNKNOWN)
		return ot_err_new(OT_ERR_UNSUPPORTED, "only domains of the types kvm and qemu can be traced");
	if (!has_file(&doc, accel)) {
		if (accel == VP_ACCEL_KVM && has_other_preload(&doc))
			return ot_err_new(OT_ERR_UNSUPPORTED,
					  "the domain has its own LD_PRELOAD: append %s to it, after a colon",
					  files->hook);
		xmlNode *cmd = commandline(&doc);
		if (!cmd || !add_file(&doc, cmd, accel, files))
			return ot_err_nomem();
	}
	doc.call.xmlDocDumpMemory(doc.xml, &text, &size);
	if (!text)
		return ot_err_nomem();
	*ret = (char *)text;
	return NULL;
}
