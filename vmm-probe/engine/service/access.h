/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of who used the engines of this process (engine/wire/access.h). They outlive an engine: a
 * change of the machine, which a guest can cause, destroys engines and not their records. Memory is static; a
 * client's own parts of a record are truncated and sanitised, and each record belongs to one connection. Any
 * thread; takes a lock, allocates for lines of the log only.
 */
#ifndef VP_ENGINE_SERVICE_ACCESS_H
#define VP_ENGINE_SERVICE_ACCESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "vmm-probe/engine/wire/protocol.h"

/** A client of these credentials has connected, and gets the guest's memory. */
void vp_access_read(const struct ucred *peer);

/** It has opened a session. Returns the record's number, for the calls below; 0: none is kept, as the client
 * is this process itself, and that is a number for these too. */
uint64_t vp_access_open(const struct ucred *peer, bool destructive);

/** The session's enablings in the guest, @p n more. @p first: the first probe of these, the client's text. */
void vp_access_enable(uint64_t number, uint32_t n, const char *first);

/** Its probes are planted: a line is sent to the system's log, if a logger can be reached from here. @p guest
 * is the guest's name. */
void vp_access_start(uint64_t number, const char *guest);

void vp_access_close(uint64_t number);

/** Copy the records. @p logged: the requesting client has put the records up to that number in a log, which
 * is believed if @p peer is root. */
void vp_access_answer(const struct ucred *peer, uint64_t logged, struct vp_msg_access_reply *ret);

#endif
