#include "tests/zoo/run.hpp"

#include "tests/fakes/temporary_folder.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace roof::zoo {

std::filesystem::path fast_folder()
{
    const std::filesystem::path in_memory = "/dev/shm";
    return ::access(in_memory.c_str(), W_OK) == 0 ? in_memory : std::filesystem::temp_directory_path();
}

std::uint64_t seed_of(std::uint64_t seed, const Kind& kind, std::size_t number)
{
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a of the name, so that a new kind does not change the others
    for (const char c : kind.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    Random random(hash ^ (seed * 0x9e3779b97f4a7c15) ^ (number << 20));
    return random.bits() >> 16;  // short enough to type
}

std::vector<Tally> run(const Run& run)
{
    std::vector<Tally> tallies(run.kinds.size());
    for (std::size_t i = 0; i < run.kinds.size(); ++i) tallies[i] = {.kind = run.kinds[i], .looks = run.looks};
    const fakes::TemporaryFolder scratch(fast_folder());
    std::atomic<std::size_t> next = 0;
    std::mutex adding;
    const std::size_t total = run.kinds.size() * run.machines;
    const auto work = [&](int thread) {
        for (std::size_t i = next++; i < total; i = next++) {
            const Kind& kind = *run.kinds[i / run.machines];
            const std::uint64_t seed = seed_of(run.seed, kind, i % run.machines);
            try {
                const bool by_command =
                    i % run.machines % run.command_every == 0 && run.plan == "calibrate/cpu" && run.looks > 0;
                const std::filesystem::path folder = scratch / fmt::format("{}", thread);
                const Calibration calibration =
                    by_command ? calibrate(kind, seed, folder, run.looks)
                               : calibrate_without_command(kind, seed, folder, run.looks, run.plan);
                const Verdict verdict = judge(calibration);
                const std::lock_guard lock(adding);
                tallies[i / run.machines].add(calibration, verdict);
                if (run.each) run.each(kind, seed, calibration, verdict);
            } catch (const std::exception&) {
                const std::lock_guard lock(adding);
                ++tallies[i / run.machines].broken;
            }
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 1; thread < run.threads; ++thread) threads.emplace_back(work, thread);
    work(0);
    for (std::thread& thread : threads) thread.join();
    return tallies;
}

}  // namespace roof::zoo
