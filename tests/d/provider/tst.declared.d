/* ASSERTION: a provider may be declared, and declared again as it is; it has no probes by that. */
#pragma D option quiet

struct in { int a; };
typedef struct out { int b; } out_t;
translator out_t < struct in *I > { b = I->a; };

provider acme {
	probe start__job(int, char *);
	probe done(struct in *job) : (out_t *job);
	probe nothing();
};
provider acme {
	probe nothing();
	probe start__job(int id, char *name);
};
#pragma D attributes Evolving/Evolving/Common provider acme provider
#pragma D attributes Private/Private/Unknown provider acme module

BEGIN
{
	printf("ok\n");
	exit(0);
}
