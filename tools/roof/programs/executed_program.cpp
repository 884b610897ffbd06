#include "tools/roof/programs/simulated_program.hpp"

#include "analysis/instructions/executed_work.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace roof {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view counts = "counts.", messages = "messages.";
constexpr std::size_t largest_counts = std::size_t{4} << 30;

/// "0x62 0xF1 0x7C" -> its bytes.
std::vector<std::uint8_t> bytes_in(std::string_view text)
{
    std::vector<std::uint8_t> bytes;
    for (const std::string& word : split(trim(text), ' ')) {
        std::uint8_t byte = 0;
        if (!word.starts_with("0x") ||
            std::from_chars(word.data() + 2, word.data() + word.size(), byte, 16).ec != std::errc{})
            break;
        bytes.push_back(byte);
    }
    return bytes;
}

/// Functions by the addresses of their instructions, for each object.
class FunctionsByAddress {
  public:
    explicit FunctionsByAddress(const std::vector<analysis::ExecutedFunction>& functions)
    {
        for (const analysis::ExecutedFunction& function : functions)
            for (const analysis::ExecutedInstruction& executed : function.instructions)
                if (executed.times > 0) {
                    auto& [of, times] = by_object_[function.object][executed.address];
                    if (executed.times > times) of = &function, times = executed.times;
                }
    }

    const analysis::ExecutedFunction* at(const std::string& object, std::uint64_t place)
    {
        const auto addresses = by_object_.find(object);
        if (addresses == by_object_.end()) return nullptr;
        const analysis::ObjectCode* const code = code_.of(object);
        const auto address = code != nullptr ? code->address_of(place) : std::nullopt;
        const auto found = address ? addresses->second.find(*address) : addresses->second.end();
        return found == addresses->second.end() ? nullptr : found->second.first;
    }

  private:
    using OfAddress = std::pair<const analysis::ExecutedFunction*, double>;
    std::map<std::string, std::map<std::uint64_t, OfAddress>> by_object_;
    analysis::ObjectCodes code_;
};

}  // namespace

std::map<std::string, std::string> variables_of_same_code()
{
    static const std::map<std::string, std::string> held{
        {"OPENBLAS_CORETYPE", "Haswell"},
        {"BLIS_ARCH_TYPE", "haswell"},
        {"ONEDNN_MAX_CPU_ISA", "AVX2"},
        {"MKL_ENABLE_INSTRUCTIONS", "AVX2"},
        {"ATEN_CPU_CAPABILITY", "avx2"},
        {"NPY_DISABLE_CPU_FEATURES", "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"}};
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : held)
        if (std::getenv(name.c_str()) == nullptr) variables[name] = value;
    const char* const own = std::getenv("GLIBC_TUNABLES");
    const std::string tunables = own == nullptr ? "" : own;
    if (tunables.find("glibc.cpu.hwcaps") == std::string::npos)
        variables["GLIBC_TUNABLES"] = (tunables.empty() ? "" : tunables + ":") +
                                      "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD";
    return variables;
}

std::vector<std::string> under_callgrind(const std::vector<std::string>& words, const SimulatedCaches& caches,
                                         const fs::path& folder)
{
    std::vector<std::string> all{installed("valgrind"),
                                 "--tool=callgrind",
                                 "--dump-instr=yes",
                                 "--dump-line=no",
                                 "--compress-pos=no",
                                 "--simulate-wb=yes",
                                 "--trace-children=yes",
                                 "--vgdb=no",
                                 "--callgrind-out-file=" + (folder / counts).string() + "%p",
                                 "--log-file=" + (folder / messages).string() + "%p"};
    const std::vector<std::string> simulated = caches.options();
    all.insert(all.end(), simulated.begin(), simulated.end());
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

std::vector<analysis::ExecutedFunction> executed_functions(const fs::path& folder)
{
    std::vector<analysis::ExecutedFunction> all;
    for (const fs::path& file : entries_of(folder, counts)) {
        const std::string text = read_file(file, largest_counts);
        if (text.find("\ntotals: 0\n") != std::string::npos) continue;  // a process that ran nothing of its own
        std::vector<analysis::ExecutedFunction> of_process = analysis::parse_callgrind(text);
        std::ranges::move(of_process, std::back_inserter(all));
    }
    if (all.empty()) throw Unsupported("valgrind wrote no counts");
    return all;
}

std::string unknown_instruction(const fs::path& folder)
{
    constexpr std::string_view before = "unhandled instruction bytes: ";
    for (const fs::path& file : entries_of(folder, messages)) {
        const std::string text = read_file(file);
        const std::size_t at = text.find(before);
        if (at == std::string::npos) continue;
        const std::string_view rest = std::string_view(text).substr(at + before.size());
        const std::string name = analysis::instruction_name(bytes_in(rest.substr(0, rest.find('\n'))));
        return fmt::format(
            "valgrind does not know the instruction {}: build the program for AVX2 at the most (-march=x86-64-v3), or "
            "count it where the processor's counters can be read",
            name.empty() ? std::string(trim(rest.substr(0, rest.find('\n')))) : name);
    }
    return {};
}

SampledFunctions sampled_functions(const std::vector<SampledPlace>& places,
                                   const std::vector<analysis::ExecutedFunction>& functions)
{
    FunctionsByAddress by_address(functions);
    SampledFunctions sampled;
    std::map<std::string, int> elsewhere;
    for (const SampledPlace& place : places) {
        const analysis::ExecutedFunction* const function = by_address.at(place.object, place.place);
        const std::string file = fs::path(place.object).filename();
        if (place.object != "[vdso]" && !file.starts_with("ld-")) {
            sampled.samples += place.samples;
            (function == nullptr ? elsewhere[place.object] : sampled.executed) += place.samples;
        }
        if (function == nullptr) continue;
        FunctionTime& sum = sampled.functions[{function->object, function->name}];
        sum.samples += place.samples;
        sum.time += place.time;
    }
    const auto most = std::ranges::max_element(elsewhere, {}, [](const auto& entry) { return entry.second; });
    if (most != elsewhere.end()) sampled.elsewhere = most->first.empty() ? "code that is in no file" : most->first;
    return sampled;
}

std::string SimulatedCache::option() const
{
    return fmt::format("{},{},{}", bytes, ways, line);
}

SimulatedCache simulated_cache(Bytes capacity)
{
    constexpr std::size_t least_ways = 8, most_ways = 64;
    const auto lines = std::max(static_cast<std::size_t>(capacity.value) / SimulatedCache::line, least_ways);
    std::size_t sets = 1;
    while (lines % (2 * sets) == 0 && lines / (2 * sets) >= least_ways) sets *= 2;
    while (lines / sets > most_ways) sets *= 2;
    const std::size_t ways = lines / sets;
    return {sets * ways * SimulatedCache::line, ways};
}

std::string SimulatedCaches::text() const
{
    const auto one = [](const SimulatedCache& cache) {
        return fmt::format("{} with {} ways", format_capacity(static_cast<double>(cache.bytes)), cache.ways);
    };
    return one(first) + " and " + one(last);
}

SimulatedCaches simulated_caches(const Machine& machine)
{
    Bytes first{32768}, last{1048576};
    for (const MemoryLevel& level : machine.device("cpu").levels) {
        if (level.capacity.value <= 0 || level.name == "DRAM") continue;
        if (level.name == "L1") first = level.capacity;
        last = std::max(last, level.capacity);
    }
    return {simulated_cache(first), simulated_cache(last)};
}

}  // namespace roof
