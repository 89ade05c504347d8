/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The users of a guest's engine, as recorded by its VMM: requesting the records, and their forms. */
#include "consumer/access.h"

#include <time.h>

#include "base/log.h"
#include "vmm-probe/client/client.h"

#define ANSWER_MS 1000

static struct ot_err *ask(struct vp_client *client, const struct vp_guest_info *guest,
			  struct vp_msg_access_reply *ret)
{
	if (client->pid != guest->pid) /* the socket is another process's by now */
		return NULL;
	return vp_client_access(client, 0, ret);
}

struct ot_err *con_access_of(const struct vp_guest_info *guest, struct vp_msg_access_reply *ret)
{
	struct vp_client client;

	*ret = (struct vp_msg_access_reply){ 0 };
	OT_TRY(vp_client_connect_within(&client, guest->socket, ANSWER_MS));
	struct ot_err *err = ask(&client, guest, ret);
	vp_client_close(&client);
	return err;
}

/* In the form of ISO 8601, in UTC. */
static const char *time_text(uint64_t s, char *ret, size_t size)
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(ret, size, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(ret, size, "?");
	return ret;
}

static const char *yes_no(uint32_t flag)
{
	return flag ? "yes" : "no";
}

void con_access_fields(struct ot_buf *out, const char *guest, uint32_t vmm, const struct vp_access *a)
{
	char began[32], ended[32];

	ot_buf_puts(out, "guest=\"");
	ot_log_put_text(out, guest, VP_GUEST_NAME);
	ot_buf_printf(out, "\" vmm=%u uid=%u pid=%d comm=\"", vmm, a->uid, (int)a->pid);
	ot_log_put_text(out, a->comm, sizeof(a->comm));
	ot_buf_printf(out, "\" enablings=%u first=\"", a->enablings);
	ot_log_put_text(out, a->first, sizeof(a->first));
	ot_buf_printf(out, "\" started=%s destructive=%s began=%s ended=%s",
		      yes_no(a->flags & VP_ACCESS_STARTED), yes_no(a->flags & VP_ACCESS_DESTRUCTIVE),
		      time_text(a->began_s, began, sizeof(began)),
		      a->ended_s ? time_text(a->ended_s, ended, sizeof(ended)) : "-");
}

static void print_session(const char *guest, const struct vp_access *a, FILE *fp)
{
	char began[32], ended[32];

	fprintf(fp, "%s: traced by uid %u, PID %d (%s), from %s to %s: %u enabling%s, of %s first%s%s\n",
		guest, a->uid, (int)a->pid, *a->comm ? a->comm : "-",
		time_text(a->began_s, began, sizeof(began)),
		a->ended_s ? time_text(a->ended_s, ended, sizeof(ended)) : "now", a->enablings,
		a->enablings == 1 ? "" : "s", *a->first ? a->first : "none",
		a->flags & VP_ACCESS_DESTRUCTIVE ? ", destructive" : "",
		a->flags & VP_ACCESS_LOGGED ? "" : "; in no log");
}

void con_access_print(const char *guest, const struct vp_msg_access_reply *access, FILE *fp)
{
	char last[32];

	for (uint32_t i = 0; i < VP_ACCESS_UIDS; i++)
		if (access->reads[i].times)
			fprintf(fp, "%s: read by uid %u %u time%s, last at %s\n", guest, access->reads[i].uid,
				access->reads[i].times, access->reads[i].times == 1 ? "" : "s",
				time_text(access->reads[i].last_s, last, sizeof(last)));
	for (uint32_t i = 0; i < access->n; i++)
		print_session(guest, &access->list[i], fp);
	if (access->lost)
		fprintf(fp, "%s: %llu more sessions are in no log and were forgotten\n", guest,
			(unsigned long long)access->lost);
}

static void json_time(struct ot_json *j, const char *name, uint64_t s)
{
	char text[32];

	ot_json_key(j, name);
	if (s)
		ot_json_string(j, time_text(s, text, sizeof(text)));
	else
		ot_json_null(j);
}

static void json_flag(struct ot_json *j, const char *name, uint32_t flag)
{
	ot_json_key(j, name);
	ot_json_bool(j, flag != 0);
}

static void json_session(struct ot_json *j, const struct vp_access *a)
{
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_member_uint(j, "uid", a->uid);
	ot_json_key(j, "pid");
	ot_json_int(j, a->pid);
	ot_json_member_string(j, "comm", a->comm);
	json_time(j, "began", a->began_s);
	json_time(j, "ended", a->ended_s);
	ot_json_member_uint(j, "enablings", a->enablings);
	ot_json_member_string(j, "first", a->first);
	json_flag(j, "started", a->flags & VP_ACCESS_STARTED);
	json_flag(j, "destructive", a->flags & VP_ACCESS_DESTRUCTIVE);
	json_flag(j, "logged", a->flags & VP_ACCESS_LOGGED);
	ot_json_end(j);
}

void con_access_json(struct ot_json *j, const struct vp_msg_access_reply *access)
{
	ot_json_key(j, "records");
	ot_json_array(j, OT_JSON_INLINE);
	for (uint32_t i = 0; i < access->n; i++)
		json_session(j, &access->list[i]);
	ot_json_end(j);
	ot_json_key(j, "reads");
	ot_json_array(j, OT_JSON_INLINE);
	for (uint32_t i = 0; i < VP_ACCESS_UIDS; i++) {
		if (!access->reads[i].times)
			continue;
		ot_json_object(j, OT_JSON_INLINE);
		ot_json_member_uint(j, "uid", access->reads[i].uid);
		ot_json_member_uint(j, "times", access->reads[i].times);
		json_time(j, "last", access->reads[i].last_s);
		ot_json_end(j);
	}
	ot_json_end(j);
	ot_json_member_uint(j, "forgotten", access->lost);
}
