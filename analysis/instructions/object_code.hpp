// The code of a program or library, read from its ELF file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

class ObjectCode {
  public:
    /// Throws InputError if the file cannot be read, and Error if it is no 64-bit ELF file.
    explicit ObjectCode(const std::filesystem::path& file);

    /// The bytes from an address, as the linker gave it, to the end of its segment; empty outside the segments.
    std::span<const std::uint8_t> at(std::uint64_t address) const;
    /// The address of a place in the file; nullopt outside the segments.
    std::optional<std::uint64_t> address_of(std::uint64_t place) const;

  private:
    struct Segment {
        std::uint64_t address, place, bytes;
    };
    std::string content_;
    std::vector<Segment> segments_;
};

/// The code of files, each read once.
class ObjectCodes {
  public:
    /// Null for a file that is gone or not readable.
    const ObjectCode* of(const std::string& file);

  private:
    std::map<std::string, std::optional<ObjectCode>> known_;
};

}  // namespace roof::analysis
