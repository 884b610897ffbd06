// roof-make-images: writes a folder of JPEG files, drawn by formulas, in the layout that image training reads.
#include "ert/base/error.hpp"
#include "tools/make_images/folder.hpp"
#include "tools/roof/console/options.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

namespace {

constexpr const char* usage = R"(usage: roof-make-images DIR [--classes N] [--per-class N] [--seed N]

Writes DIR/class_NN/image_NNN.jpg: drawn pictures, one kind of texture per class. Files that exist are kept.

  --classes N    number of classes [10]
  --per-class N  images in each class [20]
  --seed N       another seed draws other pictures [1]
)";

roof::make_images::FolderOptions parse(const std::vector<std::string>& arguments)
{
    roof::OptionParser parser("options", "roof-make-images --help");
    const std::string& folder = parser.required("DIR");
    const std::string& classes = parser.value("--classes", "10");
    const std::string& per_class = parser.value("--per-class", "20");
    const std::string& seed = parser.value("--seed", "1");
    parser.parse(arguments);
    constexpr int most = std::numeric_limits<int>::max();
    return {folder, roof::whole_number("--classes", classes, 1, most),
            roof::whole_number("--per-class", per_class, 1, most),
            static_cast<unsigned>(roof::whole_number("--seed", seed, 0, most))};
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto is_help = [](const std::string& argument) { return argument == "--help" || argument == "-h"; };
    if (std::ranges::any_of(arguments, is_help)) {
        std::cout << usage;
        return 0;
    }
    try {
        const roof::make_images::FolderOptions options = parse(arguments);
        const roof::make_images::FolderCounts counts = write_folder(options);
        std::cerr << options.folder.string() << ": " << counts.written << " images written, " << counts.kept
                  << " kept\n";
        return 0;
    } catch (const roof::InputError& error) {
        std::cerr << "roof-make-images: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "roof-make-images: " << error.what() << '\n';
        return 1;
    }
}
