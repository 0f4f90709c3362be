// SPDX-License-Identifier: Apache-2.0
#include "app/streams/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace app {

using namespace engine;

namespace {

constexpr std::size_t kPieceBytes = 65536;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error readFailed(const std::string& name, int failure) {
    return {ErrorCode::Io,
            fmt::format("{} cannot be read: {}.", name, std::generic_category().message(failure)),
            failure == EISDIR ? "Give a text file or a pipe, not a folder."
                              : "Check where it comes from, and its permissions."};
}

} // namespace

TextInput TextInput::standard() { return {"standard input", STDIN_FILENO}; }

Result<TextInput> TextInput::open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
        return Error{ErrorCode::NotFound,
                     fmt::format("{} does not exist.", path),
                     "Check the path; - reads from standard input."};
    if (descriptor < 0)
        return readFailed(path, errno);
    TextInput input(path, descriptor);

    struct stat status {};

    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is a folder, not a text file.", path),
                     "Name a file in it."};
    return input;
}

TextInput::TextInput(TextInput&& other) noexcept
    : m_name(std::move(other.m_name))
    , m_descriptor(std::exchange(other.m_descriptor, STDIN_FILENO))
    , m_buffer(std::move(other.m_buffer))
    , m_taken(other.m_taken)
    , m_isBegin(other.m_isBegin) {}

TextInput::~TextInput() {
    if (m_descriptor != STDIN_FILENO)
        ::close(m_descriptor);
}

Result<bool> TextInput::readOn() {
    m_buffer.erase(0, std::exchange(m_taken, 0));
    const std::size_t before = m_buffer.size();
    m_buffer.resize(before + kPieceBytes);
    ssize_t count = 0;
    do
        count = ::read(m_descriptor, m_buffer.data() + before, kPieceBytes);
    while (count < 0 && errno == EINTR);
    const int failure = errno;
    m_buffer.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0)
        return readFailed(m_name, failure);
    return count > 0;
}

std::string TextInput::withoutMark(std::string text) {
    if (std::exchange(m_isBegin, false) && text.starts_with(kByteOrderMark))
        text.erase(0, kByteOrderMark.size());
    return text;
}

Result<std::optional<std::string>> TextInput::nextLine(std::size_t mostBytes) {
    std::size_t searched = 0;
    while (true) {
        const std::size_t end = m_buffer.find('\n', m_taken + searched);
        const std::size_t length = std::min(end, m_buffer.size()) - m_taken;
        if (length > mostBytes)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("the line has more than {} bytes.", mostBytes),
                         "Break it into shorter lines."};
        if (end != std::string::npos) {
            std::string line = withoutMark(m_buffer.substr(m_taken, length));
            m_taken = end + 1;
            return std::optional(std::move(line));
        }
        searched = length;
        ENGINE_TRY(const bool hasMore, readOn());
        if (hasMore)
            continue;
        std::string line = withoutMark(std::exchange(m_buffer, {}));
        return line.empty() ? std::optional<std::string>() : std::optional(std::move(line));
    }
}

Result<std::string> TextInput::rest(std::size_t mostBytes) {
    while (m_buffer.size() - m_taken <= mostBytes) {
        ENGINE_TRY(const bool hasMore, readOn());
        if (!hasMore)
            return withoutMark(std::exchange(m_buffer, {}));
    }
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} has more than {} bytes.", m_name, mostBytes),
                 "No context holds that much; shorten it."};
}

} // namespace app
