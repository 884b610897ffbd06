// The formatting library, compiled in: its shared object would bring a C++ library of its own into others' programs.
#include <fmt/format-inl.h>

// Functions that the library declares without their code.
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
