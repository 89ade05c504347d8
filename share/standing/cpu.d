/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose CPU time it is: 97 samples a second of each vCPU, but of those that idle. */
profile-97
/pid != 0/
{
	@cpu_samples[guest, execname] = count();
}
