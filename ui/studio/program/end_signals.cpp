// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/program/end_signals.h"

#include <QSocketNotifier>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace ui {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};

/// A signal handler may do little more than write a byte; the other end wakes the event loop.
std::array<int, 2> g_ends = {-1, -1};

void noteSignal(int) {
    const char byte = 1;
    [[maybe_unused]] const ssize_t written = write(g_ends[0], &byte, 1);
}

void setHandlers(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = handler == SIG_DFL ? 0 : SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int number : kSignals)
        sigaction(number, &action, nullptr);
}

} // namespace

EndSignals::EndSignals(QObject* parent)
    : QObject(parent) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, g_ends.data()) != 0)
        return; // without it the signals end the program as they would anyway
    auto* notifier = new QSocketNotifier(g_ends[1], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this] {
        char byte = 0;
        if (read(g_ends[1], &byte, 1) == 1)
            emit endAsked();
    });
    setHandlers(&noteSignal);
}

EndSignals::~EndSignals() {
    setHandlers(SIG_DFL);
    for (int& end : g_ends)
        if (end >= 0)
            close(std::exchange(end, -1));
}

} // namespace ui
