// SPDX-License-Identifier: Apache-2.0
#include "app/streams/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <poll.h>
#include <system_error>
#include <utility>

namespace app {

namespace {

struct State {
    int failure = 0; // errno of the first write that failed
    std::function<void()> onLoss;
};

State& state() {
    static State only;
    return only;
}

void lose(int failure) {
    state().failure = failure;
    if (const auto handler = std::exchange(state().onLoss, nullptr))
        handler();
}

/// Whether a failed write may be retried; waits for a slow reader.
bool mayTryAgain(int failure) {
    if (failure == EINTR)
        return true;
    if (failure != EAGAIN)
        return false;
    pollfd waiting{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&waiting, 1, -1) >= 0 || errno == EINTR;
}

} // namespace

void holdStandardStreams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF)
            continue;
        // The lowest free number is this one. It is opened so that its intended use fails.
        const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (opened != stream && opened >= 0)
            ::close(opened);
    }
}

void StandardOutput::write(std::string_view bytes) {
    while (state().failure == 0 && !bytes.empty()) {
        const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (count >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
        else if (const int failure = errno; !mayTryAgain(failure))
            lose(failure);
    }
}

void StandardOutput::onLoss(std::function<void()> handler) { state().onLoss = std::move(handler); }

bool StandardOutput::isLost() { return state().failure != 0; }

engine::Result<void> StandardOutput::finish() {
    // Network file systems may report a failed write only when a descriptor is closed.
    if (const int copy = ::dup(STDOUT_FILENO); copy >= 0 && ::close(copy) != 0)
        if (const int failure = errno; state().failure == 0 && failure != EINTR)
            lose(failure);
    if (state().failure == 0)
        return {};
    return engine::Error{engine::ErrorCode::Io,
                         fmt::format("Standard output cannot be written: {}; the output is "
                                     "incomplete.",
                                     std::generic_category().message(state().failure)),
                         "Send it to a file or a program that can take it, and run the command "
                         "again."};
}

} // namespace app
