/* ASSERTION: an output argument of another type needs a translator. */
struct out { int b; };
provider acme { probe p(int a) : (struct out a); };
