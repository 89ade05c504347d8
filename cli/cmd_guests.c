/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `outsight guests`: the guests of this host and how each can be traced; the XML that makes a libvirt domain
 * traceable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/commands.h"
#include "consumer/access.h"
#include "consumer/messages.h"
#include "vmm-probe/hosts/engine_files.h"
#include "vmm-probe/hosts/machines.h"

static int usage(FILE *fp)
{
	fputs(
	    "Usage: outsight guests [-c URI] [-v] [--json]\n"
	    "       outsight guests [-c URI] --xml DOMAIN\n\n"
	    "\tthe guests of this host and libvirt's domains, and how each can be traced\n"
	    "\t-c, --connect URI  the libvirt to list (default: system and session, or LIBVIRT_DEFAULT_URI)\n"
	    "\t-v, --verbose      also the users who traced each guest, as its VMM recorded them\n"
	    "\t--json             print the list as JSON\n"
	    "\t--xml DOMAIN       the lines that make a domain traceable, for `virsh edit`\n",
	    fp);
	return fp == stdout ? CON_EXIT_OK : CON_EXIT_USAGE;
}

#define HOW_SIZE 800 /* a name, a reason, and the words around them */

/* --- the line of a machine ---------------------------------------------------------------------------- */

static const char *name_of(const struct vp_machine *m)
{
	return *m->domain_name ? m->domain_name : *m->guest.name ? m->guest.name : "-";
}

static const char *state_of(const struct vp_machine *m)
{
	return vp_domain_state_name(m->state); /* a process without a domain: it runs */
}

static const char *word_for(enum vp_how how)
{
	static const char *const words[] = {
		[VP_HOW_NOW] = "now",         [VP_HOW_ATTACH] = "attach", [VP_HOW_START] = "start",
		[VP_HOW_PREPARE] = "prepare", [VP_HOW_NOT] = "no",        [VP_HOW_PEEK] = "peek",
	};

	return words[how];
}

/* The table's text. */
static void describe(const struct vp_machine *m, char *ret, size_t size)
{
	const char *idle = m->state == VP_DOMAIN_PAUSED ? "once resumed" : "once started";
	const char *rest = m->state == VP_DOMAIN_SHUT_OFF ? "start" : "restart";

	*ret = '\0';
	switch (m->how) {
	case VP_HOW_NOW:
	case VP_HOW_ATTACH:
		if (m->name_is_taken)
			snprintf(ret, size,
				 "now: by -g %u; the name is another guest's, this one is uid %u's",
				 m->guest.pid, m->guest.uid);
		else if (m->state == VP_DOMAIN_PAUSED)
			snprintf(ret, size, "%s", idle);
		else
			snprintf(ret, size, "%s", m->how == VP_HOW_NOW ? "now" : "now: -g attaches");
		break;
	case VP_HOW_PEEK:
		snprintf(ret, size, "samples, by -g peek:%s: %s", name_of(m), m->why);
		break;
	case VP_HOW_START:
		snprintf(ret, size, "%s", idle);
		break;
	case VP_HOW_PREPARE:
		if (m->domain)
			snprintf(ret, size, "%s with the lines of --xml %s", rest, name_of(m));
		else
			snprintf(ret, size, "restart with -plugin liboutsight-tcg.so");
		break;
	case VP_HOW_NOT:
		snprintf(ret, size, "no: %s", m->why);
		break;
	}
}

static const char *number(uint32_t n, char *ret, size_t size)
{
	if (!n)
		return "-";
	snprintf(ret, size, "%u", n);
	return ret;
}

static void print_table(const struct vp_machines *machines)
{
	printf("%-20s %8s %-8s %5s %-5s %8s %-24s %s\n", "NAME", "PID", "STATE", "VCPUS", "ACCEL", "SESSIONS",
	       "KERNEL", "TRACE");
	for (size_t i = 0; i < machines->count; i++) {
		const struct vp_machine *m = &machines->items[i];
		const struct vp_guest_info *g = &m->guest;
		char pid[16], vcpus[16], how[HOW_SIZE];
		describe(m, how, sizeof(how));
		printf("%-20s %8s %-8s %5s %-5s %8u %-24s %s\n", name_of(m), number(g->pid, pid, sizeof(pid)),
		       state_of(m), number(g->nvcpus, vcpus, sizeof(vcpus)), vp_accel_name(m->accel),
		       g->nsessions, *g->release ? g->release : "-", how);
	}
}

/* One that does not answer is in the table, with its reason. */
static void read_access(const struct vp_machine *m, struct vp_msg_access_reply *ret)
{
	*ret = (struct vp_msg_access_reply){ 0 };
	if (m->how == VP_HOW_NOW)
		ot_err_destroy(con_access_of(&m->guest, ret));
}

static void print_access(const struct vp_machines *machines)
{
	struct vp_msg_access_reply access;

	for (size_t i = 0; i < machines->count; i++) {
		read_access(&machines->items[i], &access);
		con_access_print(name_of(&machines->items[i]), &access, stdout);
	}
}

/* Not in the table: not a guest. */
static void print_unseen(const struct vp_machines *machines)
{
	const char *line = ot_buf_str(&machines->unseen);

	for (size_t n; *line; line += n + 1) {
		n = strcspn(line, "\n");
		con_error("%.*s", (int)n, line);
	}
}

/* --- JSON ---------------------------------------------------------------------------------------------- */

static void json_machine(struct ot_json *j, const struct vp_machine *m, bool verbose)
{
	const struct vp_guest_info *g = &m->guest;
	char how[HOW_SIZE];

	describe(m, how, sizeof(how));
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_member_uint(j, "pid", g->pid);
	ot_json_member_uint(j, "uid", g->uid);
	ot_json_member_uint(j, "vcpus", g->nvcpus);
	ot_json_member_uint(j, "sessions", g->nsessions);
	ot_json_key(j, "held_ms");
	ot_json_fixed(j, (double)g->held_ns / 1e6, 3);
	ot_json_key(j, "domain");
	ot_json_bool(j, m->domain);
	ot_json_member_string(j, "name", name_of(m));
	ot_json_member_string(j, "state", state_of(m));
	ot_json_member_string(j, "accel", vp_accel_name(m->accel));
	ot_json_member_string(j, "backend", g->backend);
	ot_json_member_string(j, "kernel", g->release);
	ot_json_member_string(j, "socket", g->socket);
	ot_json_member_string(j, "trace", word_for(m->how));
	ot_json_member_string(j, "how", how);
	if (verbose) {
		struct vp_msg_access_reply access;
		read_access(m, &access);
		con_access_json(j, &access);
	}
	ot_json_end(j);
}

static struct ot_err *print_json(const struct vp_machines *machines, bool verbose)
{
	struct ot_json j;

	ot_json_init(&j, stdout);
	ot_json_array(&j, OT_JSON_LINES);
	for (size_t i = 0; i < machines->count; i++)
		json_machine(&j, &machines->items[i], verbose);
	ot_json_end(&j);
	return ot_json_finish(&j);
}

/* --- the verb ------------------------------------------------------------------------------------------ */

static struct ot_err *list(const char *uri, bool json, bool verbose)
{
	struct ot_err *err = NULL;
	struct vp_machines machines;

	OT_TRY(vp_machines_list(uri, &machines));
	if (json)
		err = print_json(&machines, verbose);
	else
		print_table(&machines);
	if (!json && verbose)
		print_access(&machines);
	print_unseen(&machines);
	vp_machines_deinit(&machines);
	return err;
}

/* What virsh takes without a -c: the system's libvirt for root, the session's for others. */
static bool is_default(const char *uri)
{
	return !strcmp(uri, geteuid() ? "qemu:///session" : "qemu:///system");
}

static struct ot_err *read_domain_at(struct vp_libvirt *lv, const char *name, struct vp_domain_xml *ret)
{
	ot_auto_free char *text = NULL;
	struct vp_domain d;

	OT_TRY(vp_libvirt_find(lv, name, &d));
	OT_TRY(vp_libvirt_xml(lv, &d, true, &text));
	return vp_domain_xml_read(text, ret);
}

static struct ot_err *read_domain(const char *uri, const char *name, struct vp_domain_xml *ret)
{
	struct vp_libvirt *lv[VP_LIBVIRT_USUAL];
	struct ot_err *kept = NULL;
	bool found = false;
	size_t n = 0;

	OT_TRY(vp_libvirt_open_usual(uri, lv, &n));
	if (!n)
		return ot_err_new(
		    OT_ERR_NOT_FOUND,
		    "no libvirt answers at qemu:///system or qemu:///session: -c URI names one");
	for (size_t i = 0; i < n; i++) {
		struct ot_err *err = found ? NULL : read_domain_at(lv[i], name, ret);
		found |= !err;
		/* if none has it, the error of the operator's default connection is reported */
		if (err && (!kept || is_default(vp_libvirt_uri(lv[i])))) {
			ot_err_destroy(kept);
			kept = err;
		} else {
			ot_err_destroy(err);
		}
		vp_libvirt_close(lv[i]);
	}
	if (!found)
		return kept;
	ot_err_destroy(kept);
	return NULL;
}

static struct ot_err *print_lines(const char *uri, const char *name)
{
	ot_auto(vp_engine_files_deinit) struct vp_engine_files files = { 0 };
	struct vp_domain_xml xml = { 0 };
	struct ot_buf out;

	OT_TRY(read_domain(uri, name, &xml));
	if (xml.accel == VP_ACCEL_UNKNOWN)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "domain %s is not QEMU's: only QEMU's domains can be traced", name);
	OT_TRY(vp_engine_files_find(&files));
	ot_buf_init(&out);
	const struct vp_domain_files in = { .plugin = files.plugin, .hook = files.hook };
	vp_domain_xml_lines(xml.accel, &in, &out);
	fputs(ot_buf_str(&out), stdout);
	struct ot_err *err = out.failed ? ot_err_nomem() : NULL;
	ot_buf_deinit(&out);
	if (!err && xml.ready)
		fprintf(stderr, "domain %s has them already\n", name);
	else if (!err)
		fprintf(stderr,
			"add them below <domain> (virsh edit %s); they take effect at its next start%s\n",
			name, xml.accel == VP_ACCEL_KVM ? ". Without them -g attaches to it as it runs" : "");
	return err;
}

int cli_cmd_guests(int argc, char **argv)
{
	static const char *const options[] = { "--json",    "--xml", "--connect", "-c",
					       "--verbose", "-v",    "--help",    NULL };
	const char *uri = NULL, *domain = NULL;
	bool json = false, verbose = false;

	for (int i = 1; i < argc; i++) {
		bool last = i + 1 == argc;
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return usage(stdout);
		if (!strcmp(argv[i], "--json"))
			json = true;
		else if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "--verbose"))
			verbose = true;
		else if ((!strcmp(argv[i], "-c") || !strcmp(argv[i], "--connect")) && !last)
			uri = argv[++i];
		else if (!strcmp(argv[i], "--xml") && !last)
			domain = argv[++i];
		else
			return cli_verb_misused("guests", options, argv[i]);
	}
	if (json && domain) {
		con_error("guests: --json is for the list, --xml for one domain: give one of them");
		return CON_EXIT_USAGE;
	}
	struct ot_err *err = domain ? print_lines(uri, domain) : list(uri, json, verbose);
	if (err)
		return con_fail(err, NULL);
	return CON_EXIT_OK;
}
