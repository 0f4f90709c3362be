// SPDX-License-Identifier: GPL-3.0-only
#include "ui/export/apng_writer.h"

#include <QBuffer>
#include <QImageWriter>
#include <QtEndian>

#include <algorithm>
#include <array>
#include <cstring>

namespace ui {

namespace {

const QByteArray kSignature = QByteArrayLiteral("\x89PNG\r\n\x1a\n");
constexpr int kLongestMilliseconds = 65'535; ///< a delay has 16 bits

std::uint32_t crc(const QByteArray& bytes) {
    static const std::array<std::uint32_t, 256> table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = (value >> 1U) ^ ((value & 1U) != 0U ? 0xEDB88320U : 0U);
            made[i] = value;
        }
        return made;
    }();
    std::uint32_t value = 0xFFFFFFFFU;
    for (const char byte : bytes)
        value = table[(value ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (value >> 8U);
    return value ^ 0xFFFFFFFFU;
}

template <typename Number> void append(QByteArray& bytes, Number number) {
    const Number stored = qToBigEndian(number);
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
}

QByteArray chunk(const char* type, const QByteArray& content) {
    QByteArray made;
    append(made, static_cast<std::uint32_t>(content.size()));
    const QByteArray named = QByteArray(type, 4) + content;
    made += named;
    append(made, crc(named));
    return made;
}

/// The contents of all chunks of a type, in one.
QByteArray contentOf(const QByteArray& png, const char* type) {
    QByteArray found;
    for (qsizetype at = kSignature.size(); at + 12 <= png.size();) {
        const auto size = qFromBigEndian<std::uint32_t>(png.constData() + at);
        if (std::memcmp(png.constData() + at + 4, type, 4) == 0)
            found += png.mid(at + 8, size);
        at += 12 + static_cast<qsizetype>(size);
    }
    return found;
}

QByteArray encoded(const QImage& picture) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QImageWriter writer(&buffer, "png");
    return writer.write(picture) ? buffer.data() : QByteArray();
}

/// The smallest part that holds all pixels that differ; empty when none does.
QRect changedPart(const QImage& before, const QImage& now) {
    QRect changed;
    const auto bytes = static_cast<std::size_t>(now.width()) * 3;
    for (int y = 0; y < now.height(); ++y) {
        const uchar* a = before.constScanLine(y);
        const uchar* b = now.constScanLine(y);
        if (std::memcmp(a, b, bytes) == 0)
            continue;
        const auto [first, unused] = std::mismatch(a, a + bytes, b);
        auto last = bytes;
        while (last > 0 && a[last - 1] == b[last - 1])
            --last;
        const int left = static_cast<int>((first - a) / 3);
        const int right = static_cast<int>((last - 1) / 3);
        changed |= QRect(QPoint(left, y), QPoint(right, y));
    }
    return changed;
}

} // namespace

bool ApngWriter::add(const QImage& frame, int milliseconds) {
    const QImage whole = frame.convertToFormat(QImage::Format_RGB888);
    if (whole.isNull() || (!m_last.isNull() && whole.size() != m_last.size()))
        return false;
    const int least = std::max(1, milliseconds);
    const QRect part = m_last.isNull() ? whole.rect() : changedPart(m_last, whole);
    if (part.isEmpty() && m_milliseconds + least <= kLongestMilliseconds) {
        m_milliseconds += least;
        return true;
    }
    const QRect kept = part.isEmpty() ? QRect(0, 0, 1, 1) : part;
    const QByteArray png = encoded(whole.copy(kept));
    const QByteArray data = contentOf(png, "IDAT");
    if (data.isEmpty())
        return false;
    if (m_last.isNull())
        m_header = contentOf(png, "IHDR");
    else
        writePending();
    m_last = whole;
    m_part = kept;
    m_data = data;
    m_milliseconds = std::min(least, kLongestMilliseconds);
    return true;
}

void ApngWriter::writePending() {
    QByteArray control;
    append(control, m_sequence++);
    append(control, static_cast<std::uint32_t>(m_part.width()));
    append(control, static_cast<std::uint32_t>(m_part.height()));
    append(control, static_cast<std::uint32_t>(m_part.x()));
    append(control, static_cast<std::uint32_t>(m_part.y()));
    append(control, static_cast<std::uint16_t>(m_milliseconds));
    append(control, std::uint16_t{1000});
    append(control, std::uint8_t{0}); // it stays below the next one
    append(control, std::uint8_t{0}); // it replaces what is below it
    m_body += chunk("fcTL", control);
    if (m_frames == 0) {
        m_body += chunk("IDAT", m_data);
    } else {
        QByteArray numbered;
        append(numbered, m_sequence++);
        m_body += chunk("fdAT", numbered + m_data);
    }
    ++m_frames;
}

QByteArray ApngWriter::finish() {
    if (m_last.isNull())
        return {};
    writePending();
    QByteArray animation;
    append(animation, static_cast<std::uint32_t>(m_frames));
    append(animation, std::uint32_t{0}); // it repeats without end
    return kSignature + chunk("IHDR", m_header) + chunk("acTL", animation) + m_body +
           chunk("IEND", {});
}

} // namespace ui
