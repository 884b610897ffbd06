#include "ert/base/files.hpp"

#include "ert/base/error.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <memory>

namespace roof {

bool is_compressed(std::string_view bytes)
{
    return bytes.starts_with("\x1F\x8B");
}

std::string compressed(std::string_view text)
{
    constexpr int level = 9;
    const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> writer(
        libdeflate_alloc_compressor(level), libdeflate_free_compressor);
    if (!writer) throw Error("libdeflate cannot start");
    std::string bytes(libdeflate_gzip_compress_bound(writer.get(), text.size()), '\0');
    bytes.resize(libdeflate_gzip_compress(writer.get(), text.data(), text.size(), bytes.data(), bytes.size()));
    return bytes;
}

std::string decompressed(std::string_view bytes, const std::string& name, std::size_t largest)
{
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> reader(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    if (!reader) throw Error("libdeflate cannot start");
    constexpr std::size_t first_room = std::size_t{1} << 16;  // a member that needs more is read again, with twice that
    std::string text;
    for (std::size_t room = first_room; !bytes.empty();) {
        const std::size_t before = text.size();
        room = std::min(room, largest - before);
        text.resize(before + room);
        std::size_t read = 0, written = 0;
        const libdeflate_result result = libdeflate_gzip_decompress_ex(reader.get(), bytes.data(), bytes.size(),
                                                                       text.data() + before, room, &read, &written);
        const bool is_small = result == LIBDEFLATE_INSUFFICIENT_SPACE;
        if (!is_small && result != LIBDEFLATE_SUCCESS)
            throw InputError(name + ": its compressed data are damaged or cut off");
        if (is_small && text.size() == largest)
            throw InputError(name + ": it holds more than " + std::to_string(largest >> 20) + " MiB of text");
        text.resize(before + written);
        bytes.remove_prefix(read);
        room = is_small ? 2 * room : first_room;
    }
    return text;
}

}  // namespace roof
