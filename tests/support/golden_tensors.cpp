// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden_tensors.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>

#include <cstring>

namespace support {

namespace {

QByteArray readFile(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot open %s", qPrintable(path));
    return file.readAll();
}

template <typename Stored> void append(const char* bytes, std::vector<double>& out) {
    Stored value;
    std::memcpy(&value, bytes, sizeof value);
    out.push_back(static_cast<double>(value));
}

} // namespace

GoldenTensors::GoldenTensors(const QString& path)
    : m_bytes(readFile(path)) {
    quint64 headerSize = 0;
    std::memcpy(&headerSize, m_bytes.constData(), sizeof headerSize);
    m_dataStart = 8 + static_cast<qsizetype>(headerSize);
    m_header = QJsonDocument::fromJson(m_bytes.mid(8, static_cast<qsizetype>(headerSize))).object();
    m_header.remove("__metadata__");
}

std::vector<double> GoldenTensors::numbers(const QString& name) const {
    if (!contains(name))
        qFatal("the golden file has no tensor %s", qPrintable(name));
    const QJsonObject entry = m_header[name].toObject();
    const QString type = entry["dtype"].toString();
    const QJsonArray offsets = entry["data_offsets"].toArray();
    const qsizetype width = type.endsWith("64") ? 8 : 4;
    std::vector<double> out;
    for (qint64 at = offsets[0].toInteger(); at < offsets[1].toInteger(); at += width) {
        const char* bytes = m_bytes.constData() + m_dataStart + at;
        if (type == "F32")
            append<float>(bytes, out);
        else if (type == "F64")
            append<double>(bytes, out);
        else if (type == "I64")
            append<qint64>(bytes, out);
        else if (type == "I32")
            append<qint32>(bytes, out);
        else
            qFatal("golden type %s", qPrintable(type));
    }
    return out;
}

std::vector<int> GoldenTensors::integers(const QString& name) const {
    std::vector<int> out;
    for (const double number : numbers(name))
        out.push_back(static_cast<int>(number));
    return out;
}

std::vector<qint64> GoldenTensors::shape(const QString& name) const {
    std::vector<qint64> out;
    for (const QJsonValue size : m_header[name].toObject()["shape"].toArray())
        out.push_back(size.toInteger());
    return out;
}

QJsonObject readJsonObject(const QString& path) {
    return QJsonDocument::fromJson(readFile(path)).object();
}

std::vector<QJsonObject> readJsonLines(const QString& path) {
    std::vector<QJsonObject> lines;
    for (const QByteArray& line : readFile(path).split('\n'))
        if (!line.isEmpty())
            lines.push_back(QJsonDocument::fromJson(line).object());
    return lines;
}

QString goldenPath(const QString& relative) {
    return QStringLiteral(SWIFT_STUDIO_SHARED_DIR "/golden/") + relative;
}

bool hasGoldenData() { return QFileInfo::exists(goldenPath("README.md")); }

std::vector<int> integersOf(const QJsonValue& array) {
    std::vector<int> out;
    for (const QJsonValue value : array.toArray())
        out.push_back(value.toInt());
    return out;
}

} // namespace support
