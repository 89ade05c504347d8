/*
 * ASSERTION: __has_member() and __has_symbol() say what the types and the kernel have, without an error; of a
 * condition that is one of them, only the arm that applies has to have a meaning.
 */
#pragma D option quiet

struct point {
	int x;
	struct {
		int y;
	};
};

inline int height[struct point *p] = __has_member(struct point, y) ? p->y : p->height;
inline int depth[struct point *p] = __has_member(struct point, z) ? p->z : -1;

BEGIN
{
	this->p = (struct point *)alloca(sizeof(struct point));
	this->p->y = 7;
	printf("%d %d\n", height[this->p], depth[this->p]);
	printf("%d %d ", __has_member(struct point, x), __has_member(struct point, z));
	printf("%d %d\n", __has_member(struct nothing_of_this_name, x), __has_member(int, x));
	printf("%d %d\n", __has_symbol(`nothing_of_this_name), __has_symbol(`nothing_of_this_name) ? `nothing : 3);
	printf("%s\n", !__has_member(struct point, z) && __has_member(struct point, y) ? "combined" : "wrong");
	exit(0);
}
