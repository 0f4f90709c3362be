// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/run_control.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <poll.h>

namespace app {

namespace {

constexpr std::size_t kLongestLine = 256;

} // namespace

RunControl::RunControl(RunPause& pause, InterruptWatcher& interrupt)
    : m_pause(pause)
    , m_interrupt(interrupt)
    , m_wake(::eventfd(0, EFD_CLOEXEC))
    , m_thread([this] { follow(); }) {}

RunControl::~RunControl() {
    const std::uint64_t one = 1;
    while (::write(m_wake, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    m_thread.join();
    ::close(m_wake);
}

void RunControl::take(std::string_view line) {
    if (line == "pause")
        m_pause.set(true);
    else if (line == "resume")
        m_pause.set(false);
    else if (line == "stop")
        m_interrupt.stopWork();
}

void RunControl::follow() {
    std::string pending;
    while (true) {
        std::array<pollfd, 2> watched = {{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                          {.fd = m_wake, .events = POLLIN, .revents = 0}}};
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
            return;
        if (watched[1].revents != 0)
            return;
        if (watched[0].revents == 0)
            continue;
        std::array<char, kLongestLine> bytes{};
        const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            m_interrupt.stopWork();
            return;
        }
        pending.append(bytes.data(), static_cast<std::size_t>(count));
        for (std::size_t end = pending.find('\n'); end != std::string::npos;
             end = pending.find('\n')) {
            take(std::string_view(pending).substr(0, end));
            pending.erase(0, end + 1);
        }
        if (pending.size() > kLongestLine)
            pending.clear();
    }
}

} // namespace app
