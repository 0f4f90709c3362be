// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QList>
#include <QProcess>
#include <QStringList>

namespace support {

/// What a run of swift-run left behind.
struct ProgramRun {
    int exitCode = -1;
    QByteArray output;
    QByteArray errors;

    /// Standard output as JSON objects, one a line; a null object where a line is none.
    QList<QJsonObject> jsonLines() const {
        QList<QJsonObject> lines;
        for (const QByteArray& line : output.split('\n'))
            if (!line.isEmpty())
                lines.append(QJsonDocument::fromJson(line).object());
        return lines;
    }
};

inline QString swiftRunPath(const QString& binaryFolder) {
    return QFileInfo(binaryFolder + "/swift-run").absoluteFilePath();
}

/// Runs the program to its end; exit code -1 when it was killed.
inline ProgramRun
runProgram(const QString& program, const QStringList& arguments, const QByteArray& input = {}) {
    QProcess process;
    process.start(program, arguments);
    process.write(input);
    process.closeWriteChannel();
    process.waitForFinished(-1);
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            process.readAllStandardOutput(),
            process.readAllStandardError()};
}

} // namespace support
