// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QStringView>

#include <vector>

namespace ui {

/// UTF-8 of a text for md4c, and which QChar each byte belongs to. A lone surrogate or a NUL
/// becomes U+FFFD; the dashes of a table's rule become three, because md4c knows no shorter ones.
class Utf8Text {
public:
    explicit Utf8Text(QStringView text);

    const QByteArray& bytes() const { return m_bytes; }

    /// The offset of the QChar that this byte of bytes(), or their end, belongs to; -1 = it is not
    /// in them.
    int unitOf(const char* byte) const;

private:
    void addLine(QStringView text, qsizetype begin, qsizetype end, bool isRule);
    void add(char32_t code, qsizetype unit);

    QByteArray m_bytes;
    std::vector<int> m_unitOfByte;
};

} // namespace ui
