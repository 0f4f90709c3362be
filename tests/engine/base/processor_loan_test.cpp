// SPDX-License-Identifier: Apache-2.0
#include "engine/base/locks/processor_loan.h"

#include <QTest>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

using namespace engine;

namespace {

/// Lends whenever it is asked, and counts what it does in between.
class Lending {
public:
    explicit Lending(bool lends)
        : m_thread([this, lends](const std::stop_token& stop) {
            ProcessorLender lender(lends);
            while (!stop.stop_requested()) {
                if (lender.isAsked()) {
                    ++asked;
                    lender.lend();
                    ++returned;
                }
                ++worked;
            }
        }) {}

    std::atomic<int> asked = 0;
    std::atomic<int> returned = 0;
    std::atomic<std::uint64_t> worked = 0;

private:
    std::jthread m_thread;
};

void waitFor(const std::function<bool()>& isDone) {
    while (!isDone())
        std::this_thread::yield();
}

} // namespace

class ProcessorLoanTest : public QObject {
    Q_OBJECT

private slots:

    void aLenderStandsStillUntilNobodyNeedsAProcessor() {
        Lending lending(true);
        for (int round = 1; round <= 20; ++round) {
            ProcessorLoan one;
            ProcessorLoan other;
            one.take();
            other.take();
            waitFor([&] { return lending.asked == round; });
            const std::uint64_t worked = lending.worked;
            one.giveBack();
            one.giveBack(); // changes nothing
            std::this_thread::yield();
            QCOMPARE(lending.returned.load(), round - 1);
            QCOMPARE(lending.worked.load(), worked);
            other.giveBack();
            waitFor([&] { return lending.returned == round && lending.worked > worked; });
        }
    }

    void aLoanEndsWithItsObject() {
        Lending lending(true);
        {
            ProcessorLoan loan;
            loan.take();
            waitFor([&] { return lending.asked == 1; });
        }
        waitFor([&] { return lending.returned == 1; });
    }

    void aThreadThatKeepsItsProcessorIsNotAsked() {
        Lending lending(false);
        ProcessorLoan loan;
        loan.take();
        const std::uint64_t worked = lending.worked;
        waitFor([&] { return lending.worked > worked + 1000; });
        QCOMPARE(lending.asked.load(), 0);
    }
};

QTEST_GUILESS_MAIN(ProcessorLoanTest)
#include "processor_loan_test.moc"
