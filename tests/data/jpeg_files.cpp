// Writes files with TurboJPEG directly, so that the tests do not depend on the reader.
#include "tests/data/jpeg_files.hpp"

#include <turbojpeg.h>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace roof::test {
namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& file, const void* bytes, std::size_t size)
{
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    if (!out) throw std::runtime_error("cannot write " + file.string());
}

void compress(const fs::path& file, const std::vector<unsigned char>& pixels, int width, int height, int format,
              int subsampling)
{
    const tjhandle compressor = tjInitCompress();
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    if (tjCompress2(compressor, pixels.data(), width, 0, height, format, &bytes, &size, subsampling, 95, 0) != 0) {
        throw std::runtime_error(tjGetErrorStr2(compressor));
    }
    write_bytes(file, bytes, size);
    tjFree(bytes);
    tjDestroy(compressor);
}

}  // namespace

void write_plain(const fs::path& file, int width, int height, Rgb colour, Ink ink)
{
    std::vector<unsigned char> pixels;
    for (int pixel = 0; pixel < width * height; ++pixel) {
        pixels.insert(pixels.end(), colour.begin(), colour.end());
        if (ink == Ink::cmyk) pixels.push_back(128);
    }
    const int format = ink == Ink::cmyk ? TJPF_CMYK : TJPF_RGB;
    const int subsampling = ink == Ink::grey ? TJSAMP_GRAY : TJSAMP_444;
    compress(file, pixels, width, height, format, subsampling);
}

void write_halves(const fs::path& file, int width, int height)
{
    std::vector<unsigned char> pixels;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) pixels.insert(pixels.end(), 3, x < width / 2 ? 0 : 255);
    }
    compress(file, pixels, width, height, TJPF_RGB, TJSAMP_444);
}

void write_text(const fs::path& file, const std::string& text)
{
    write_bytes(file, text.data(), text.size());
}

void truncate_file(const fs::path& file, double share)
{
    fs::resize_file(file, static_cast<std::uintmax_t>(share * static_cast<double>(fs::file_size(file))));
}

void write_folder_of(const fs::path& folder, int classes, int per_class)
{
    for (int c = 0; c < classes; ++c) {
        const fs::path class_folder = folder / std::string(1, static_cast<char>('a' + c));
        for (int i = 0; i < per_class; ++i) {
            const Rgb colour{static_cast<unsigned char>(20 + 20 * i), static_cast<unsigned char>(30 + 60 * c), 128};
            write_plain(class_folder / (std::to_string(i) + ".jpg"), 48, 40, colour);
        }
    }
}

}  // namespace roof::test
