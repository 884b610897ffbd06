// Interprets `where`: one of two keywords, or else a folder.
#include "workloads/data/source.hpp"

#include "ert/base/error.hpp"
#include "workloads/data/folder.hpp"
#include "workloads/data/image_list.hpp"
#include "workloads/data/resident.hpp"

namespace roof::data {

void require_source(const std::string& where)
{
    if (where != "synthetic" && where != "hashed") list_images(where);
}

Source open_source(const std::string& where, int batch, const model::Shape& image, int classes, int workers,
                   unsigned seed, const Share& share)
{
    if (batch < 1) throw InputError("a batch holds at least 1 image, not " + std::to_string(batch));
    if (where == "synthetic") return synthetic_source(batch, image, classes, share);
    if (where == "hashed") return hashed_source(batch, image, classes, share);
    return folder_source({.folder = where,
                          .batch = batch,
                          .image = image,
                          .classes = classes,
                          .workers = workers,
                          .seed = seed,
                          .share = share});
}

}  // namespace roof::data
