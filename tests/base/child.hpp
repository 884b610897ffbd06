// A process of its own for a test that changes what a process has.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace roof::tests {

/// Whether `check` is true in a child.
template <class Check>
bool is_true_in_child(const Check& check)
{
    const pid_t child = ::fork();
    if (child == 0) ::_exit(check() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0;
}

}  // namespace roof::tests
