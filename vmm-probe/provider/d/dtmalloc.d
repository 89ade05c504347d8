/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dtmalloc: FreeBSD's probes for each type of memory, which are Linux's slab caches: $1 is the cache's address.
 * args[1] and args[2] are FreeBSD's own in FreeBSD; here they are the object and the caller.
 */
provider dtmalloc;

/*
 * An object that kmalloc() gave, and any that kfree() takes, is known by its page: the cache is that of its slab.
 * The pages' descriptions are an array (vmemmap), by the page's number in the kernel's map of all memory.
 */
inline struct page *its_page[uintptr_t object] = (struct page *)(*(uintptr_t *)&`vmemmap_base +
	((object - *(uintptr_t *)&`page_offset_base) >> 12) * sizeof(struct page));
inline uintptr_t its_slab[struct page *page] =
	page->compound_head & 1 ? page->compound_head - 1 : (uintptr_t)page;

/* kmem_cache_alloc(call_site, object, cache, …), kmalloc(call_site, object, bytes, …) since 6.1 */
probe *:malloc(struct kmem_cache *, void *, unsigned long, unsigned long) {
	at {
		sdt:kmem::kmem_cache_alloc
		/ arg2 == $1 / { trace($1); trace(arg1); trace(arg0); trace(args[2]->object_size); }
		sdt:kmem::kmalloc
		/ (int64_t)arg1 < 0 && (uintptr_t)((struct slab *)its_slab[its_page[arg1]])->slab_cache == $1 /
		{ trace($1); trace(arg1); trace(arg0); trace(args[2] * 1); }
	}
	or {
		sdt:kmem::kmem_cache_alloc, sdt:kmem::kmem_cache_alloc_node, sdt:kmem::kmalloc,
		sdt:kmem::kmalloc_node
		/ (int64_t)arg1 < 0 && (uintptr_t)((struct page *)its_slab[its_page[arg1]])->slab_cache == $1 /
		{ trace($1); trace(arg1); trace(arg0); trace(args[2] * 1); }
	}
}

/* kmem_cache_free(call_site, object, cache) since 6.1, kfree(call_site, object) */
probe *:free(struct kmem_cache *, void *, unsigned long, unsigned long) {
	at {
		sdt:kmem::kmem_cache_free
		/ arg2 == $1 / { trace($1); trace(arg1); trace(arg0); trace(args[2]->object_size); }
		sdt:kmem::kfree
		/ (int64_t)arg1 < 0 && (uintptr_t)((struct slab *)its_slab[its_page[arg1]])->slab_cache == $1 /
		{ trace($1); trace(arg1); trace(arg0); trace(((struct kmem_cache *)$1)->object_size); }
	}
	or {
		sdt:kmem::kmem_cache_free, sdt:kmem::kfree
		/ (int64_t)arg1 < 0 && (uintptr_t)((struct page *)its_slab[its_page[arg1]])->slab_cache == $1 /
		{ trace($1); trace(arg1); trace(arg0); trace(((struct kmem_cache *)$1)->object_size); }
	}
}
