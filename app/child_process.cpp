// SPDX-License-Identifier: Apache-2.0
#include "app/child_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <thread>

extern char** environ; // NOLINT(readability-redundant-declaration): posix_spawn needs it

namespace app {

using namespace engine;

namespace {

constexpr std::chrono::milliseconds kPoll{2};

/// A file in memory, closed at the end.
class MemoryFile {
public:
    explicit MemoryFile(const char* name)
        : m_file(memfd_create(name, MFD_CLOEXEC)) {}

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    ~MemoryFile() {
        if (m_file >= 0)
            close(m_file);
    }

    int file() const { return m_file; }

    bool write(const std::string& text) const {
        return m_file >= 0 &&
               ::write(m_file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
               lseek(m_file, 0, SEEK_SET) == 0;
    }

    /// The last bytes of it.
    std::string tail(std::size_t most) const {
        const off_t size = lseek(m_file, 0, SEEK_END);
        const off_t from = std::max<off_t>(0, size - static_cast<off_t>(most));
        std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
        const ssize_t count = pread(m_file, text.data(), text.size(), from);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
        return text;
    }

private:
    int m_file;
};

Error cannotStart(const std::string& program) {
    return {ErrorCode::Io,
            fmt::format("The program {} could not be started.", program),
            "Free some memory."};
}

/// 0, or the system's error.
int spawn(std::vector<std::string> words, int in, int out, int errors, pid_t& child) {
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    const int failure =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

} // namespace

bool ChildOutput::hasSucceeded() const {
    return hasEnded && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<ChildOutput> runChild(const ChildCommand& command, const std::stop_token& stop) {
    ENGINE_CHECK(!command.words.empty(), "a command without words");
    const std::string& program = command.words.front();
    const MemoryFile in("input");
    const MemoryFile out("output");
    const MemoryFile errors("errors");
    if (!in.write(command.input) || out.file() < 0 || errors.file() < 0)
        return cannotStart(program);
    pid_t child = 0;
    const int failure = spawn(command.words, in.file(), out.file(), errors.file(), child);
    if (failure == ENOENT)
        return Error{ErrorCode::NotFound,
                     fmt::format("The program {} was not found.", program),
                     "Install it, or correct PATH."};
    if (failure != 0)
        return cannotStart(program);
    ChildOutput made;
    const auto end = std::chrono::steady_clock::now() + command.limit;
    while (waitpid(child, &made.status, WNOHANG) == 0) {
        const bool isLate = std::chrono::steady_clock::now() > end;
        if (isLate || stop.stop_requested()) {
            kill(child, SIGKILL);
            waitpid(child, &made.status, 0);
            made.hasEnded = false;
            break;
        }
        std::this_thread::sleep_for(kPoll);
    }
    if (stop.stop_requested())
        return Error{
            ErrorCode::Cancelled, fmt::format("The program {} was cancelled.", program), ""};
    made.output = out.tail(command.mostOutput);
    made.errors = errors.tail(command.mostOutput);
    return made;
}

} // namespace app
