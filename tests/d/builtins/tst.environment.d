/* ASSERTION: Without a guest pr_envp leads to the tracing process's own environment. */
#pragma D option quiet

BEGIN
/curpsinfo->pr_dmodel == PR_MODEL_LP64/
{
	this->envp = (uint64_t *)alloca(sizeof (uint64_t));
	copyinto(curpsinfo->pr_envp, sizeof (uint64_t), this->envp);
	printf("%d\n", index(copyinstr(*this->envp), "=") > 0);
	exit(0);
}
