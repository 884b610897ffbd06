// mutations SECONDS [SEED [READER [large]]]: feeds mutated files to every reader in turn, or to the named one ("all":
// every). Each must be read, or refused with an error of this project, within 5 s and 500 MB. One in 500, or with
// `large` each, has 1 MB. Prints the number of inputs of each reader; exit status 1 after a failure, whose input is
// kept.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/faults/mutate.hpp"
#include "tests/faults/readers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace roof::faults {
namespace {

using Time = std::chrono::steady_clock;

double seconds_since(Time::time_point begin)
{
    return std::chrono::duration<double>(Time::now() - begin).count();
}

int fuzz(const std::string& data, double seconds, std::uint64_t seed, const std::string& only, bool only_large)
{
    const fakes::TemporaryFolder scratch;
    Chance chance(seed);
    std::vector<Reader> all = readers(data);
    std::erase_if(all, [&](const Reader& reader) { return only != "all" && reader.name != only; });
    int failures = 0;
    long total = 0;
    for (const Reader& reader : all) {
        const Time::time_point begin = Time::now();
        long inputs = 0;
        double slowest = 0, most = 0;
        for (; seconds_since(begin) < seconds / static_cast<double>(all.size()); ++inputs) {
            std::string text = reader.corpus[below(chance, reader.corpus.size())];
            const bool is_large = only_large || below(chance, 500) == 0;
            text = is_large ? large(chance, text) : mutation(chance, text);
            if (is_large && below(chance, 2) == 0 && has_column(text.substr(0, text.find('\n')), block_column))
                text = with_checksums(text);  // so that the cells reach what is behind
            const Answer answer = answer_of(reader, text, scratch.path().string());
            slowest = std::max(slowest, answer.seconds);
            most = std::max(most, answer.megabytes);
            if (answer.failure.empty()) continue;
            const std::string kept = fmt::format("failure-{}", ++failures);
            std::ofstream(kept, std::ios::binary) << text;
            std::cout << reader.name << ": " << answer.failure << "; its input is " << kept << std::endl;
            if (failures == 20) return 1;
        }
        std::cout << fmt::format("{:28} {:8} inputs, {:4.0f} MB more and {:5.3f} s at most\n", reader.name, inputs,
                                 most, slowest)
                  << std::flush;
        total += inputs;
    }
    std::cout << total << " inputs, " << failures << " failures\n";
    return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace roof::faults

int main(int count, char** words)
{
    const double seconds = count > 1 ? std::atof(words[1]) : 10;
    const std::uint64_t seed = count > 2 ? std::strtoull(words[2], nullptr, 10) : 1;
    return roof::faults::fuzz(ROOF_TESTS, seconds, seed, count > 3 ? words[3] : "all", count > 4);
}
