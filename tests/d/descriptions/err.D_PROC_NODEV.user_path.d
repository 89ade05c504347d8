/* ASSERTION: user's object may be a path; elsewhere a slash begins the predicate. */
dtrace:::BEGIN/1/
{
}

user:/usr/lib/libstdc++.so.6:__cxa_*:entry/pid/
{
}
