/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block I/O: bytes by direction, and how long requests take, in nanoseconds. A request is its structure's address
 * while it is on its way. */
io:::start
{
	began[arg0] = timestamp;
	@io_bytes[guest, args[0]->b_flags & B_READ ? "read" : "write"] = sum(args[0]->b_bcount);
}

io:::done
/began[arg0]/
{
	@io_latency_ns[guest] = quantize(timestamp - began[arg0]);
	began[arg0] = 0;
}
