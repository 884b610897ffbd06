// Files that gzip has compressed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace roof {

bool is_compressed(std::string_view bytes);

/// A gzip file of one member that holds `text`.
std::string compressed(std::string_view text);

/// The text of a gzip file, of one or several members. Throws InputError, which names `name`, if it is damaged, cut off, or longer than
/// `largest`.
std::string decompressed(std::string_view bytes, const std::string& name, std::size_t largest);

}  // namespace roof
