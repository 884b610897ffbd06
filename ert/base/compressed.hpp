// Files that gzip has compressed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace roof {

bool is_compressed(std::string_view bytes);

/// A gzip file of one member that holds `text`.
std::string compressed(std::string_view text);

/// The text of a gzip file of one or more members. Throws InputError with `name` if it is damaged, cut or too large.
std::string decompressed(std::string_view bytes, const std::string& name, std::size_t largest);

}  // namespace roof
