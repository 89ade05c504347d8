// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's own view: the processes that a walk of /proc finds, and the modules that
 * /proc/modules lists, as events of tracepoints of our own (agent_abi.h has their arguments).
 * Who turns such a tracepoint on has the walk repeated; without it there is no cost.
 *
 * The walk is that of any program in the guest but for the system call: /proc is opened by its
 * path, where the kernel's threads look as the first process does, and read by the functions that
 * getdents() and read() use. So hooks below them show.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uio.h>
#include <linux/workqueue.h>

#include "ga.h"

/* Newer kernels put "_tp" behind the name that DECLARE_TRACE() is given, and leave it as it is here. */
#ifndef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT DECLARE_TRACE
#endif

DECLARE_TRACE_EVENT(outsight_task, TP_PROTO(u64 pass, u64 pid, u64 comm0, u64 comm1),
		    TP_ARGS(pass, pid, comm0, comm1));
DECLARE_TRACE_EVENT(outsight_module, TP_PROTO(u64 pass, u64 part, u64 name0, u64 name1, u64 name2),
		    TP_ARGS(pass, part, name0, name1, name2));
DECLARE_TRACE_EVENT(outsight_pass, TP_PROTO(u64 pass, u64 what, u64 events, u64 error),
		    TP_ARGS(pass, what, events, error));

DEFINE_TRACE(outsight_task, TP_PROTO(u64 pass, u64 pid, u64 comm0, u64 comm1),
	     TP_ARGS(pass, pid, comm0, comm1));
DEFINE_TRACE(outsight_module, TP_PROTO(u64 pass, u64 part, u64 name0, u64 name1, u64 name2),
	     TP_ARGS(pass, part, name0, name1, name2));
DEFINE_TRACE(outsight_pass, TP_PROTO(u64 pass, u64 what, u64 events, u64 error),
	     TP_ARGS(pass, what, events, error));

/* The direction's older name. */
#ifndef ITER_DEST
#define ITER_DEST READ
#endif

#define GA_WALK_MS     200 /* between two passes */
#define GA_CHUNK       512 /* events in a row: an eighth of the smallest ring holds them */
#define GA_CHUNK_MS    20  /* for the host to take them */
#define GA_MODULE_NAME (GA_NAME_WORDS * sizeof(u64) * GA_NAME_PARTS)

static void ga_walk(struct work_struct *work);
static DECLARE_DELAYED_WORK(ga_walk_work, ga_walk);
static u64 ga_pass;

struct ga_pids {
	struct dir_context ctx;
	u32 n;
	u32 pids[GA_CHUNK];
};

/* From /proc itself: another file system mounted there is no answer. */
static struct file *ga_open(const char *path, int flags)
{
	struct file *file = filp_open(path, O_RDONLY | flags, 0);

	if (!IS_ERR(file) && file_inode(file)->i_sb->s_magic != PROC_SUPER_MAGIC) {
		fput(file);
		return ERR_PTR(-ENOENT);
	}
	return file;
}

/* The entry of that name in /proc itself, and not another file that is mounted over it. */
static bool ga_is_entry(const struct file *file, const char *name)
{
	const struct dentry *dentry = file->f_path.dentry;

	return dentry->d_parent == dentry->d_sb->s_root && !strcmp(dentry->d_name.name, name);
}

/* What an actor returns: whether to go on or, before that was a bool, an error. */
typedef typeof(((filldir_t)NULL)(NULL, NULL, 0, 0, 0, 0)) ga_filled_t;
#define GA_GO_ON __builtin_types_compatible_p(ga_filled_t, bool)

static ga_filled_t ga_take_pid(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino,
			       unsigned int type)
{
	struct ga_pids *p = container_of(ctx, struct ga_pids, ctx);
	char text[12];
	u32 pid;

	if (p->n == GA_CHUNK)
		return !GA_GO_ON;
	if (len >= sizeof(text))
		return GA_GO_ON;
	memcpy(text, name, len);
	text[len] = 0;
	if (!kstrtou32(text, 10, &pid))
		p->pids[p->n++] = pid;
	return GA_GO_ON;
}

static void ga_emit_task(u32 pid)
{
	u64 comm[GA_COMM / sizeof(u64)] = { 0 };
	struct task_struct *task;

	BUILD_BUG_ON(sizeof(comm) != GA_COMM);
	rcu_read_lock();
	task = pid_task(find_vpid(pid), PIDTYPE_PID);
	if (task)
		strscpy((char *)comm, task->comm, sizeof(comm));
	rcu_read_unlock();
	trace_outsight_task(ga_pass, pid, comm[0], comm[1]);
}

static int ga_walk_tasks(u64 *events)
{
	struct file *file = ga_open("/proc", O_DIRECTORY);
	struct ga_pids *p;
	u32 i;
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p) {
		fput(file);
		return -ENOMEM;
	}
	p->ctx.actor = ga_take_pid;
	do {
		p->n = 0;
		ret = iterate_dir(file, &p->ctx);
		for (i = 0; !ret && i < p->n; i++)
			ga_emit_task(p->pids[i]);
		*events += i;
		if (p->n == GA_CHUNK)
			msleep(GA_CHUNK_MS);
		/* Whoever unloads the module waits for this. */
	} while (!ret && p->n == GA_CHUNK && trace_outsight_task_enabled());
	kfree(p);
	fput(file);
	return ret;
}

/* One line of /proc/modules: the name is the text before the first blank. */
static void ga_emit_module(const char *line, size_t len, u64 *events)
{
	u64 name[GA_NAME_PARTS][GA_NAME_WORDS] = { 0 };
	const char *end = memchr(line, ' ', len);
	u32 i;

	if (!end || end - line > GA_MODULE_NAME)
		return;
	memcpy(name, line, end - line);
	for (i = 0; i < GA_NAME_PARTS; i++) {
		trace_outsight_module(ga_pass, (*events / GA_NAME_PARTS) << 8 | i, name[i][0], name[i][1],
				      name[i][2]);
		cond_resched();
	}
	*events += GA_NAME_PARTS;
	if (!(*events / GA_NAME_PARTS % (GA_CHUNK / GA_NAME_PARTS)))
		msleep(GA_CHUNK_MS);
}

/* What is at the end of a page without its line end comes again, in front of the next. */
static size_t ga_emit_lines(char *page, size_t len, u64 *events)
{
	char *line = page, *end;

	while ((end = memchr(line, '\n', page + len - line))) {
		ga_emit_module(line, end - line, events);
		line = end + 1;
	}
	len -= line - page;
	memmove(page, line, len);
	return len;
}

static ssize_t ga_read(struct file *file, loff_t *pos, char *to, size_t len)
{
	struct kvec vec = { .iov_base = to, .iov_len = len };
	struct kiocb kiocb;
	struct iov_iter iter;
	ssize_t ret;

	/* As the kernel's own seq_read() does it; that one writes to programs only. */
	init_sync_kiocb(&kiocb, file);
	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, len);
	kiocb.ki_pos = *pos;
	ret = seq_read_iter(&kiocb, &iter);
	*pos = kiocb.ki_pos;
	return ret;
}

static int ga_walk_modules(u64 *events)
{
	struct file *file = ga_open("/proc/modules", 0);
	char *page = (char *)__get_free_page(GFP_KERNEL);
	size_t have = 0;
	ssize_t got;
	loff_t pos = 0;
	int ret;

	if (IS_ERR(file) || !page || !ga_is_entry(file, "modules")) {
		ret = !page ? -ENOMEM : -ENOENT;
		free_page((unsigned long)page);
		if (IS_ERR(file))
			return PTR_ERR(file);
		fput(file);
		return ret;
	}
	/* What ga_read() takes for granted: it is read by seq_read(). */
	do {
		got = ga_read(file, &pos, page + have, PAGE_SIZE - have);
		if (got > 0)
			have = ga_emit_lines(page, have + got, events);
	} while (got > 0 && have < PAGE_SIZE);
	free_page((unsigned long)page);
	fput(file);
	return got > 0 ? -EOVERFLOW : got;
}

static bool ga_walks_wanted(void)
{
	return trace_outsight_task_enabled() || trace_outsight_module_enabled();
}

static void ga_walk(struct work_struct *work)
{
	u64 events;
	int ret;

	ga_pass++;
	if (trace_outsight_task_enabled()) {
		events = 0;
		ret = ga_walk_tasks(&events);
		trace_outsight_pass(ga_pass, GA_PASS_TASKS, events, -ret);
	}
	if (trace_outsight_module_enabled()) {
		events = 0;
		ret = ga_walk_modules(&events);
		trace_outsight_pass(ga_pass, GA_PASS_MODULES, events, -ret);
	}
	if (ga_walks_wanted())
		ga_walks_begin();
}

void ga_walks_begin(void)
{
	/* Not on the queue of short work: a guest may have many processes. */
	if (ga_walks_wanted())
		queue_delayed_work(system_long_wq, &ga_walk_work, msecs_to_jiffies(GA_WALK_MS));
}

void ga_walks_exit(void)
{
	cancel_delayed_work_sync(&ga_walk_work);
}
