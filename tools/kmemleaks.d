#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmemleaks: slab objects that were allocated and not freed, by cache and caller
 *
 * Use:
 *   outsight tool kmemleaks [-g GUEST]
 *
 * Example:
 *   CACHE                  CALLER                                 OBJECTS     BYTES
 *   anon_vma               vmlinux`anon_vma_fork                        0         0
 *   anon_vma               vmlinux`__anon_vma_prepare                   0         0
 *   ...
 *   dentry                 vmlinux`__d_alloc                            2       384
 *   proc_inode_cache       vmlinux`proc_alloc_inode                     2      1408
 *
 * Caveats:
 *   Objects that were allocated while the tool ran and not freed when it ended: caches keep theirs for long, so look for
 *   what grows from run to run. kmalloc's sizes are not counted. Rows of 0 were freed. Ctrl-C prints the table.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs
#pragma D option dynvarsize=64m

fbt::kmem_cache_alloc:entry, fbt::kmem_cache_alloc_noprof:entry, fbt::kmem_cache_alloc_lru:entry,
fbt::kmem_cache_alloc_lru_noprof:entry, fbt::kmem_cache_alloc_node:entry,
fbt::kmem_cache_alloc_node_noprof:entry
/!self->depth++/
{
	self->cache = (struct kmem_cache *)arg0;
	self->from = caller;
}

fbt::kmem_cache_alloc:return, fbt::kmem_cache_alloc_noprof:return, fbt::kmem_cache_alloc_lru:return,
fbt::kmem_cache_alloc_lru_noprof:return, fbt::kmem_cache_alloc_node:return,
fbt::kmem_cache_alloc_node_noprof:return
/self->depth && !--self->depth && arg1/
{
	from[arg1] = self->from;
	@objects[stringof(self->cache->name), sym(self->from)] = sum(1);
	@bytes[stringof(self->cache->name), sym(self->from)] = sum(self->cache->object_size);
	self->cache = 0;
	self->from = 0;
}

fbt::kmem_cache_free:entry
/from[arg1]/
{
	@objects[stringof(((struct kmem_cache *)arg0)->name), sym(from[arg1])] = sum(-1);
	@bytes[stringof(((struct kmem_cache *)arg0)->name), sym(from[arg1])] =
	    sum(-(int64_t)((struct kmem_cache *)arg0)->object_size);
	from[arg1] = 0;
}

END
{
	printf("%-22s %-36s %9s %9s\n", "CACHE", "CALLER", "OBJECTS", "BYTES");
	printa("%-22s %-36a %@9d %@9d\n", @objects, @bytes);
}
