// Sources of batches: images as NCHW floats and their labels.
#pragma once

#include "ert/base/units.hpp"
#include "workloads/model/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace roof::data {

struct Batch {
    const float* images =
        nullptr;  ///< [n][3][height][width], normalised, or [n][tokens]; valid until the next call of next()
    const int* labels = nullptr;  ///< [n][labels of an image]
    bool fresh = false;           ///< false: same memory and contents as in the previous batch
};

struct SourceFacts {
    std::size_t images = 0;            ///< number of distinct usable images; 0 for synthetic and hashed
    int classes = 0;                   ///< labels are 0 … classes - 1
    std::vector<std::string> skipped;  ///< "file: reason" for each broken file so far
};

/// A source of batches of one size. Worker threads, if it has any, end when its last copy is destroyed.
struct Source {
    std::function<Batch()> next;         ///< waits for the next batch; throws Error
    std::function<SourceFacts()> facts;  ///< values may grow while the source is in use
};

/// What a network reads.
struct Form {
    model::Shape image;
    int classes = 0;
    int vocabulary = 0;   ///< the values of an image are numbers of so many tokens; 0: pixels
    int labels_each = 1;  ///< of an image

    static Form of(const model::Graph& graph)
    {
        return {graph.layer(0).output, graph.classes(), graph.vocabulary(), graph.labels_each()};
    }
};

/// Selects one rank's part of the common batches of several ranks.
struct Share {
    int rank = 0;
    int ranks = 1;
};

/// Throws InputError if `where` is neither a keyword of open_source() nor a folder with images. Opens no image file.
void require_source(const std::string& where);

/// `where` is one of:
/// - "synthetic": one batch in memory with random normal values and random labels, always seed 1; of tokens, random
/// ones, each labelled by
///   the next;
/// - "hashed": the parity batch of workloads/model/hashed.hpp, in memory;
/// - a folder `class/name.jpg` (or .jpeg, in any case). Images get a random resized crop to `image`, a random flip, and
///   ImageNet's mean and deviation. `workers` threads decode ahead. A label is the index of the class folder in
///   alphabetical order. Batches depend on the files and `seed`, not on `workers`. Each epoch has a new order; a batch
///   may span two epochs. The next usable image of the epoch replaces a broken file.
/// With several ranks, `batch` is that of one rank; together they read what one rank with the whole batch reads. Throws
/// InputError if the folder is missing, is a file, has no class folders, no images, more classes than `classes` or
/// fewer usable images than `batch`; for `batch` or `workers` below 1, and a folder where the network reads tokens.
Source open_source(const std::string& where, int batch, const Form& form, int workers, unsigned seed,
                   const Share& share = {});

/// The memory of such a source's batches. A decoder's buffers, as large as the photo that it reads, come on top.
Bytes bytes_of_source(const std::string& where, int batch, const Form& form, const Share& share = {});

// Lists the files of an image folder and their labels. Numbers classes as torchvision's ImageFolder does.

struct ImageFile {
    std::filesystem::path path;
    int label = 0;  ///< index of its class folder in alphabetical order
};

struct ImageList {
    std::vector<std::string> classes;
    std::vector<ImageFile> images;  ///< sorted by class, then by name
};

/// Lists `folder`/class/name.jpg without hidden folders. Throws InputError with what was found instead.
ImageList list_images(const std::filesystem::path& folder);

// The order of an epoch as a function without state, so that any worker can ask for any position.

/// Returns the image at `place` in the order of `key`: a permutation of 0 … count - 1. A Feistel network of four rounds
/// over the next power of four, repeated until the value is below `count` (fewer than four times on average).
std::uint64_t shuffled(std::uint64_t place, std::uint64_t count, std::uint64_t key);

/// Makes a key or a random seed from two numbers. Similar inputs give unrelated results (splitmix64).
std::uint64_t combined(std::uint64_t a, std::uint64_t b);

}  // namespace roof::data
