// The record divides the content into pieces, which are small compared with a huge page and large compared with the
// record.
#include "cpu/workspace.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::cpu {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;
/// The least size of a slice if memory allows, so that small working sets can lie at different places.
constexpr std::size_t roomy = std::size_t{32} << 20;
constexpr double share_for_room = 0.25;

}  // namespace

void write_content(std::byte* to, std::size_t from, std::size_t bytes)
{
    auto* const words = reinterpret_cast<std::uint64_t*>(to);
    const std::size_t first = from / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) words[i] = content(first + i);
}

Slice::Slice(std::size_t bytes, const std::string& what_for, const Mapping& mapping)
    : buffer_(bytes, what_for, mapping), pieces_(buffer_.size() / piece_bytes)
{
}

template <class Use>
void Slice::for_pieces(std::size_t from, std::size_t bytes, const Use& use)
{
    const std::size_t end = (from + bytes + piece_bytes - 1) / piece_bytes;
    for (std::size_t i = from / piece_bytes; i < end; ++i) use(pieces_[i], i * piece_bytes);
}

void Slice::write(Piece& piece, std::size_t at, Writer writer)
{
    writer(data() + at, at, piece_bytes);
    piece = {true, writer};
}

void Slice::ensure(Writer writer, std::size_t from, std::size_t bytes)
{
    for_pieces(from, bytes, [&](Piece& piece, std::size_t at) {
        if (piece.holds != writer) write(piece, at, writer);
    });
}

void Slice::overwrite(std::size_t from, std::size_t bytes)
{
    for_pieces(from, bytes, [&](Piece& piece, std::size_t at) {
        if (!piece.touched) write(piece, at, write_content);
        piece.holds = nullptr;
    });
}

double Workspace::missing(const Mapping& mapping, int threads, std::size_t bytes) const
{
    const auto found = slices_.find(mapping);
    double sum = 0;
    for (int thread = 0; thread < threads; ++thread) {
        const bool is_there = found != slices_.end() && found->second.size() > static_cast<std::size_t>(thread);
        const std::size_t held = is_there ? found->second[thread].size() : 0;
        if (held < bytes) sum += static_cast<double>(bytes - held);
    }
    return sum;
}

void Workspace::reserve(const Mapping& mapping, int threads, std::size_t bytes)
{
    const Bytes wanted{missing(mapping, threads, bytes)};
    if (wanted.value == 0) return;
    const std::string what_for = "the working set of " + std::to_string(threads) + " threads";
    std::erase_if(slices_, [&](const auto& entry) { return entry.first.node != mapping.node; });
    if (wanted > available_for(mapping))
        std::erase_if(slices_, [&](const auto& entry) { return entry.first != mapping; });
    const Bytes available = available_for(mapping);
    if (wanted > available) throw OutOfMemory(wanted, available, what_for);

    const bool is_plenty = missing(mapping, threads, roomy) <= share_for_room * available.value;
    const std::size_t size = is_plenty ? std::max(bytes, roomy) : bytes;
    std::vector<Slice>& slices = slices_[mapping];
    if (slices.size() < static_cast<std::size_t>(threads)) slices.resize(threads);
    for (int thread = 0; thread < threads; ++thread) {
        if (slices[thread].size() >= bytes) continue;
        slices[thread] = Slice();
        slices[thread] = Slice(size, what_for, mapping);
    }
}

std::size_t Workspace::place(const Mapping& mapping, int threads, std::size_t bytes, int round) const
{
    const std::vector<Slice>& slices = slices_.at(mapping);
    std::size_t least = slices.front().size();
    for (int thread = 1; thread < threads; ++thread) least = std::min(least, slices[thread].size());
    const std::size_t taken = in_huge_pages(bytes);
    const std::size_t places = (least - taken) / Buffer::huge_page + 1;
    return taken / Buffer::huge_page * static_cast<std::size_t>(round) % places * Buffer::huge_page;
}

}  // namespace roof::cpu
