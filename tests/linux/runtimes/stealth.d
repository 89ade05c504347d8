/* As printed in Adam Leventhal's blog, on Mac OS X 10.5.3 and programs that hide from it. */
profile-1000
{
        @[execname] = count();
}

ERROR
{
        @["=stealth app="] = count();
}
