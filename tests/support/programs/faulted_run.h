// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/exit_codes.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/swift_run.h"

#include <QFileInfo>
#include <QRandomGenerator>
#include <QTest>

#include <set>

/// swift-run under the library of fault_shim.cpp.
namespace support {

/// Runs it while the call of this kind and number fails; 0 = none. The number of calls goes to the
/// file.
inline ProgramRun runWithFault(const QStringList& arguments,
                               const QByteArray& input,
                               const QString& kind,
                               long at,
                               const QString& countFile) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LD_PRELOAD", QFileInfo(TEST_FAULT_SHIM).absoluteFilePath());
    environment.insert("SWIFT_FAULT_KIND", kind);
    environment.insert("SWIFT_FAULT_AT", QString::number(at));
    environment.insert("SWIFT_FAULT_COUNT", countFile);
    return runProgram(swiftRunPath(), arguments, input, environment);
}

/// Of the first and the last of all calls so many, and one between; all of them if
/// SWIFT_STUDIO_FULL_FAULTS is 1.
inline std::set<long> sampleOfCalls(long count, long ends) {
    const bool isFull = qEnvironmentVariable("SWIFT_STUDIO_FULL_FAULTS") == "1";
    std::set<long> sample;
    for (long n = 1; n <= count; ++n)
        if (isFull || n <= ends || n > count - ends)
            sample.insert(n);
    if (!isFull && count > 2 * ends)
        sample.insert(ends + 1 +
                      QRandomGenerator(static_cast<quint32>(count))
                          .bounded(static_cast<int>(count - 2 * ends)));
    return sample;
}

/// The kinds of calls, as rows of a test.
inline void addCallKinds() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"write", "flush", "read", "open", "rename", "alloc"})
        QTest::newRow(kind) << kind;
}

/// Lets the calls of a kind fail, one in each run: each run ends well, or with its exit code and a
/// sentence. `forget` comes before a run; behind it `goOn` is told what the program said.
template <typename Forget, typename GoOn>
void failEachCall(const QStringList& arguments,
                  const QString& kind,
                  const QString& countFile,
                  Forget forget,
                  GoOn goOn) {
    forget();
    const ProgramRun whole = runWithFault(arguments, {}, kind, 0, countFile);
    QVERIFY2(whole.exitCode == app::kSuccess, whole.errors.constData());
    const long count = fileBytes(countFile).trimmed().toLong();
    QVERIFY(count > 0);
    const int expected = kind == "alloc" ? app::kNoMemory : app::kIo;
    for (const long n : sampleOfCalls(count, 1)) {
        forget();
        const ProgramRun failed = runWithFault(arguments, {}, kind, n, countFile);
        const QString place =
            QString("%1 of %2, exit code %3: ").arg(n).arg(count).arg(failed.exitCode);
        const QByteArray told = place.toUtf8() + failed.errors;
        QVERIFY2(failed.exitCode == app::kSuccess || failed.exitCode == expected, told.constData());
        QVERIFY2(failed.exitCode == app::kSuccess || failed.errors.contains("swift-run: "),
                 told.constData());
        goOn(told);
        if (QTest::currentTestFailed())
            return;
    }
}

} // namespace support
