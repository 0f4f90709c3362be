// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>
#include <QStringList>
#include <QStringView>

#include <cstdint>
#include <span>
#include <vector>

namespace ui {

enum class CodeClass : std::uint8_t { Keyword, Literal, Comment };

/// A coloured part of a line of code.
struct CodeSpan {
    int start = 0;
    int length = 0;
    CodeClass codeClass = CodeClass::Keyword;
};

/// What the highlighter knows about a language. A plain value; words are separated by spaces.
struct CodeLanguage {
    QString title;     ///< for people: "Python"
    QStringList names; ///< after a fence, in lower case
    QStringList keywords;
    QStringList constants; ///< coloured as literals
    QStringList lineComments;
    QString blockOpen;
    QString blockClose;
    QString quotes;         ///< each opens and closes a string on one line
    QStringList longQuotes; ///< the same over many lines
    bool isCaseless = false;
};

/// The languages that are known.
std::span<const CodeLanguage> codeLanguages();

/// Colours code line by line with two colours and comments; what a line leaves open is carried in a
/// state. Knows words, numbers, strings and comments, no grammar.
class CodeHighlighter {
public:
    /// `name` as written after a fence; an unknown one colours nothing.
    explicit CodeHighlighter(QStringView name);

    /// For people: "Python"; for an unknown language its name as it is; "Code" without one.
    QString title() const { return m_title; }

    /// Appends the spans of a line. `state` is 0 at the start and what the line before returned.
    int highlight(QStringView line, int state, std::vector<CodeSpan>& spans) const;

private:
    struct Cursor;

    void readLong(Cursor& cursor) const;
    bool readComment(Cursor& cursor) const;
    bool readLongStart(Cursor& cursor) const;
    bool readString(Cursor& cursor) const;
    bool readNumber(Cursor& cursor) const;
    bool readWord(Cursor& cursor) const;

    const CodeLanguage* m_language = nullptr;
    QString m_title;
};

} // namespace ui
