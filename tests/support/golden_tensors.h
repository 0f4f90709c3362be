// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QJsonArray>
#include <QJsonObject>
#include <QString>

#include <cstdint>
#include <vector>

namespace support {

/// Reads the oracle's .safetensors files without the engine's own loader, so that a fault in that
/// loader cannot hide. Missing files and names are fatal, so that a golden test cannot pass without
/// data.
class GoldenTensors {
public:
    explicit GoldenTensors(const QString& path);

    bool contains(const QString& name) const { return m_header.contains(name); }

    QStringList names() const { return m_header.keys(); }

    /// Widened to double, whatever the type (I32, I64, F32, F64).
    std::vector<double> numbers(const QString& name) const;

    /// Integers of any width.
    std::vector<int> integers(const QString& name) const;

    std::vector<qint64> shape(const QString& name) const;

private:
    QByteArray m_bytes;
    QJsonObject m_header;
    qsizetype m_dataStart = 0;
};

/// The parsed file, or a fatal message.
QJsonObject readJsonObject(const QString& path);

/// One object per line.
std::vector<QJsonObject> readJsonLines(const QString& path);

/// A path in the golden data, and whether that data is beside the checkout.
QString goldenPath(const QString& relative);
bool hasGoldenData();

/// The numbers of a JSON array.
std::vector<int> integersOf(const QJsonValue& array);

} // namespace support
