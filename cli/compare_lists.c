/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of `outsight compare`, and their sources. */
#include "cli/compare.h"
#include "vmm-probe/guest/census.h"

const struct cli_compare_list cli_compare_lists[] = {
	{
	    .option = "--tasks",
	    .kind = &con_hidden_tasks,
	    .take = vp_census_tasks,
	    .tracepoint = "outsight_task",
	    .pass = GA_PASS_TASKS,
	    .log = "comparing processes",
	},
	{
	    .option = "--modules",
	    .kind = &con_hidden_modules,
	    .take = vp_census_modules,
	    .tracepoint = "outsight_module",
	    .pass = GA_PASS_MODULES,
	    .log = "comparing modules",
	},
	{
	    .option = "--sockets",
	    .kind = &con_hidden_sockets,
	    .take = vp_census_sockets,
	    .log = "comparing sockets",
	},
	{
	    .option = "--mounts",
	    .kind = &con_hidden_mounts,
	    .take = vp_census_mounts,
	    .log = "comparing mounts",
	},
	{
	    .option = "--libraries",
	    .kind = &con_hidden_libraries,
	    .take_of = vp_census_libraries,
	    .log = "comparing libraries",
	},
	{ .option = NULL },
};
