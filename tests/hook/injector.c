/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes call after call in another process's main thread, until it is killed: injector PID LIBRARY. */
#include <stdio.h>
#include <stdlib.h>

#include "vmm-probe/inject/internal.h"

int main(int argc, char **argv)
{
	struct vp_target t;
	uint64_t ns;

	if (argc != 3)
		return 2;
	struct ot_err *err = vp_target_open((pid_t)atoi(argv[1]), &t);
	while (!err)
		err = vp_frame_call(&t, argv[2], &ns);
	fprintf(stderr, "%s\n", ot_err_message(err));
	return 1;
}
