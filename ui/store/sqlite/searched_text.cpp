// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/sqlite/searched_text.h"

#include <algorithm>

namespace ui {

namespace {

constexpr qsizetype kExcerptBefore = 16;
constexpr qsizetype kExcerptLength = 120;

/// The position of the first word found in the text; -1 if there is none.
qsizetype placeOf(const QString& text, const QStringList& words) {
    for (const QString& word : words)
        if (const qsizetype found = text.indexOf(word, 0, Qt::CaseInsensitive); found >= 0)
            return found;
    return -1;
}

QString around(const QString& text, qsizetype place) {
    const qsizetype begin = std::max<qsizetype>(0, place - kExcerptBefore);
    QString excerpt = text.mid(begin, kExcerptLength).simplified();
    if (!excerpt.isEmpty() && excerpt.front().isLowSurrogate()) // half a character
        excerpt.remove(0, 1);
    if (!excerpt.isEmpty() && excerpt.back().isHighSurrogate())
        excerpt.chop(1);
    if (begin > 0)
        excerpt.prepend(u'\u2026');
    return excerpt;
}

} // namespace

QString searchedText(const StoredMessage& message) {
    QString files;
    for (const Attachment& attachment : message.attachments)
        files += u'\n' + attachment.name + u'\n' + attachment.text.left(kSearchedOfFiles);
    return message.text + files.left(kSearchedOfFiles);
}

// A text that is not JSON was written by another program.
QString searchedTextExpression() {
    return QStringLiteral(
               "text || CASE WHEN json_valid(attachments) THEN substr(coalesce("
               "(SELECT group_concat(char(10) || json_extract(value, '$.name') || char(10) ||"
               " json_extract(value, '$.text'), '') FROM json_each(attachments)"
               " WHERE type = 'object'), ''), 1, %1) ELSE '' END")
        .arg(kSearchedOfFiles);
}

bool containsAll(const QString& text, const QStringList& words) {
    return std::all_of(words.cbegin(), words.cend(), [&](const QString& word) {
        return text.contains(word, Qt::CaseInsensitive);
    });
}

QString excerptOf(const StoredMessage& message, const QStringList& words) {
    if (const qsizetype place = placeOf(message.text, words); place >= 0)
        return around(message.text, place);
    for (const Attachment& attachment : message.attachments) {
        const qsizetype place = placeOf(attachment.text, words);
        if (place >= 0 || placeOf(attachment.name, words) >= 0)
            return attachment.name + QLatin1String(": ") + around(attachment.text, place);
    }
    return around(message.text, 0);
}

} // namespace ui
