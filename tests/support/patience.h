// SPDX-License-Identifier: Apache-2.0
// How long tests wait. A test waits for what must happen, never for a time, and no test fails
// because the machine is slow: the limits below only end a test that hangs. Every program of
// add_studio_test() reads this file before its own sources.
#pragma once

#include <QTest>

#include <chrono>
#include <ctime>

namespace support {

/// After this time a missing event counts as a hang. SWIFT_STUDIO_TEST_PATIENCE sets another number
/// of seconds, for a developer who waits for a test to fail.
inline const int kPatienceMs = [] {
    bool isNumber = false;
    const int seconds = qEnvironmentVariableIntValue("SWIFT_STUDIO_TEST_PATIENCE", &isNumber);
    return isNumber ? 1000 * seconds : 300'000;
}();

/// Waits until `isSo()` is true, while events are processed.
template <typename Predicate> void waitUntil(Predicate isSo) {
    static_cast<void>(
        QTest::qWaitFor([&] { return isSo() || QTest::currentTestFailed(); }, kPatienceMs));
}

/// The processor time of this thread, not the elapsed time, so that other programs do not affect
/// it.
class ProcessorClock {
public:
    double ms() const { return now() - m_begin; }

private:
    static double now() {
        timespec time = {};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
    }

    double m_begin = now();
};

/// Milliseconds of processor time allowed for any small input: many times the real cost, but less
/// than that of an algorithm of quadratic or higher order.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kEndsSoonMs = 20'000.0; // the checks of sanitizers take time, too
#else
inline constexpr double kEndsSoonMs = 5'000.0;
#endif

} // namespace support

// Qt's own macros give up after 5 seconds.
#undef QTRY_VERIFY
#undef QTRY_VERIFY2
#undef QTRY_COMPARE
#define QTRY_VERIFY(expression)                                                                    \
    do {                                                                                           \
        support::waitUntil([&] { return static_cast<bool>(expression); });                         \
        QVERIFY(expression);                                                                       \
    } while (false)
#define QTRY_VERIFY2(expression, message)                                                          \
    do {                                                                                           \
        support::waitUntil([&] { return static_cast<bool>(expression); });                         \
        QVERIFY2(expression, message);                                                             \
    } while (false)
#define QTRY_COMPARE(found, expected)                                                              \
    do {                                                                                           \
        support::waitUntil([&] { return (found) == (expected); });                                 \
        QCOMPARE(found, expected);                                                                 \
    } while (false)
