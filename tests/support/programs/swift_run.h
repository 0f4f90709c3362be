// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QList>
#include <QProcess>
#include <QStringList>
#include <QTest>

namespace support {

/// The result of a run of swift-run.
struct ProgramRun {
    int exitCode = -1;
    QByteArray output;
    QByteArray errors;

    /// Standard output as JSON objects, one per line; a null object for any other line.
    QList<QJsonObject> jsonLines() const {
        QList<QJsonObject> lines;
        for (const QByteArray& line : output.split('\n'))
            if (!line.isEmpty())
                lines.append(QJsonDocument::fromJson(line).object());
        return lines;
    }
};

inline QString swiftRunPath() {
    return QFileInfo(QStringLiteral(SWIFT_STUDIO_BIN_DIR "/swift-run")).absoluteFilePath();
}

/// Runs the program to its end; exit code -1 if it was killed.
inline ProgramRun
runProgram(const QString& program,
           const QStringList& arguments,
           const QByteArray& input = {},
           const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    process.write(input);
    process.closeWriteChannel();
    process.waitForFinished(-1);
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            process.readAllStandardOutput(),
            process.readAllStandardError()};
}

/// Checks that the program has refused its input: the exit code, one sentence and a hint on
/// standard error that contain these words, and nothing on standard output.
inline void expectRefusal(const ProgramRun& result, int exitCode, const QStringList& named) {
    QVERIFY2(
        result.exitCode == exitCode,
        qPrintable(QString("exit code %1: %2").arg(result.exitCode).arg(QString(result.errors))));
    QVERIFY2(result.output.isEmpty(), result.output.constData());
    QVERIFY2(result.errors.startsWith("swift-run: "), result.errors.constData());
    QVERIFY2(result.errors.trimmed().count('\n') <= 1, result.errors.constData());
    for (const QString& part : named)
        QVERIFY2(result.errors.contains(part.toUtf8()), result.errors.constData());
}

} // namespace support
