#include "tools/roof/programs/png.hpp"

#include "tools/roof/console/shell.hpp"

#include <cstdlib>
#include <vector>

namespace roof {

std::string make_png(std::span<const std::filesystem::path> pictures)
{
    if (std::system("command -v rsvg-convert >/dev/null 2>&1") != 0)
        return "rsvg-convert is not installed (Debian package librsvg2-bin)";
    for (const std::filesystem::path& picture : pictures) {
        std::filesystem::path png = picture;
        png.replace_extension(".png");
        const std::vector<std::string> words{"rsvg-convert",
                                             "--zoom",
                                             "2",
                                             "--output",
                                             std::filesystem::absolute(png),
                                             std::filesystem::absolute(picture)};
        if (std::system(shell_line(words).c_str()) == 0) continue;
        std::filesystem::remove(png);
        return "rsvg-convert failed on " + picture.string();
    }
    return {};
}

}  // namespace roof
