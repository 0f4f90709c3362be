// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/programs/swift_run.h"

#include <QFileInfo>
#include <QProcess>
#include <QRandomGenerator>

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
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(swiftRunPath(SWIFT_STUDIO_BIN_DIR), arguments);
    process.write(input);
    process.closeWriteChannel();
    process.waitForFinished(-1);
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            process.readAllStandardOutput(),
            process.readAllStandardError()};
}

/// Of the first and the last of all calls so many, and some between; all of them if
/// SWIFT_STUDIO_FULL_FAULTS is 1.
inline std::set<long> sampleOfCalls(long count, long ends) {
    constexpr int kBetween = 4;
    const bool isFull = qEnvironmentVariable("SWIFT_STUDIO_FULL_FAULTS") == "1";
    std::set<long> sample;
    for (long n = 1; n <= count; ++n)
        if (isFull || n <= ends || n > count - ends)
            sample.insert(n);
    QRandomGenerator random(static_cast<quint32>(count));
    for (int i = 0; !isFull && i < kBetween && count > 2 * ends; ++i)
        sample.insert(random.bounded(static_cast<int>(count)) + 1);
    return sample;
}

} // namespace support
