/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block I/O, devices and files, as the io provider's arguments: io_file.d and io_block.d define the members. */
typedef struct bufinfo {
	int b_flags;
	size_t b_bcount;
	uintptr_t b_addr;
	uint64_t b_blkno;
	uint64_t b_lblkno;
	size_t b_resid;
	size_t b_bufsize;
	uintptr_t b_iodone;
	int b_error;
	uint64_t b_edev;
} bufinfo_t;

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;
	string dev_statname;
	string dev_pathname;
} devinfo_t;

typedef struct fileinfo {
	string fi_name;
	string fi_dirname;
	string fi_pathname;
	long long fi_offset;
	string fi_fs;
	string fi_mount;
	int fi_oflags;
} fileinfo_t;

inline int B_BUSY = 0x00000001;
inline int B_DONE = 0x00000002;
inline int B_ERROR = 0x00000004;
inline int B_PAGEIO = 0x00000010;
inline int B_PHYS = 0x00000020;
inline int B_READ = 0x00000040;
inline int B_WRITE = 0x00000100;
inline int B_ASYNC = 0x00000400;

/* fi_oflags: Linux's open(2) flags on x86-64; those of 32-bit processes are kept as these */
inline int O_ACCMODE = 0x00000003;
inline int O_RDONLY = 0x00000000;
inline int O_WRONLY = 0x00000001;
inline int O_RDWR = 0x00000002;
inline int O_CREAT = 0x00000040;
inline int O_EXCL = 0x00000080;
inline int O_NOCTTY = 0x00000100;
inline int O_TRUNC = 0x00000200;
inline int O_APPEND = 0x00000400;
inline int O_NONBLOCK = 0x00000800;
inline int O_NDELAY = 0x00000800;
inline int O_DSYNC = 0x00001000;
inline int O_DIRECT = 0x00004000;
inline int O_LARGEFILE = 0x00008000;
inline int O_DIRECTORY = 0x00010000;
inline int O_NOFOLLOW = 0x00020000;
inline int O_NOATIME = 0x00040000;
inline int O_CLOEXEC = 0x00080000;
inline int O_SYNC = 0x00101000;
inline int O_RSYNC = 0x00101000;
inline int O_PATH = 0x00200000;
