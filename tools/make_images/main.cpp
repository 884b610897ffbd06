// roof-make-images: writes a folder of JPEG files, drawn by formulas, in the layout that image training reads.
#include "ert/base/error.hpp"
#include "tools/make_images/folder.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

int main(int argc, char** argv)
{
    roof::make_images::FolderOptions options;
    CLI::App app{
        "Writes DIR/class_NN/image_NNN.jpg: drawn pictures, one kind of texture per class. Files that exist are kept."};
    app.add_option("dir", options.folder, "the folder; made if need be")->required()->type_name("DIR");
    app.add_option("--classes", options.classes, "number of classes")->capture_default_str();
    app.add_option("--per-class", options.per_class, "images in each")->capture_default_str();
    app.add_option("--seed", options.seed, "another seed draws other pictures")->capture_default_str();
    try {
        app.parse(argc, argv);
        const roof::make_images::FolderCounts counts = write_folder(options);
        std::cerr << options.folder.string() << ": " << counts.written << " images written, " << counts.kept
                  << " kept\n";
        return 0;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const roof::InputError& error) {
        std::cerr << "roof-make-images: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "roof-make-images: " << error.what() << '\n';
        return 1;
    }
}
