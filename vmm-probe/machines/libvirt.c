/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt's domains through its library, loaded on demand. */
#include "vmm-probe/machines/libvirt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/near.h"
#include "vmm-probe/machines/libs.h"

struct vp_libvirt {
	struct vp_libvirt_calls call;
	virConnectPtr conn;
	char *uri;
};

const char *vp_domain_state_name(enum vp_domain_state state)
{
	static const char *const names[] = {
		[VP_DOMAIN_RUNNING] = "running",
		[VP_DOMAIN_PAUSED] = "paused",
		[VP_DOMAIN_SHUT_OFF] = "shut off",
		[VP_DOMAIN_CRASHED] = "crashed",
	};

	return names[state];
}

/* --- errors ------------------------------------------------------------------------------------------ */

/* Without an error function libvirt prints errors to stderr. */
static void ignore_error(void *arg, virErrorPtr error)
{
	(void)arg;
	(void)error;
}

static enum ot_err_code code_of(const virError *e)
{
	switch (e->code) {
	case VIR_ERR_NO_MEMORY:
		return OT_ERR_NO_MEMORY;
	case VIR_ERR_NO_DOMAIN:
	case VIR_ERR_NO_CONNECT:
		return OT_ERR_NOT_FOUND;
	case VIR_ERR_AUTH_FAILED:
	case VIR_ERR_AUTH_CANCELLED:
	case VIR_ERR_AUTH_UNAVAILABLE:
	case VIR_ERR_ACCESS_DENIED:
	case VIR_ERR_OPERATION_DENIED:
		return OT_ERR_PERMISSION;
	case VIR_ERR_XML_ERROR:
	case VIR_ERR_XML_DETAIL:
		return OT_ERR_SYNTAX;
	default:
		return OT_ERR_OS;
	}
}

/* The last error, on one line. */
static struct ot_err *failed(const struct vp_libvirt *lv, const char *what)
{
	const virError *e = lv->call.virGetLastError();
	char text[512];

	snprintf(text, sizeof(text), "%s", e && e->message ? e->message : "libvirt gave no reason");
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	size_t len = strlen(text);
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	return ot_err_new(e ? code_of(e) : OT_ERR_OS, "%s: %s", what, text);
}

/* --- connections ------------------------------------------------------------------------------------- */

static struct ot_err *connect_to(struct vp_libvirt *lv, const char *uri, bool may_change)
{
	char what[300];

	OT_TRY(vp_libvirt_load(&lv->call));
	/* Connecting would start the session's daemon; the driver reads this variable at each connect. */
	setenv("LIBVIRT_AUTOSTART", "0", 0);
	snprintf(what, sizeof(what), "libvirt%s%.250s", uri ? " at " : "", uri ? uri : "");
	lv->call.virSetErrorFunc(NULL, ignore_error);
	if (lv->call.virInitialize() < 0)
		return failed(lv, what);
	lv->conn = may_change ? lv->call.virConnectOpen(uri) : lv->call.virConnectOpenReadOnly(uri);
	if (!lv->conn) {
		struct ot_err *err = failed(lv, what);
		if (ot_err_code(err) != OT_ERR_OS)
			return err;
		/* Usually the socket is absent, or no daemon listens on it. */
		struct ot_err *ret = ot_err_new(OT_ERR_NOT_FOUND, "%s", ot_err_message(err));
		ot_err_destroy(err);
		return ret;
	}
	lv->uri = lv->call.virConnectGetURI(lv->conn);
	return lv->uri ? NULL : failed(lv, what);
}

struct ot_err *vp_libvirt_open(const char *uri, bool may_change, struct vp_libvirt **ret)
{
	struct vp_libvirt *lv = calloc(1, sizeof(*lv));

	if (!lv)
		return ot_err_nomem();
	struct ot_err *err = connect_to(lv, uri, may_change);
	if (err) {
		vp_libvirt_close(lv);
		return err;
	}
	*ret = lv;
	return NULL;
}

void vp_libvirt_close(struct vp_libvirt *lv)
{
	if (!lv)
		return;
	if (lv->conn)
		lv->call.virConnectClose(lv->conn);
	free(lv->uri);
	free(lv);
}

const char *vp_libvirt_uri(const struct vp_libvirt *lv)
{
	return lv->uri;
}

bool vp_libvirt_is_remote(const struct vp_libvirt *lv)
{
	const char *host = strstr(lv->uri, "://");

	return host && host[3] != '/';
}

/* --- domains ----------------------------------------------------------------------------------------- */

static enum vp_domain_state state_of(unsigned char state)
{
	switch (state) {
	case VIR_DOMAIN_RUNNING:
	case VIR_DOMAIN_BLOCKED:
	case VIR_DOMAIN_NOSTATE:
		return VP_DOMAIN_RUNNING;
	case VIR_DOMAIN_CRASHED:
		return VP_DOMAIN_CRASHED;
	case VIR_DOMAIN_SHUTOFF:
	case VIR_DOMAIN_SHUTDOWN:
		return VP_DOMAIN_SHUT_OFF;
	default:
		return VP_DOMAIN_PAUSED;
	}
}

static struct ot_err *read_domain(const struct vp_libvirt *lv, virDomainPtr domain, struct vp_domain *ret)
{
	struct vp_domain d = { 0 };
	virDomainInfo info;
	const char *name = lv->call.virDomainGetName(domain);

	if (!name || lv->call.virDomainGetUUIDString(domain, d.uuid) ||
	    lv->call.virDomainGetInfo(domain, &info))
		return failed(lv, "libvirt");
	snprintf(d.name, sizeof(d.name), "%s", name);
	d.state = state_of(info.state);
	d.nvcpus = info.nrVirtCpu;
	*ret = d;
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct vp_domain *)a)->name, ((const struct vp_domain *)b)->name);
}

struct ot_err *vp_libvirt_list(struct vp_libvirt *lv, struct vp_domain **ret, size_t *ret_count)
{
	virDomainPtr *domains = NULL;
	int n = lv->call.virConnectListAllDomains(lv->conn, &domains, 0);
	size_t count = 0;

	if (n < 0)
		return failed(lv, "libvirt");
	struct vp_domain *list = calloc((size_t)n + 1, sizeof(*list));
	for (int i = 0; i < n; i++) {
		/* A domain that ends meanwhile is skipped. */
		if (list) {
			ot_auto_err struct ot_err *err = read_domain(lv, domains[i], &list[count]);
			count += !err;
		}
		lv->call.virDomainFree(domains[i]);
	}
	free(domains);
	if (!list)
		return ot_err_nomem();
	qsort(list, count, sizeof(*list), by_name);
	*ret = list;
	*ret_count = count;
	return NULL;
}

static struct ot_err *not_found(struct vp_libvirt *lv, const char *spec)
{
	ot_auto_free struct vp_domain *list = NULL;
	struct ot_buf names;
	struct ot_near near;
	size_t count = 0;

	OT_TRY(vp_libvirt_list(lv, &list, &count));
	ot_buf_init(&names);
	ot_near_init(&near, spec);
	for (size_t i = 0; i < count; i++) {
		ot_near_offer(&near, list[i].name);
		ot_buf_printf(&names, "%s%s (%s)", i ? ", " : "", list[i].name,
			      vp_domain_state_name(list[i].state));
	}
	const char *best = ot_near_best(&near);
	struct ot_err *err = ot_err_new(OT_ERR_NOT_FOUND, "libvirt at %s has no domain %s%s%s%s; there %s%s",
					lv->uri, spec, best ? " (did you mean " : "", best ? best : "",
					best ? "?)" : "", count ? "are: " : "is none", ot_buf_str(&names));
	ot_buf_deinit(&names);
	return err;
}

static virDomainPtr find_domain(struct vp_libvirt *lv, const char *spec)
{
	virDomainPtr domain = lv->call.virDomainLookupByName(lv->conn, spec);

	return domain ? domain : lv->call.virDomainLookupByUUIDString(lv->conn, spec);
}

struct ot_err *vp_libvirt_find(struct vp_libvirt *lv, const char *spec, struct vp_domain *ret)
{
	virDomainPtr domain = find_domain(lv, spec);

	if (!domain)
		return not_found(lv, spec);
	struct ot_err *err = read_domain(lv, domain, ret);
	lv->call.virDomainFree(domain);
	return err;
}

struct ot_err *vp_libvirt_xml(struct vp_libvirt *lv, const struct vp_domain *domain, bool inactive,
			      char **ret)
{
	virDomainPtr d = lv->call.virDomainLookupByUUIDString(lv->conn, domain->uuid);
	char *xml;

	if (!d)
		return failed(lv, domain->name);
	xml = lv->call.virDomainGetXMLDesc(d, inactive ? VIR_DOMAIN_XML_INACTIVE : 0);
	struct ot_err *err = xml ? NULL : failed(lv, domain->name);
	lv->call.virDomainFree(d);
	if (!err)
		*ret = xml;
	return err;
}

struct ot_err *vp_libvirt_start(struct vp_libvirt *lv, const char *xml, bool with_us, struct vp_domain *ret)
{
	virDomainPtr d =
	    lv->call.virDomainCreateXML(lv->conn, xml, with_us ? VIR_DOMAIN_START_AUTODESTROY : 0);

	if (!d)
		return failed(lv, "libvirt did not start the domain");
	struct ot_err *err = read_domain(lv, d, ret);
	lv->call.virDomainFree(d);
	return err;
}

struct ot_err *vp_libvirt_stop(struct vp_libvirt *lv, const struct vp_domain *domain)
{
	virDomainPtr d = lv->call.virDomainLookupByUUIDString(lv->conn, domain->uuid);
	struct ot_err *err = NULL;

	if (!d)
		return NULL;
	if (lv->call.virDomainDestroy(d)) {
		const virError *e = lv->call.virGetLastError();
		if (e && e->code != VIR_ERR_OPERATION_INVALID && e->code != VIR_ERR_NO_DOMAIN)
			err = failed(lv, domain->name);
	}
	lv->call.virDomainFree(d);
	return err;
}
