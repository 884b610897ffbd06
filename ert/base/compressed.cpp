#include "ert/base/compressed.hpp"

#include "ert/base/error.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace roof {

bool is_compressed(std::string_view bytes)
{
    return bytes.starts_with("\x1F\x8B");
}

std::string decompressed(std::string_view bytes, const std::string& name, std::size_t largest)
{
    constexpr int with_header = 16 + MAX_WBITS;  // of gzip
    z_stream stream{};
    if (inflateInit2(&stream, with_header) != Z_OK) throw Error("zlib cannot start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, inflateEnd);
    std::string text;
    std::vector<char> part(std::size_t{1} << 18);
    while (!bytes.empty()) {
        const std::size_t given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib reads only
        stream.avail_in = static_cast<uInt>(given);
        int state = Z_OK;
        do {
            stream.next_out = reinterpret_cast<Bytef*>(part.data());
            stream.avail_out = static_cast<uInt>(part.size());
            state = inflate(&stream, Z_NO_FLUSH);
            if (state != Z_OK && state != Z_STREAM_END)
                throw InputError(name + ": its compressed data are damaged or cut off");
            text.append(part.data(), part.size() - stream.avail_out);
            if (text.size() > largest)
                throw InputError(name + ": it holds more than " + std::to_string(largest >> 20) + " MiB of text");
        } while (state == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
        bytes.remove_prefix(given - stream.avail_in);
        if (state == Z_OK) throw InputError(name + ": its compressed data are damaged or cut off");
        inflateReset(&stream);
    }
    return text;
}

}  // namespace roof
