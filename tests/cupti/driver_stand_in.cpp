// A program that does what the CUDA driver does when it is initialised: it loads the library that CUDA_INJECTION64_PATH names and
// calls it. Then it does as its argument says, so that the ends a program may come to can be tested with no GPU.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

bool initialise_driver()
{
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr) return true;
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    if (library == nullptr) return false;
    reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
    return true;
}

int fork_and_leave()
{
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int echo()
{
    for (int letter = std::getchar(); letter != EOF; letter = std::getchar()) std::putchar(letter);
    return 0;
}

}  // namespace

int main(int count, char** words)
{
    const std::string_view deed = count > 1 ? words[1] : "";
    if (deed == "no-cuda") return 0;
    if (!initialise_driver()) return 99;
    if (deed == "fail") return 3;
    if (deed == "fork") return fork_and_leave();
    if (deed == "echo") return echo();
    if (deed == "abort") std::abort();
    if (deed == "wait") {
        std::puts("waiting");
        std::fflush(stdout);
        for (;;) pause();
    }
    return 0;
}
