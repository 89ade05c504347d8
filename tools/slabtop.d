#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slabtop: objects that the kernel allocates and frees, by slab cache
 *
 * Use:
 *   outsight tool slabtop [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *   CACHE                    ALLOCATED     BYTES     FREED
 *   sigqueue                         1        80         1
 *   pid                              1       128         1
 *   ...
 *   anon_vma_chain                  16      1024        16
 *   vm_area_struct                  20      3040        20
 *
 * Caveats:
 *   Caches with names of their own; kmalloc's sizes are not counted, nor allocations in bulk.
 *   Many objects are freed later by RCU. The 20 most active are printed.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	every = $1 > 0 ? $1 : 1;
	left = every;
	tables = $2 > 0 ? $2 : -1;
}

fbt::kmem_cache_alloc:entry, fbt::kmem_cache_alloc_noprof:entry, fbt::kmem_cache_alloc_lru:entry,
fbt::kmem_cache_alloc_lru_noprof:entry, fbt::kmem_cache_alloc_node:entry,
fbt::kmem_cache_alloc_node_noprof:entry
{
	@allocated[stringof(((struct kmem_cache *)arg0)->name)] = sum(1);
	@bytes[stringof(((struct kmem_cache *)arg0)->name)] = sum(((struct kmem_cache *)arg0)->object_size);
	@freed[stringof(((struct kmem_cache *)arg0)->name)] = sum(0);
}

fbt::kmem_cache_free:entry
{
	@allocated[stringof(((struct kmem_cache *)arg0)->name)] = sum(0);
	@bytes[stringof(((struct kmem_cache *)arg0)->name)] = sum(0);
	@freed[stringof(((struct kmem_cache *)arg0)->name)] = sum(1);
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%-22s %11s %9s %9s\n", "CACHE", "ALLOCATED", "BYTES", "FREED");
	printa("%-22s %@11d %@9d %@9d\n", @allocated, @bytes, @freed);
	trunc(@allocated);
	trunc(@bytes);
	trunc(@freed);
	left = every;
	tables--;
}

tick-1s
/tables == 0/
{
	exit(0);
}

END
{
	printf("%-22s %11s %9s %9s\n", "CACHE", "ALLOCATED", "BYTES", "FREED");
	printa("%-22s %@11d %@9d %@9d\n", @allocated, @bytes, @freed);
}
