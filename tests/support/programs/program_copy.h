// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QFile>
#include <QString>
#include <QStringList>

namespace support {

/// A copy of swift-run in `folder`/bin, which finds only these decoder modules. Returns its path.
inline QString
copyProgram(const QString& moduleFolder, const QStringList& decoders, const QString& folder) {
    QDir().mkpath(folder + "/bin");
    QDir().mkpath(folder + "/lib/swift-studio");
    const QString program = folder + "/bin/swift-run";
    QFile::remove(program); // of an earlier copy
    if (!QFile::copy(QStringLiteral(SWIFT_STUDIO_BIN_DIR "/swift-run"), program))
        qFatal("swift-run cannot be copied");
    for (const QString& decoder : decoders) {
        const QString module = QString("/libdecoder_%1.so").arg(decoder);
        const QString copy = folder + "/lib/swift-studio" + module;
        QFile::remove(copy);
        if (!QFile::copy(moduleFolder + module, copy))
            qFatal("the module of %s cannot be copied", qPrintable(decoder));
    }
    return program;
}

} // namespace support
