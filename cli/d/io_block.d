/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bufinfo_t, devinfo_t and fileinfo_t of a bio and of a request. */
#pragma D depends_on library io.d
#pragma D depends_on library io_file.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf
#pragma D depends_on struct bio
#pragma D depends_on struct request

/* --- devices ------------------------------------------------------------------------------------ */

/* the partition's number: bd_partno up to 6.9, then bits of __bd_flags */
inline int __bdev_partno[struct block_device *D] =
	(int)(__has_member(struct block_device, bd_partno) ? D->bd_partno :
	__has_member(struct block_device, __bd_flags) ? *(int *)&D->__bd_flags & 0xff : 0);
inline string __disk_name[struct gendisk *G] = stringof(G->disk_name);

/* sda and 1 are sda1, nvme0n1 and 1 nvme0n1p1 */
inline string __last_char[string S] = substr(S, (int)strlen(S) - 1);
inline string __partition_name[string disk, int number] =
	number == 0 ? disk :
	strjoin(strjoin(disk, __last_char[disk] >= "0" && __last_char[disk] <= "9" ? "p" : ""), lltostr(number));

/* --- a device by its disk, its partition's number and its dev_t ------------------------------------- */

inline string __statname[struct gendisk *G, int number] =
	G == NULL ? "<none>" : __partition_name[__disk_name[G], number];

/* a bio has bi_bdev since 5.12, bi_disk and bi_partno before */
inline struct gendisk *__bio_disk[struct bio *B] =
	__has_member(struct bio, bi_bdev) ? B->bi_bdev == NULL ? NULL : B->bi_bdev->bd_disk : B->bi_disk;
inline int __bio_partno[struct bio *B] =
	__has_member(struct bio, bi_bdev) ? B->bi_bdev == NULL ? 0 : __bdev_partno[B->bi_bdev] : B->bi_partno;
inline uint64_t __disk_dev[struct gendisk *G, int number] =
	G == NULL ? 0 : (uint64_t)G->major << 20 | (uint64_t)(G->first_minor + number);
inline uint64_t __bio_dev[struct bio *B] =
	__has_member(struct bio, bi_bdev) ? B->bi_bdev == NULL ? 0 : B->bi_bdev->bd_dev :
	__disk_dev[__bio_disk[B], __bio_partno[B]];
inline struct gendisk *__request_disk[struct request *R] =
	__has_member(struct request, rq_disk) ? R->rq_disk : R->q->disk;

translator devinfo_t < struct bio *B > {
	dev_major = getmajor(__bio_dev[B]);
	dev_minor = getminor(__bio_dev[B]);
	dev_instance = getminor(__bio_dev[B]);
	dev_name = __statname[__bio_disk[B], 0];
	dev_statname = __statname[__bio_disk[B], __bio_partno[B]];
	dev_pathname = strjoin("/dev/", __statname[__bio_disk[B], __bio_partno[B]]);
};

translator devinfo_t < struct request *R > {
	dev_major = getmajor(__disk_dev[__request_disk[R], 0]);
	dev_minor = getminor(__disk_dev[__request_disk[R], 0]);
	dev_instance = getminor(__disk_dev[__request_disk[R], 0]);
	dev_name = __statname[__request_disk[R], 0];
	dev_statname = __statname[__request_disk[R], 0];
	dev_pathname = strjoin("/dev/", __statname[__request_disk[R], 0]);
};

/* --- what is read or written ------------------------------------------------------------------------ */

/* REQ_OP_*: bit 0 is the direction; REQ_SYNC is bit 3 behind the operation's 8 bits */
inline int __op_flags[uint64_t flags] =
	B_BUSY | B_PAGEIO | (flags & 1 ? B_WRITE : B_READ) | (flags & 0x800 ? 0 : B_ASYNC);

/*
 * blk_status_t to errno: blk_status_to_errno()'s table for those that devices return; others are EIO.
 * BLK_STS_AGAIN is 12 or 13, from kernel to kernel.
 */
inline int __status_error[int status] =
	status == 0 ? 0 : status == 1 ? 95 : status == 2 ? 110 : status == 3 ? 28 : status == 4 ? 67 :
	status == 5 ? 121 : status == 6 ? 52 : status == 7 ? 61 : status == 8 ? 84 : status == 9 ? 12 :
	status == 11 ? 121 : 5;

translator bufinfo_t < struct bio *B > {
	b_flags = __op_flags[B->bi_opf] | (B->bi_status ? B_ERROR : 0);
	b_bcount = B->bi_iter.bi_size;
	b_addr = (uintptr_t)B;
	b_blkno = B->bi_iter.bi_sector;
	b_lblkno = B->bi_iter.bi_sector;
	b_resid = 0;
	b_bufsize = B->bi_iter.bi_size;
	b_iodone = (uintptr_t)B->bi_end_io;
	b_error = __status_error[B->bi_status];
	b_edev = __bio_dev[B];
};

translator bufinfo_t < struct request *R > {
	b_flags = __op_flags[R->cmd_flags];
	b_bcount = R->__data_len;
	b_addr = (uintptr_t)R;
	b_blkno = R->__sector;
	b_lblkno = R->__sector;
	b_resid = 0;
	b_bufsize = R->__data_len;
	b_iodone = (uintptr_t)R->end_io;
	b_error = 0;
	b_edev = __disk_dev[__request_disk[R], 0];
};

/* --- the file of the first page ---------------------------------------------------------------------- */

/* the array's first entry that is not done yet; no data: none */
inline struct page *__bio_page[struct bio *B] =
	B == NULL || B->bi_io_vec == NULL || B->bi_iter.bi_size == 0 ? NULL :
	B->bi_io_vec[B->bi_iter.bi_idx].bv_page;

translator fileinfo_t < struct bio *B > {
	fi_name = xlate <fileinfo_t> (__bio_page[B]).fi_name;
	fi_dirname = xlate <fileinfo_t> (__bio_page[B]).fi_dirname;
	fi_pathname = xlate <fileinfo_t> (__bio_page[B]).fi_pathname;
	fi_offset = 0;
	fi_fs = xlate <fileinfo_t> (__bio_page[B]).fi_fs;
	fi_mount = xlate <fileinfo_t> (__bio_page[B]).fi_mount;
	fi_oflags = 0;
};

translator fileinfo_t < struct request *R > {
	fi_name = xlate <fileinfo_t> (R->bio).fi_name;
	fi_dirname = xlate <fileinfo_t> (R->bio).fi_dirname;
	fi_pathname = xlate <fileinfo_t> (R->bio).fi_pathname;
	fi_offset = 0;
	fi_fs = xlate <fileinfo_t> (R->bio).fi_fs;
	fi_mount = xlate <fileinfo_t> (R->bio).fi_mount;
	fi_oflags = 0;
};
