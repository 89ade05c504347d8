/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libnats, loaded on demand. */
#ifndef FLEET_LINK_NATS_LIBRARY_H
#define FLEET_LINK_NATS_LIBRARY_H

#include <nats/nats.h>

#include "base/err.h"

#define FL_NATS_CALLS(X)                           \
	X(natsOptions_Create)                      \
	X(natsOptions_Destroy)                     \
	X(natsOptions_SetServers)                  \
	X(natsOptions_SetName)                     \
	X(natsOptions_SetUserCredentialsFromFiles) \
	X(natsOptions_SetMaxReconnect)             \
	X(natsOptions_SetReconnectWait)            \
	X(natsOptions_SetReconnectBufSize)         \
	X(natsOptions_SetRetryOnFailedConnect)     \
	X(natsOptions_SetTimeout)                  \
	X(natsOptions_SetPingInterval)             \
	X(natsOptions_SetWriteDeadline)            \
	X(natsOptions_SetErrorHandler)             \
	X(natsOptions_SetIgnoreDiscoveredServers)  \
	X(natsOptions_UseGlobalMessageDelivery)    \
	X(natsConnection_Connect)                  \
	X(natsConnection_Close)                    \
	X(natsConnection_Destroy)                  \
	X(natsConnection_Publish)                  \
	X(natsConnection_PublishRequest)           \
	X(natsConnection_FlushTimeout)             \
	X(natsConnection_Subscribe)                \
	X(natsSubscription_SetPendingLimits)       \
	X(natsSubscription_SetOnCompleteCB)        \
	X(natsSubscription_Unsubscribe)            \
	X(natsSubscription_Destroy)                \
	X(natsMsg_GetSubject)                      \
	X(natsMsg_GetReply)                        \
	X(natsMsg_GetData)                         \
	X(natsMsg_GetDataLength)                   \
	X(natsMsg_Destroy)                         \
	X(natsStatus_GetText)

#define FL_NATS_DECLARE(name) __typeof__(&(name)) name;

struct fl_nats_calls {
	FL_NATS_CALLS(FL_NATS_DECLARE)
};

/** Load it, once. UNSUPPORTED: it is not installed, with what to install. It is never unloaded: it has
 * threads. */
OT_MUST_CHECK struct ot_err *fl_nats_load(const struct fl_nats_calls **ret);

#endif
