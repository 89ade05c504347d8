/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the seeds of fuzz_serve: files with every setting, a ticket and a RUN. serve_seeds DIRECTORY */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/serve/ticket.h"
#include "tests/fuzz/seed_file.h"

#define KEY_A "nL40aYkcoQSZX582otF5S7DRNemSXS2qx35xLMqkaTY="
#define KEY_B "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

static const char conf[] =
    "# a host\nname h1\nnats nats://broker:4222\ncredentials /etc/outsight/creds\n"
    "key /etc/outsight/k\nstate /var/lib/o\nmetrics [::1]:9464\nstanding /etc/o/s\n"
    "workers 3\noperator alice " KEY_A "\n\tguests web* db[12]\n\tproviders syscall sched*\n"
    "\tdestructive yes\n\tuser-memory no\n\tmaxcost 10%\n\tttl 10m\n\tbytes-per-second 64k\n"
    "operator bob " KEY_B "\nguests all\nproviders *\n";
static const char hosts[] = "# hosts\nh1 " KEY_A "\nh2 " KEY_B " # the second one\n";
static const char limits[] = "guests web* db1\nmaxcost 7%\nttl 2h\nseries 50\nbytes 64k\n";

static void put_ticket(struct ot_buf *out)
{
	static const struct fl_ticket ticket = { .as = "alice@desk",
						 .session = "0123456789abcdef0123456789abcdef",
						 .reply = "_INBOX.1",
						 .answer = { (const uint8_t *)"signed", 6 } };

	fl_ticket_put(out, &ticket);
}

static void put_run(struct ot_buf *out)
{
	static const struct fl_source sources[] = {
		{ .is_script = true, .name = "x.d", .text = { (const uint8_t *)"BEGIN { exit(0); }", 18 } },
		{ .spec = 1, .name = "", .text = { (const uint8_t *)"syscall:::entry", 15 } },
	};
	static const struct fl_option options[] = { { "strsize", "64" }, { "quiet", NULL }, { "ttl", "1h" } };
	static const char *const args[] = { "x.d", "1" };

	fl_put_run(out, &(struct fl_run){ "web*", sources, 2, options, 3, args, 2 });
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "conf", "hosts", "limits", "ticket", "run" };

	if (argc != 2)
		return 2;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(names); i++) {
		struct ot_buf seed = { 0 };

		fl_put_u8(&seed, (uint8_t)i);
		if (i < 3)
			ot_buf_puts(&seed, i == 0 ? conf : i == 1 ? hosts : limits);
		else if (i == 3)
			put_ticket(&seed);
		else
			put_run(&seed);
		seed_write(argv[1], names[i], &seed);
		ot_buf_deinit(&seed);
	}
	return 0;
}
