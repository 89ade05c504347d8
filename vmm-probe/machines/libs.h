/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt and libxml2, loaded on demand: a host without libvirt needs neither, and a session without libvirt
 * does not wait for some fifty libraries to be mapped.
 */
#ifndef VP_MACHINES_LIBS_H
#define VP_MACHINES_LIBS_H

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "base/err.h"

#define VP_LIBVIRT_CALLS(X)            \
	X(virInitialize)               \
	X(virSetErrorFunc)             \
	X(virGetLastError)             \
	X(virConnectOpen)              \
	X(virConnectOpenReadOnly)      \
	X(virConnectClose)             \
	X(virConnectGetURI)            \
	X(virConnectListAllDomains)    \
	X(virDomainLookupByName)       \
	X(virDomainLookupByUUIDString) \
	X(virDomainGetName)            \
	X(virDomainGetUUIDString)      \
	X(virDomainGetInfo)            \
	X(virDomainGetXMLDesc)         \
	X(virDomainCreateXML)          \
	X(virDomainDestroy)            \
	X(virDomainFree)

#define VP_LIBXML_CALLS(X)      \
	X(xmlReadMemory)        \
	X(xmlFreeDoc)           \
	X(xmlDocGetRootElement) \
	X(xmlGetProp)           \
	X(xmlNodeGetContent)    \
	X(xmlSearchNsByHref)    \
	X(xmlNewNs)             \
	X(xmlNewChild)          \
	X(xmlNewProp)           \
	X(xmlDocDumpMemory)

#define VP_DECLARE_CALL(name) __typeof__(&(name)) name;

struct vp_libvirt_calls {
	VP_LIBVIRT_CALLS(VP_DECLARE_CALL)
};

struct vp_libxml_calls {
	VP_LIBXML_CALLS(VP_DECLARE_CALL)
};

/** Load the library and resolve its functions. UNSUPPORTED: it is not installed, or too old. It is never
 * unloaded: libvirt has its own threads. */
OT_MUST_CHECK struct ot_err *vp_libvirt_load(struct vp_libvirt_calls *ret);
OT_MUST_CHECK struct ot_err *vp_libxml_load(struct vp_libxml_calls *ret);

#endif
