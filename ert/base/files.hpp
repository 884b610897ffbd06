// All functions that open files. Files are written whole or not at all; appended lines are flushed or removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace roof {

/// The file of the running program.
std::filesystem::path program_path();

// Where this program's shared objects lie: beside the executable in a build, in ../lib/roof of an installed one. Both
// are found from the executable, so that an installation can be moved.

/// `name` beside the program in `program_folder`, else in ../lib/roof of it. Throws Unsupported that names both places.
std::filesystem::path part_file(const std::string& name,
                                const std::filesystem::path& program_folder = program_path().parent_path());

/// The reason why this process may not read the file, or enter the folder; empty if it may, or there is none.
std::string why_not_read(const std::filesystem::path& place);

/// A stream over a regular file. It is in the state of failure if there is none, or it cannot be opened.
std::ifstream open_if_there(const std::filesystem::path& file);

/// The same; throws InputError with the reason instead.
std::ifstream open_to_read(const std::filesystem::path& file);

/// Largest file that is read into memory.
inline constexpr std::size_t largest_text = std::size_t{256} << 20;

/// The content of a regular file of at most `largest` bytes; throws InputError with the reason if it cannot be read.
std::string read_file(const std::filesystem::path& file, std::size_t largest = largest_text);

/// Writes a temporary file in the same folder, flushes and renames it: a reader sees the old content or the new one.
/// The last of several writers wins. A kill can leave the temporary file, `<name>.<six letters>.part`. A link of this
/// name is replaced, not followed: for files whose place the user did not name. Throws InputError with the system's
/// reason (no space, no permission, a folder, a pipe).
void write_file(const std::filesystem::path& file, const std::string& content);

/// The same for a file that the user named: a link is followed and stays. Content for a device, a pipe or this
/// process's standard output is written straight into it.
void write_chosen_file(const std::filesystem::path& file, const std::string& content);

/// Appends to a regular file, not through a link, and flushes to the device. On failure (such as a full disk) the file
/// is truncated to its former length and InputError thrown.
void append_file(const std::filesystem::path& file, const std::string& text);

/// Cuts the file after `length` bytes and flushes it.
void cut_file(const std::filesystem::path& file, std::size_t length);

/// Letters by chance.
std::string random_letters(int count);

/// Creates the folder and those above it, and flushes their names; throws InputError if that fails or a file stands
/// there.
void make_folder(const std::filesystem::path& folder);

/// The same for a folder that nobody else has made: false if something stands there.
bool make_new_folder(const std::filesystem::path& folder);

/// An exclusive lock on `folder` that the system drops when the process ends, however it ends.
class FolderLock {
  public:
    /// Throws InUse if another process holds it.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

    /// Whether a process holds one on `folder`. False where that cannot be known.
    static bool is_held(const std::filesystem::path& folder);

    /// Throws InputError if its file was removed or replaced, so that another process may hold a lock, too.
    void check() const;

  private:
    std::filesystem::path file_;
    int descriptor_ = -1;
};

// Files that gzip has compressed.

bool is_compressed(std::string_view bytes);
/// A gzip file of one member that holds `text`.
std::string compressed(std::string_view text);
/// The text of a gzip file of one or more members. Throws InputError with `name` if it is damaged, cut or too large.
std::string decompressed(std::string_view bytes, const std::string& name, std::size_t largest);

}  // namespace roof
