/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The XML that makes a libvirt domain traceable from its start. */
#ifndef VP_MACHINES_DOMAIN_XML_H
#define VP_MACHINES_DOMAIN_XML_H

#include "base/buf.h"
#include "vmm-probe/machines/qemu.h"

/* The two libraries for QEMU; paths on the host. */
struct vp_domain_files {
	const char *plugin; /* for QEMU with TCG */
	const char *hook;   /* for QEMU with KVM */
};

struct vp_domain_xml {
	char name[256];
	enum vp_accel accel; /* by the domain's type; UNKNOWN: not a QEMU domain */
	bool ready;          /* it contains the elements that its type needs */
};

/** Read a domain's XML. SYNTAX: not a domain's XML. UNSUPPORTED: libxml2 is not installed. */
OT_MUST_CHECK struct ot_err *vp_domain_xml_read(const char *xml, struct vp_domain_xml *ret);

/** Append the lines to add to a domain with @p accel. Nothing for UNKNOWN. */
void vp_domain_xml_lines(enum vp_accel accel, const struct vp_domain_files *files, struct ot_buf *out);

/** Add these elements to @p xml, unless it contains them already; the caller owns *ret. UNSUPPORTED: not a
 * QEMU domain. */
OT_MUST_CHECK struct ot_err *vp_domain_xml_add(const char *xml, const struct vp_domain_files *files,
					       char **ret);

#endif
