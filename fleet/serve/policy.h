/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rights of an operator of serve.conf, in the form of a worker's callbacks. */
#ifndef FLEET_SERVE_POLICY_H
#define FLEET_SERVE_POLICY_H

#include "fleet/host/worker.h"
#include "fleet/serve/conf.h"

/** The rights of @p operator, which they borrow. */
struct fl_rights fl_policy_rights(const struct fl_conf_operator *operator);
/** May the operator trace the guest @p name? */
bool fl_policy_guest(const struct fl_conf_operator *operator, const char * name);
/** May it enable probes of @p provider? BEGIN, END and ERROR ("dtrace") are always allowed. */
bool fl_policy_provider(const struct fl_conf_operator *operator, const char * provider);

#endif
