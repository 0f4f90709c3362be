// SPDX-License-Identifier: Apache-2.0
#include "engine/base/locks/processor_loan.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace engine {

namespace {

/// How often and how long a borrower looks. It sleeps in between, so that the system puts it on the
/// processor that has become free.
constexpr int kLooks = 20;
constexpr auto kLook = std::chrono::microseconds(50);

/// Threads of this process that need a processor. On a cache line of its own, because those that
/// compute read it between all their parts.
struct alignas(64) Asking {
    std::atomic<std::uint32_t> borrowers = 0;
};

Asking asking;

struct alignas(64) Lending {
    std::atomic<int> awake = 0; ///< lenders that compute or wait for work without sleeping
    std::atomic<int> lent = 0;  ///< those of them that sleep because they were asked
};

Lending lending;

} // namespace

void ProcessorLoan::take() {
    if (m_isTaken)
        return;
    m_isTaken = true;
    asking.borrowers.fetch_add(1);
    for (int look = 0; look < kLooks && lending.awake.load() > 0 && lending.lent.load() == 0;
         ++look)
        std::this_thread::sleep_for(kLook);
}

void ProcessorLoan::giveBack() {
    if (!m_isTaken)
        return;
    m_isTaken = false;
    if (asking.borrowers.fetch_sub(1) == 1)
        asking.borrowers.notify_all();
}

ProcessorLender::ProcessorLender(bool lends)
    : m_lends(lends) {
    setAwake(true);
}

ProcessorLender::~ProcessorLender() { setAwake(false); }

bool ProcessorLender::isAsked() const {
    return m_lends && asking.borrowers.load(std::memory_order_relaxed) > 0;
}

void ProcessorLender::lend() {
    lending.lent.fetch_add(1);
    for (std::uint32_t borrowers = asking.borrowers.load(); borrowers > 0;
         borrowers = asking.borrowers.load())
        asking.borrowers.wait(borrowers);
    lending.lent.fetch_sub(1);
}

void ProcessorLender::setAwake(bool isAwake) {
    if (m_lends)
        lending.awake.fetch_add(isAwake ? 1 : -1);
}

} // namespace engine
