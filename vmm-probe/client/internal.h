/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the client's files. */
#ifndef VP_CLIENT_INTERNAL_H
#define VP_CLIENT_INTERNAL_H

#include "vmm-probe/client/client.h"

/** Send a request without waiting for its reply. BUSY, GUEST_GONE. */
OT_MUST_CHECK struct ot_err *vp_client_send(struct vp_client *c, const void *msg, size_t len);

/** Receive the reply of type @p want to a request that was sent: at least @p min bytes, at most @p cap. As
 * vp_client_request(). */
OT_MUST_CHECK struct ot_err *vp_client_receive(struct vp_client *c, uint32_t want, void *reply, size_t cap,
					       size_t min, size_t *ret_len, int *ret_fds, int max_fds,
					       int *ret_nfds);

/** Send a request of @p len bytes with @p nfds descriptors, and receive its reply of type @p want into @p
 * reply: at least @p min bytes, at most @p cap, *ret_len in all. Descriptors with it: at most @p max_fds are
 * stored in @p ret_fds (the caller's), their number in *ret_nfds unless that is NULL. An error that the
 * engine replied; BAD_DATA: another reply; BUSY, GUEST_GONE. */
OT_MUST_CHECK struct ot_err *vp_client_request(struct vp_client *c, const void *msg, size_t len,
					       const int *fds, int nfds, uint32_t want, void *reply,
					       size_t cap, size_t min, size_t *ret_len, int *ret_fds,
					       int max_fds, int *ret_nfds);

#endif
