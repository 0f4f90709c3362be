// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/experiment/executor.h"
#include "app/interrupt.h"

#include <thread>

namespace app {

/// Follows what another program writes to standard input: the lines "pause", "resume" and "stop";
/// the end of the input stops, too, so that nothing goes on when that program has ended. Other
/// lines are passed over. It has a thread of its own until it is destroyed.
class RunControl {
public:
    RunControl(RunPause& pause, InterruptWatcher& interrupt);
    ~RunControl();
    RunControl(const RunControl&) = delete;
    RunControl& operator=(const RunControl&) = delete;

private:
    void follow();
    void take(std::string_view line);

    RunPause& m_pause;
    InterruptWatcher& m_interrupt;
    int m_wake = -1; // an eventfd that ends the thread
    std::thread m_thread;
};

} // namespace app
