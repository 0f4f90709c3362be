// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/utf8_text.h"

#include <QString>

#include <algorithm>
#include <cstdint>

namespace ui {

namespace {

/// Whether this line is the rule below a table's head.
bool isTableRule(QStringView line) {
    const auto isPart = [](QChar character) {
        return QStringView(u"|:- \t\r").contains(character);
    };
    return line.contains(u'|') && line.contains(u'-') &&
           std::all_of(line.begin(), line.end(), isPart);
}

bool isUnfit(QChar character) { return character.isSurrogate() || character.isNull(); }

} // namespace

Utf8Text::Utf8Text(QStringView text) {
    m_bytes.reserve(text.size());
    for (qsizetype begin = 0; begin < text.size();) {
        const auto found = text.indexOf(u'\n', begin);
        const auto end = found < 0 ? text.size() : found + 1;
        addLine(text, begin, end, isTableRule(text.mid(begin, end - begin).trimmed()));
        begin = end;
    }
    m_unitOfByte.push_back(static_cast<int>(text.size()));
}

int Utf8Text::unitOf(const char* byte) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(m_bytes.constData());
    const auto place = reinterpret_cast<std::uintptr_t>(byte);
    const bool isInside =
        place >= begin && place - begin <= static_cast<std::uintptr_t>(m_bytes.size());
    return isInside ? m_unitOfByte[place - begin] : -1;
}

void Utf8Text::addLine(QStringView text, qsizetype begin, qsizetype end, bool isRule) {
    for (qsizetype i = begin; i < end; ++i) {
        const bool isPair =
            text[i].isHighSurrogate() && i + 1 < end && text[i + 1].isLowSurrogate();
        if (isPair)
            add(QChar::surrogateToUcs4(text[i], text[i + 1]), i);
        else
            add(isUnfit(text[i]) ? 0xFFFD : text[i].unicode(), i);
        if (isRule && text[i] == u'-' && (i == begin || text[i - 1] != u'-')) {
            add(u'-', i);
            add(u'-', i);
        }
        i += isPair ? 1 : 0;
    }
}

void Utf8Text::add(char32_t code, qsizetype unit) {
    const QByteArray encoded =
        code < 0x80 ? QByteArray(1, static_cast<char>(code)) : QString::fromUcs4(&code, 1).toUtf8();
    m_bytes += encoded;
    m_unitOfByte.insert(
        m_unitOfByte.end(), static_cast<std::size_t>(encoded.size()), static_cast<int>(unit));
}

} // namespace ui
