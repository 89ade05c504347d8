/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peeker PID TIMES: the registers of each vCPU that often, one time behind another; what was sent and what
 * came. */
#include <stdio.h>
#include <stdlib.h>

#include "vmm-probe/backend/peek/peek.h"
#include "vmm-probe/engine/wire/socket_path.h"

#define WAIT_MS 30000

int main(int argc, char **argv)
{
	static struct vp_regs regs[VP_VCPUS_MAX];
	struct vp_peek *peek = NULL;
	struct vp_peek_counts counts;

	if (argc != 3)
		return 2;
	int claim_fd;
	struct ot_err *err = vp_vmm_claim((pid_t)atoi(argv[1]), &claim_fd);
	if (!err)
		err = vp_peek_open((pid_t)atoi(argv[1]), claim_fd, &peek);
	if (err) {
		fprintf(stderr, "%s\n", ot_err_message(err));
		ot_err_destroy(err);
		return 1;
	}
	vp_peek_count(peek, &counts);
	const struct vp_peek_counts before = counts;
	unsigned long came = 0, elsewhere = 0;
	for (int i = atoi(argv[2]); i > 0; i--) {
		came += vp_peek_read(peek, regs, VP_VCPUS_MAX, WAIT_MS);
		for (uint32_t k = 0; k < VP_VCPUS_MAX; k++) /* the small guest is all in one place */
			elsewhere += regs[k].valid && regs[k].v[VP_RIP] >> 31 != 0x1ffffffff;
	}
	vp_peek_count(peek, &counts);
	printf("kicks %lu answers %lu dropped %lu came %lu elsewhere %lu ram %lu\n",
	       (unsigned long)(counts.kicks - before.kicks), (unsigned long)(counts.answers - before.answers),
	       (unsigned long)counts.dropped, came, elsewhere, (unsigned long)vp_peek_ram_bytes(peek));
	vp_peek_close(peek);
	return 0;
}
