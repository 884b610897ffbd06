#include "analysis/instructions/object_code.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <elf.h>

#include <cstring>

namespace roof::analysis {
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
