#!/usr/sbin/dtrace -qs
/* As printed in talks on DTrace and Erlang, after spawn-exit.d of Erlang/OTP's runtime_tools, by Scott Lystig Fritchie. */

erlang*:::process-spawn
{
    printf("pid %s mfa %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang*:::process-exit
{
    printf("pid %s reason %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang*:::process-exit_signal
{
    printf("sender %s -> pid %s reason %s\n",

    copyinstr(arg0), copyinstr(arg1), copyinstr(arg2));
}
