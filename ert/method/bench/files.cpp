#include "ert/method/bench/files.hpp"

#include "ert/base/error.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace roof {
namespace {

[[noreturn]] void fail(const std::string& what, const std::filesystem::path& file, int error)
{
    throw InputError("cannot " + what + " " + file.string() + ": " + std::strerror(error));
}

/// A file descriptor, closed on destruction.
class Descriptor {
  public:
    Descriptor(const std::filesystem::path& file, int flags) : number_(::open(file.c_str(), flags | O_CLOEXEC, 0644))
    {
        if (number_ < 0) fail("open", file, errno);
    }
    ~Descriptor() { ::close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

/// Returns 0 or the errno of the failed call.
int write_all(int descriptor, const std::string& text)
{
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : ENOSPC;
        done += static_cast<std::size_t>(written);
    }
    return ::fdatasync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

std::string read_file(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file)) throw InputError("cannot read " + file.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::filesystem::path& file, const std::string& content)
{
    std::filesystem::path temporary = file;
    temporary += ".part";
    int error = 0;
    {
        const Descriptor descriptor(temporary, O_WRONLY | O_CREAT | O_TRUNC);
        error = write_all(descriptor.number(), content);
    }
    if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        fail("write", file, error);
    }
}

void append_file(const std::filesystem::path& file, const std::string& text)
{
    const Descriptor descriptor(file, O_WRONLY | O_CREAT | O_APPEND);
    const off_t before = ::lseek(descriptor.number(), 0, SEEK_END);
    if (const int error = write_all(descriptor.number(), text); error != 0) {
        // If this fails, the next opening removes the incomplete line.
        if (::ftruncate(descriptor.number(), before) != 0) fail("write or truncate", file, error);
        fail("write", file, error);
    }
}

void make_folder(const std::filesystem::path& folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder)) {
        throw InputError("cannot create the folder " + folder.string() + ": " +
                         (error ? error.message() : "a file stands there"));
    }
}

FolderLock::FolderLock(const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / ".lock";
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail("write into", folder, errno);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        ::close(descriptor_);
        throw InputError("another run is writing to " + folder.string() +
                         "; wait for it, or give --out another folder");
    }
}

FolderLock::~FolderLock()
{
    ::close(descriptor_);
}

}  // namespace roof
