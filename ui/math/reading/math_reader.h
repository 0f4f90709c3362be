// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/math/math_node.h"
#include "ui/math/reading/math_parser.h"

#include <QStringView>

namespace ui {

MathNode mathSymbol(const QString& text, AtomClass atom, MathFont font = MathFont::Upright);
MathNode mathSpace(double ems);

/// The steps of parseMath. After an error everything comes back empty and at its end; no call goes
/// deeper than the bounds.
class MathReader {
public:
    explicit MathReader(QStringView text)
        : m_text(text) {}

    /// What ends a row; the one that did is in `ending` and has been read.
    enum class Ending { Text, Brace, Bracket, Fence, Cell, Line, Environment };

    /// Reads up to an ending that `wanted` allows.
    MathNode readRow(bool (*wanted)(Ending), Ending& ending);

    bool hasFailed() const { return m_hasFailed; }

private:
    bool atEnd() const { return m_hasFailed || m_at >= m_text.size(); }

    QChar peek() const { return atEnd() ? QChar() : m_text[m_at]; }

    MathNode fail();
    bool spend();
    void skipSpaces();
    QStringView readCommand();
    QStringView readGroupText();
    QStringView readOptionText();
    void skipDistance();

    QStringView unread() const { return m_text.mid(m_at); }

    bool readEnding(bool (*wanted)(Ending), Ending& ending);
    MathNode readGroup();
    MathNode readArgument();
    MathNode readAtom();
    MathNode readCharacter();
    MathNode readNamed(QStringView name, qsizetype begin);
    bool readSpacing(QStringView name, MathNode& node);
    bool readLetters(QStringView name, MathNode& node);
    bool readStructure(QStringView name, MathNode& node);
    bool readAround(QStringView name, MathNode& node);
    bool readIgnored(QStringView name);
    MathNode readFraction(QStringView name);
    MathNode readRoot();
    MathNode readFenced();
    MathNode readDelimiter(QStringView name);
    MathNode readWords(MathFont font);
    MathNode readNegated();
    MathNode readUnknown(qsizetype begin);
    MathNode readEnvironment(qsizetype begin);
    MathNode readTable(QStringView name);
    QString readFence();
    void readScripts(MathNode& row);
    void readPrimes(MathNode& above);
    void divide(MathNode& row, QStringView name, MathNode below);

    QStringView m_text;
    qsizetype m_at = 0;
    MathFont m_font = MathFont::Italic;
    QString m_alphabet; ///< "mathbb", "mathcal"...; empty = none
    int m_depth = 0;
    int m_nodes = 0;
    bool m_hasFailed = false;
};

} // namespace ui
