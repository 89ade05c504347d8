/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gdb stub that says anything: packets, target descriptions, threads, registers, memory, stops. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm-probe/backend/gdb/stub.h"

/* What is answered to it stays in the socket, which holds so many packets. */
#define PACKETS_MAX 60
#define BYTES_MAX   32768

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t bounded(const uint8_t *data, size_t size)
{
	unsigned packets = 0;
	size_t n = 0;

	while (n < size && n < BYTES_MAX && packets < PACKETS_MAX)
		packets += data[n] == '-' || data[n] == '#', n++;
	return n;
}

static void talk(struct vp_gdb_stub *stub)
{
	struct vp_gdb_stop stop;
	struct vp_regs regs;
	uint8_t bytes[600];
	bool done;

	ot_err_destroy(vp_gdb_read_regs(stub, stub->nthreads - 1, &regs));
	ot_err_destroy(vp_gdb_read(stub, true, 0x1000, bytes, sizeof(bytes)));
	ot_err_destroy(vp_gdb_break(stub, VP_GDB_HARDWARE, 0x1000, true));
	ot_err_destroy(vp_gdb_write_rip(stub, 0, 0x1000, &done));
	ot_err_destroy(vp_gdb_step(stub, 0));
	ot_err_destroy(vp_gdb_continue(stub, &done));
	ot_err_destroy(vp_gdb_wait_stop(stub, &stop));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct vp_gdb_stub stub;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		abort();
	size = bounded(data, size);
	if (size && send(fds[0], data, size, MSG_NOSIGNAL) != (ssize_t)size)
		abort();
	shutdown(fds[0], SHUT_WR);
	struct ot_err *err = vp_gdb_stub_open(&stub, "fuzz", fds[1]);
	if (!err)
		talk(&stub);
	ot_err_destroy(err);
	vp_gdb_stub_close(&stub, VP_GDB_LET_RUN);
	close(fds[0]);
	return 0;
}
