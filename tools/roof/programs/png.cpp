#include "tools/roof/programs/png.hpp"

#include "ert/base/error.hpp"
#include "tools/roof/programs/child_program.hpp"

namespace roof {

std::string make_png(std::span<const std::filesystem::path> pictures)
{
    if (!is_installed("rsvg-convert")) return "rsvg-convert is not installed (Debian package librsvg2-bin)";
    for (const std::filesystem::path& picture : pictures) {
        const std::filesystem::path png = std::filesystem::absolute(picture).replace_extension(".png");
        try {
            run_program({"rsvg-convert", "--zoom", "2", "--output", png, std::filesystem::absolute(picture)});
        } catch (const Error&) {
            std::filesystem::remove(png);
            return "rsvg-convert failed on " + picture.string();
        }
    }
    return {};
}

}  // namespace roof
