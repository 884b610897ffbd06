// A program that acts as the CUDA driver does on initialisation: it loads the library named by CUDA_INJECTION64_PATH
// and calls it. Its argument selects how it ends, so that every end of a program can be tested without a GPU.
#include "fake_calls.hpp"

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

/// A function of the CUPTI of our own making, which this program's driver would have called.
template <class Function>
Function* fake(const char* name)
{
    void* const cupti = dlopen(std::getenv("ROOF_CUPTI"), RTLD_NOW);
    return reinterpret_cast<Function*>(dlsym(cupti, name));
}

/// A step of two kernels, then a graph, a kernel, and a collective.
void step()
{
    constexpr std::uintptr_t context = 7;
    const auto launch = fake<decltype(fake_launch)>("fake_launch");
    const auto push = fake<decltype(fake_push)>("fake_push");
    const auto pop = fake<decltype(fake_pop)>("fake_pop");
    for (const char* const name : {"step 1", "forward", "conv1"}) push(name);
    launch("_Z5firstv", context);
    pop();
    launch("_Z6secondv", context);
    pop();
    pop();
    fake<decltype(fake_graph_launch)>("fake_graph_launch")(context);
    launch("_Z6secondv", context);
    launch("ncclDevKernel", context);
}

int step_for_a_while()
{
    for (int times = 0; times < 40; ++times) {
        step();
        usleep(20'000);
    }
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
    if (deed == "step") step();
    if (deed == "steps") return step_for_a_while();
    if (deed == "wait") {
        std::puts("waiting");
        std::fflush(stdout);
        for (;;) pause();
    }
    return 0;
}
