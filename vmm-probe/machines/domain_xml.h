/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a libvirt domain needs in its XML to be traceable from its start. */
#ifndef VP_MACHINES_DOMAIN_XML_H
#define VP_MACHINES_DOMAIN_XML_H

#include "base/buf.h"
#include "vmm-probe/machines/qemu.h"

/* The two files that can go into a QEMU; paths as the host has them. */
struct vp_domain_files {
	const char *plugin; /* into one that translates */
	const char *hook;   /* into one with KVM */
};

struct vp_domain_xml {
	char name[256];
	enum vp_accel accel; /* by the domain's type; UNKNOWN: no QEMU */
	bool ready;          /* what its type needs is in it */
};

/** Read a domain's XML. SYNTAX: it is none. UNSUPPORTED: libxml2 is not installed. */
OT_MUST_CHECK struct ot_err *vp_domain_xml_read(const char *xml, struct vp_domain_xml *ret);

/** The element to add to a domain with @p accel, in lines. Nothing for UNKNOWN. */
void vp_domain_xml_lines(enum vp_accel accel, const struct vp_domain_files *files, struct ot_buf *out);

/** @p xml with that in it; what is there already is not added twice. *ret is the caller's. UNSUPPORTED: a
 * domain that is not QEMU's. */
OT_MUST_CHECK struct ot_err *vp_domain_xml_add(const char *xml, const struct vp_domain_files *files,
					       char **ret);

#endif
