#include "analysis/instructions/executed_work.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace roof::analysis {

namespace {

constexpr double line = 64;

class Decoder {
  public:
    std::optional<InstructionWork> work(const std::string& object, std::uint64_t address)
    {
        const auto [known, is_new] = works_.try_emplace({object, address});
        if (const ObjectCode* const code = is_new ? objects_.of(object) : nullptr; code != nullptr)
            known->second = work_of(code->at(address));
        return known->second;
    }

  private:
    ObjectCodes objects_;
    std::map<std::pair<std::string, std::uint64_t>, std::optional<InstructionWork>> works_;
};

struct Lines {
    double written = 0;       ///< fetched by stores
    double written_back = 0;  ///< changed lines that left
};

void add(ExecutedWork& sum, const ExecutedWork& more)
{
    sum.instructions += more.instructions;
    sum.unknown += more.unknown;
    for (const auto& [kind, flops] : more.flops) sum.flops[kind] += flops;
    sum.operand_bytes += more.operand_bytes;
    sum.into_first += more.into_first;
    sum.read += more.read;
    sum.written += more.written;
}

ExecutedWork work_in(const ExecutedFunction& function, Decoder& decoder, Lines& lines)
{
    ExecutedWork work{.name = function.name, .object = function.object};
    for (const ExecutedInstruction& executed : function.instructions) {
        work.instructions += executed.times;
        work.into_first += line * (executed.first_read + executed.first_written);
        work.read += line * executed.last_read;
        lines.written += executed.last_written;
        lines.written_back += executed.written_back;
        if (executed.times == 0) continue;
        const std::optional<InstructionWork> each = decoder.work(function.object, executed.address);
        if (!each) {
            work.unknown += executed.times;
            continue;
        }
        work.operand_bytes += executed.times * each->bytes;
        if (each->flops > 0)
            work.flops[{std::string(each->precision), std::string(each->instruction_set), each->width}] +=
                executed.times * each->flops;
    }
    return work;
}

}  // namespace

std::string KindOfFlops::text() const
{
    return fmt::format("{} by {}{}", precision, instruction_set,
                       width > 0                  ? fmt::format(", {} bits", width)
                       : instruction_set == "x87" ? ""
                                                  : ", one number");
}

double ExecutedWork::total_flops() const
{
    double sum = 0;
    for (const auto& [kind, of_kind] : flops) sum += of_kind;
    return sum;
}

std::map<std::string, double> ExecutedWork::by_precision() const
{
    std::map<std::string, double> sums;
    for (const auto& [kind, of_kind] : flops) sums[kind.precision] += of_kind;
    return sums;
}

ExecutedProgram executed_work(const std::vector<ExecutedFunction>& functions)
{
    Decoder decoder;
    ExecutedProgram program;
    std::map<std::pair<std::string, std::string>, std::pair<ExecutedWork, Lines>> by_name;
    Lines all;
    for (const ExecutedFunction& function : functions) {
        auto& [sum, lines] = by_name[{function.object, function.name}];
        Lines own;
        add(sum, work_in(function, decoder, own));
        sum.name = function.name, sum.object = function.object;
        lines.written += own.written, lines.written_back += own.written_back;
        all.written += own.written, all.written_back += own.written_back;
    }
    // A line that stores fetched leaves as a changed line later, often in another function; it counts where it was
    // fetched. A changed line that no store fetched was loaded first and then changed; such lines count where changed
    // lines left.
    double spare = 0;
    for (const auto& [key, entry] : by_name) spare += std::max(0.0, entry.second.written_back - entry.second.written);
    const double changed = std::max(0.0, all.written_back - all.written);
    for (auto& [key, entry] : by_name) {
        auto& [sum, lines] = entry;
        const double own = std::max(0.0, lines.written_back - lines.written);
        sum.written = line * (lines.written + (spare > 0 ? changed * own / spare : 0));
        add(program.whole, sum);
        program.functions.push_back(std::move(sum));
    }
    std::ranges::stable_sort(program.functions, std::greater{}, &ExecutedWork::instructions);
    return program;
}

namespace {

/// Names are written once: "(12) name", later "(12)".
class Names {
  public:
    std::string of(std::string_view text)
    {
        const std::size_t end = text.find(')');
        if (!text.starts_with('(') || end == text.npos) return std::string(text);
        std::string& name = names_[std::string(text.substr(1, end - 1))];
        if (end + 2 < text.size()) name = text.substr(end + 2);
        return name;
    }

  private:
    std::map<std::string, std::string> names_;
};

/// A function that calls itself is "f'2" in its inner calls.
std::string without_depth(std::string name)
{
    const std::size_t quote = name.rfind('\'');
    if (quote != name.npos && name.find_first_not_of("0123456789", quote + 1) == name.npos) name.resize(quote);
    return name;
}

/// Takes the word before the next blank off `rest`.
std::string_view next_word(std::string_view& rest)
{
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, std::min(rest.find(' '), rest.size()));
    rest.remove_prefix(word.size());
    return word;
}

class CallgrindReader {
  public:
    std::vector<ExecutedFunction> read(std::string_view text)
    {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            line(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (events_.empty() || !has_addresses_) fail("no instructions with their addresses are in it");
        std::vector<ExecutedFunction> all;
        for (auto& [key, function] : functions_)
            if (!function.instructions.empty()) all.push_back(std::move(function));
        return all;
    }

  private:
    [[noreturn]] static void fail(const std::string& what) { throw Error("callgrind's file: " + what); }

    void line(std::string_view text)
    {
        if (text.starts_with("0x")) return cost(text);
        const std::size_t equal = text.find('=');
        const std::string_view key = text.substr(0, std::min(equal, text.size()));
        const std::string_view value = equal == text.npos ? "" : text.substr(equal + 1);
        if (key == "ob")
            object_ = objects_.of(value), current_ = nullptr;
        else if (key == "fn")
            function_ = without_depth(names_.of(value)), current_ = nullptr;
        else if (key == "cob")
            objects_.of(value);
        else if (key == "cfn")
            names_.of(value);
        else if (key == "calls")
            is_call_ = true;
        else if (text.starts_with("events:"))
            set_events(text.substr(7));
        else if (text.starts_with("positions:"))
            has_addresses_ = trim(text.substr(10)) == "instr";
    }

    void set_events(std::string_view text)
    {
        static const std::map<std::string_view, double ExecutedInstruction::*> known{
            {"Ir", &ExecutedInstruction::times},           {"D1mr", &ExecutedInstruction::first_read},
            {"D1mw", &ExecutedInstruction::first_written}, {"DLmr", &ExecutedInstruction::last_read},
            {"DLmw", &ExecutedInstruction::last_written},  {"ILdmr", &ExecutedInstruction::written_back},
            {"DLdmr", &ExecutedInstruction::written_back}, {"DLdmw", &ExecutedInstruction::written_back}};
        events_.clear();
        while (true) {
            const std::string_view word = next_word(text);
            if (word.empty()) break;
            const auto found = known.find(word);
            events_.push_back(found == known.end() ? nullptr : found->second);
        }
    }

    /// A line of an instruction. The one after "calls=" has what the called function cost.
    void cost(std::string_view text)
    {
        if (std::exchange(is_call_, false)) return;
        ExecutedInstruction instruction;
        const std::string_view address = next_word(text).substr(2);
        std::from_chars(address.data(), address.data() + address.size(), instruction.address, 16);
        for (const auto member : events_) {
            const std::string_view word = next_word(text);
            if (word.empty()) break;  // events that never happened are left out at the end
            std::uint64_t count = 0;
            if (std::from_chars(word.data(), word.data() + word.size(), count).ptr != word.data() + word.size())
                fail(fmt::format("'{}' is not a number", printable(word)));
            if (member != nullptr) instruction.*member += static_cast<double>(count);
        }
        if (current_ == nullptr) {
            current_ = &functions_[{object_, function_}];
            current_->name = function_;
            current_->object = object_;
        }
        current_->instructions.push_back(instruction);
    }

    Names objects_, names_;
    std::string object_, function_;
    std::map<std::pair<std::string, std::string>, ExecutedFunction> functions_;
    ExecutedFunction* current_ = nullptr;
    std::vector<double ExecutedInstruction::*> events_;
    bool has_addresses_ = false;
    bool is_call_ = false;
};

}  // namespace

std::vector<ExecutedFunction> parse_callgrind(std::string_view text)
{
    return CallgrindReader().read(text);
}

namespace {

constexpr std::size_t largest_object = std::size_t{4} << 30;

template <class Header>
Header header_at(const std::string& content, std::uint64_t place, const std::filesystem::path& file)
{
    Header header;
    if (place > content.size() || content.size() - place < sizeof header)
        throw Error(file.string() + ": a header lies outside the file");
    std::memcpy(&header, content.data() + place, sizeof header);
    return header;
}

}  // namespace

ObjectCode::ObjectCode(const std::filesystem::path& file) : content_(read_file(file, largest_object))
{
    if (!content_.starts_with(ELFMAG) || content_.size() < EI_NIDENT || content_[EI_CLASS] != ELFCLASS64)
        throw Error(file.string() + ": it is no 64-bit ELF file");
    const auto top = header_at<Elf64_Ehdr>(content_, 0, file);
    for (std::uint64_t i = 0; i < top.e_phnum; ++i) {
        const auto segment = header_at<Elf64_Phdr>(content_, top.e_phoff + i * top.e_phentsize, file);
        if (segment.p_type != PT_LOAD || segment.p_offset > content_.size() ||
            segment.p_filesz > content_.size() - segment.p_offset)
            continue;
        segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz});
    }
}

std::span<const std::uint8_t> ObjectCode::at(std::uint64_t address) const
{
    for (const Segment& segment : segments_)
        if (address >= segment.address && address - segment.address < segment.bytes) {
            const std::uint64_t into = address - segment.address;
            return {reinterpret_cast<const std::uint8_t*>(content_.data()) + segment.place + into,
                    segment.bytes - into};
        }
    return {};
}

std::optional<std::uint64_t> ObjectCode::address_of(std::uint64_t place) const
{
    for (const Segment& segment : segments_)
        if (place >= segment.place && place - segment.place < segment.bytes)
            return place - segment.place + segment.address;
    return std::nullopt;
}

const ObjectCode* ObjectCodes::of(const std::string& file)
{
    const auto [known, is_new] = known_.try_emplace(file);
    try {
        if (is_new) known->second.emplace(file);
    } catch (const Error&) {  // code that is in no file, too
    }
    return known->second ? &*known->second : nullptr;
}

}  // namespace roof::analysis
