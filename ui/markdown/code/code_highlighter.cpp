// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/code/code_highlighter.h"

#include "ui/language/tr.h"

#include <algorithm>

namespace ui {

namespace {

constexpr int kInBlockComment = 1; ///< further states: in long quote number state - 2

bool isWordStart(QChar character) {
    return character.isLetter() || character == u'_' || character == u'$';
}

bool isWordPart(QChar character) { return isWordStart(character) || character.isDigit(); }

} // namespace

struct CodeHighlighter::Cursor {
    QStringView line;
    std::vector<CodeSpan>& spans;
    int state = 0;
    qsizetype place = 0;

    QStringView rest() const { return line.mid(place); }

    void take(qsizetype end, CodeClass codeClass) {
        spans.push_back({static_cast<int>(place), static_cast<int>(end - place), codeClass});
        place = end;
    }
};

CodeHighlighter::CodeHighlighter(QStringView name) {
    const QString wanted = name.toString().toLower();
    for (const CodeLanguage& language : codeLanguages())
        if (language.names.contains(wanted))
            m_language = &language;
    if (m_language != nullptr)
        m_title = m_language->title;
    else
        m_title = name.isEmpty() ? tr("Code") : name.toString();
}

int CodeHighlighter::highlight(QStringView line, int state, std::vector<CodeSpan>& spans) const {
    if (m_language == nullptr)
        return 0;
    Cursor cursor{line, spans, state};
    while (cursor.place < line.size()) {
        if (cursor.state != 0)
            readLong(cursor);
        else if (!readComment(cursor) && !readLongStart(cursor) && !readString(cursor) &&
                 !readNumber(cursor) && !readWord(cursor))
            ++cursor.place;
    }
    return cursor.state;
}

/// The rest of what an earlier line, or the text before this, opened.
void CodeHighlighter::readLong(Cursor& cursor) const {
    const bool isComment = cursor.state == kInBlockComment;
    const QString& close =
        isComment ? m_language->blockClose : m_language->longQuotes[cursor.state - 2];
    const auto found = cursor.rest().indexOf(close);
    const auto end = found < 0 ? cursor.line.size() : cursor.place + found + close.size();
    cursor.take(end, isComment ? CodeClass::Comment : CodeClass::Literal);
    if (found >= 0)
        cursor.state = 0;
}

bool CodeHighlighter::readComment(Cursor& cursor) const {
    const QStringView rest = cursor.rest();
    for (const QString& start : m_language->lineComments) {
        const bool isWordAhead =
            start == u"#" && cursor.place > 0 && !cursor.line[cursor.place - 1].isSpace() &&
            m_language->blockOpen.isEmpty() && m_language->longQuotes.isEmpty();
        if (!rest.startsWith(start) || isWordAhead)
            continue;
        cursor.take(cursor.line.size(), CodeClass::Comment);
        return true;
    }
    if (m_language->blockOpen.isEmpty() || !rest.startsWith(m_language->blockOpen))
        return false;
    const auto start = cursor.place;
    const auto found = rest.indexOf(m_language->blockClose, m_language->blockOpen.size());
    const auto end = found < 0 ? cursor.line.size() : start + found + m_language->blockClose.size();
    cursor.state = found < 0 ? kInBlockComment : 0;
    cursor.take(end, CodeClass::Comment);
    return true;
}

bool CodeHighlighter::readLongStart(Cursor& cursor) const {
    for (qsizetype i = 0; i < m_language->longQuotes.size(); ++i) {
        const QString& quote = m_language->longQuotes[i];
        if (!cursor.rest().startsWith(quote))
            continue;
        const auto found = cursor.rest().indexOf(quote, quote.size());
        const auto end = found < 0 ? cursor.line.size() : cursor.place + found + quote.size();
        cursor.state = found < 0 ? static_cast<int>(i) + 2 : 0;
        cursor.take(end, CodeClass::Literal);
        return true;
    }
    return false;
}

bool CodeHighlighter::readString(Cursor& cursor) const {
    const QChar quote = cursor.line[cursor.place];
    if (!m_language->quotes.contains(quote))
        return false;
    auto end = cursor.place + 1;
    while (end < cursor.line.size() && cursor.line[end] != quote)
        end += cursor.line[end] == u'\\' ? 2 : 1;
    // Rust's lifetimes are no characters.
    if (quote == u'\'' && end >= cursor.line.size() && m_language->title == u"Rust")
        return false;
    cursor.take(std::min(end + 1, cursor.line.size()), CodeClass::Literal);
    return true;
}

bool CodeHighlighter::readNumber(Cursor& cursor) const {
    if (!cursor.line[cursor.place].isDigit())
        return false;
    auto end = cursor.place;
    while (end < cursor.line.size() && (isWordPart(cursor.line[end]) || cursor.line[end] == u'.'))
        ++end;
    if (cursor.line[end - 1] == u'.')
        --end;
    cursor.take(end, CodeClass::Literal);
    return true;
}

bool CodeHighlighter::readWord(Cursor& cursor) const {
    if (!isWordStart(cursor.line[cursor.place]))
        return false;
    auto end = cursor.place;
    while (end < cursor.line.size() && isWordPart(cursor.line[end]))
        ++end;
    QString word = cursor.line.mid(cursor.place, end - cursor.place).toString();
    if (m_language->isCaseless)
        word = word.toLower();
    if (m_language->keywords.contains(word))
        cursor.take(end, CodeClass::Keyword);
    else if (m_language->constants.contains(word))
        cursor.take(end, CodeClass::Literal);
    else
        cursor.place = end;
    return true;
}

} // namespace ui
