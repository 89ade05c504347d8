/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of an engine's users that its VMM keeps (engine/wire/access.h), as text, JSON and lines of the
 * system's log. Their contents are only as credible as the VMM. */
#ifndef CONSUMER_ACCESS_H
#define CONSUMER_ACCESS_H

#include "base/buf.h"
#include "base/json.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/hosts/engines.h"

/** The records of a guest with an engine; n 0 and no reads for one that does not answer. */
OT_MUST_CHECK struct ot_err *con_access_of(const struct vp_guest_info *guest,
					   struct vp_msg_access_reply *ret);

/** A line each. */
void con_access_print(const char *guest, const struct vp_msg_access_reply *access, FILE *fp);

/** Members "records", "reads" and "forgotten" of the object that is open. */
void con_access_json(struct ot_json *j, const struct vp_msg_access_reply *access);

/** Append the fields of a line for the log: `guest="web01" vmm=42 uid=0 …`. */
void con_access_fields(struct ot_buf *out, const char *guest, uint32_t vmm, const struct vp_access *a);

#endif
