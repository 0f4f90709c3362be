// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/reading/math_parser.h"

#include "ui/math/reading/math_reader.h"
#include "ui/math/reading/math_symbols.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

using Ending = MathReader::Ending;

bool endsLine(Ending ending) { return ending == Ending::Text || ending == Ending::Line; }

bool endsBrace(Ending ending) { return ending == Ending::Brace; }

} // namespace

MathNode mathSymbol(const QString& text, AtomClass atom, MathFont font) {
    MathNode node{.kind = MathKind::Symbol, .atom = atom, .font = font};
    node.text = text;
    return node;
}

MathNode mathSpace(double ems) {
    MathNode node{.kind = MathKind::Space};
    node.amount = ems;
    return node;
}

std::optional<MathNode> parseMath(QStringView latex) {
    if (latex.size() > kLongestFormula || latex.trimmed().isEmpty())
        return std::nullopt;
    MathReader reader(latex);
    MathNode lines{.kind = MathKind::Table};
    Ending ending = Ending::Line;
    while (ending == Ending::Line && !reader.hasFailed())
        lines.parts.push_back(reader.readRow(endsLine, ending));
    if (reader.hasFailed())
        return std::nullopt;
    if (lines.parts.size() > 1 && lines.parts.back().isEmptyRow())
        lines.parts.pop_back();
    if (lines.parts.size() == 1)
        return std::move(lines.parts.front());
    lines.columns = 1; // lines without an environment
    lines.text = QStringLiteral("c");
    lines.isLarge = true;
    return lines;
}

MathNode MathReader::fail() {
    m_hasFailed = true;
    return {};
}

/// Counts a node; false beyond the bounds.
bool MathReader::spend() {
    if (++m_nodes > kMostMathNodes)
        m_hasFailed = true;
    return !m_hasFailed;
}

/// A comment ends with its line. Models write "20%" for a percentage, and where no line follows,
/// nothing could have ended the comment.
void MathReader::skipSpaces() {
    while (!atEnd()) {
        if (peek() == u'%') {
            const qsizetype end = m_text.indexOf(u'\n', m_at);
            if (end < 0 || (m_at > 0 && m_text[m_at - 1].isDigit()))
                return;
            m_at = end;
        } else if (!peek().isSpace()) {
            return;
        } else {
            ++m_at;
        }
    }
}

/// The name behind a backslash: letters, or one character.
QStringView MathReader::readCommand() {
    qsizetype end = m_at + 1;
    while (end < m_text.size() && m_text[end].unicode() < 128 && m_text[end].isLetter())
        ++end;
    if (end == m_at + 1 && end < m_text.size())
        ++end;
    const QStringView name = m_text.mid(m_at + 1, end - m_at - 1);
    m_at = end;
    return name;
}

/// What stands in braces, as it was written; fails without them.
QStringView MathReader::readGroupText() {
    skipSpaces();
    if (peek() != u'{') {
        fail();
        return {};
    }
    const qsizetype begin = ++m_at;
    for (int depth = 1; m_at < m_text.size(); ++m_at) {
        if (m_text[m_at] == u'\\')
            ++m_at;
        else if (m_text[m_at] == u'{')
            ++depth;
        else if (m_text[m_at] == u'}' && --depth == 0)
            return m_text.mid(begin, m_at++ - begin);
    }
    fail();
    return {};
}

QStringView MathReader::readOptionText() {
    const qsizetype end = peek() == u'[' ? m_text.indexOf(u']', m_at) : -1;
    if (end < 0)
        return {};
    const QStringView inside = m_text.mid(m_at + 1, end - m_at - 1);
    m_at = end + 1;
    return inside;
}

/// The distance to the next line: "[4pt]" behind "\\".
void MathReader::skipDistance() {
    const qsizetype before = m_at;
    const QStringView inside = readOptionText().trimmed();
    const bool hasUnit = std::ranges::any_of(
        std::array{u"pt", u"em", u"ex", u"mm", u"cm", u"in", u"px", u"mu", u"bp", u"pc"},
        [&](const char16_t* unit) { return inside.endsWith(QStringView(unit)); });
    if (!hasUnit || !(inside[0].isDigit() || QStringView(u"-+.").contains(inside[0])))
        m_at = before;
}

/// Reads the ending of a row if one comes next.
bool MathReader::readEnding(bool (*wanted)(Ending), Ending& ending) {
    const auto take = [&](Ending found, qsizetype length) {
        if (!wanted(found))
            return false;
        ending = found;
        m_at += length;
        return true;
    };
    if (m_at >= m_text.size()) {
        ending = Ending::Text;
        if (!wanted(Ending::Text))
            fail();
        return true;
    }
    const QStringView rest = unread();
    if (rest.startsWith(u'}')) {
        if (!take(Ending::Brace, 1))
            fail();
        return true;
    }
    const auto isCommand = [&](QStringView name) {
        return rest.startsWith(name) &&
               (rest.size() == name.size() || !rest[name.size()].isLetter());
    };
    if (rest.startsWith(u']'))
        return take(Ending::Bracket, 1);
    if (rest.startsWith(u'&'))
        return take(Ending::Cell, 1);
    if (rest.startsWith(u"\\\\")) {
        if (!take(Ending::Line, 2))
            return false;
        skipDistance();
        return true;
    }
    for (const auto& [name, found] : {std::pair(u"\\right", Ending::Fence),
                                      std::pair(u"\\middle", Ending::Fence),
                                      std::pair(u"\\end", Ending::Environment)}) {
        if (!isCommand(QStringView(name)))
            continue;
        if (!take(found, 0))
            fail();
        return true;
    }
    return false;
}

MathNode MathReader::readRow(bool (*wanted)(Ending), Ending& ending) {
    MathNode row;
    if (++m_depth > kDeepestFormula)
        fail();
    const MathFont font = m_font;
    const QString alphabet = m_alphabet;
    while (!m_hasFailed) {
        skipSpaces();
        if (readEnding(wanted, ending))
            break;
        const QStringView rest = unread();
        if (rest[0] == u'^' || rest[0] == u'_' || rest[0] == u'\'' || rest[0] == u'\u2019') {
            readScripts(row);
            continue;
        }
        const qsizetype begin = m_at;
        if (rest[0] == u'\\') {
            const QStringView name = readCommand();
            if (name == u"over" || name == u"choose" || name == u"atop") {
                MathNode below = readRow(wanted, ending);
                divide(row, name, std::move(below));
                break;
            }
            if ((name == u"limits" || name == u"nolimits") && !row.parts.empty()) {
                row.parts.back().hasLimits = name == u"limits";
                continue;
            }
            m_at = begin;
        }
        MathNode atom = readAtom();
        if (m_at == begin) { // nothing may stand still
            fail();
            break;
        }
        // An empty group parts the scripts beside it: "R^a{}_b".
        const bool isParting = m_text[begin] == u'{' && !row.parts.empty() &&
                               row.parts.back().kind == MathKind::Scripts;
        if (!atom.isEmptyRow() || isParting)
            row.parts.push_back(std::move(atom));
    }
    m_font = font;
    m_alphabet = alphabet;
    --m_depth;
    return m_hasFailed ? MathNode() : row;
}

/// \over and its like take all that stands before them.
void MathReader::divide(MathNode& row, QStringView name, MathNode below) {
    MathNode fraction{.kind = MathKind::Fraction, .atom = AtomClass::Inner};
    fraction.isBare = name != u"over";
    if (name == u"choose")
        fraction.fences = {QStringLiteral("("), QStringLiteral(")")};
    fraction.parts.push_back(std::exchange(row, MathNode()));
    fraction.parts.push_back(std::move(below));
    row.parts.push_back(std::move(fraction));
}

MathNode MathReader::readGroup() {
    ++m_at;
    Ending ending = Ending::Text;
    return readRow(endsBrace, ending);
}

/// A group, a command with its arguments, or one character.
MathNode MathReader::readArgument() {
    skipSpaces();
    if (atEnd() || peek() == u'}' || peek() == u'&')
        return fail();
    if (peek() == u'{')
        return readGroup();
    if (peek() == u'\\')
        return readAtom();
    if (!spend())
        return {};
    return readCharacter();
}

MathNode MathReader::readAtom() {
    if (++m_depth > kDeepestFormula || !spend())
        fail();
    MathNode node;
    if (m_hasFailed) {
    } else if (peek() == u'{') {
        node = readGroup();
        if (node.parts.size() == 1 && node.parts[0].kind == MathKind::Symbol)
            node.parts[0].atom = AtomClass::Ordinary; // "{=}" is no relation
    } else if (peek() == u'\\') {
        const qsizetype begin = m_at;
        const QStringView name = readCommand();
        node = name.isEmpty() ? fail() : readNamed(name, begin);
    } else if (peek().isDigit()) {
        const qsizetype begin = m_at;
        const auto isPoint = [&](qsizetype at) {
            return m_text[at] == u'.' && at + 1 < m_text.size() && m_text[at + 1].isDigit();
        };
        while (m_at < m_text.size() && (m_text[m_at].isDigit() || isPoint(m_at)))
            ++m_at;
        node = mathSymbol(m_text.mid(begin, m_at - begin).toString(),
                          AtomClass::Ordinary,
                          m_font == MathFont::Italic ? MathFont::Upright : m_font);
    } else {
        node = readCharacter();
    }
    --m_depth;
    return m_hasFailed ? MathNode() : node;
}

MathNode MathReader::readCharacter() {
    const qsizetype length = peek().isHighSurrogate() && m_at + 1 < m_text.size() ? 2 : 1;
    const QString written = m_text.mid(m_at, length).toString();
    m_at += length;
    const QChar first = written[0];
    if (first == u'~')
        return mathSpace(1.0 / 3);
    if (first == u'-')
        return mathSymbol(QStringLiteral("\u2212"), AtomClass::Binary);
    if (first == u'*')
        return mathSymbol(QStringLiteral("\u2217"), AtomClass::Binary);
    if (!m_alphabet.isEmpty() && first.isLetterOrNumber())
        return mathSymbol(letterOf(m_alphabet, first), AtomClass::Ordinary);
    if (first.isLetter() || length == 2)
        return mathSymbol(written, AtomClass::Ordinary, m_font);
    return mathSymbol(written,
                      classOf(first),
                      m_font == MathFont::Italic || !first.isLetterOrNumber() ? MathFont::Upright
                                                                              : m_font);
}

void MathReader::readPrimes(MathNode& above) {
    QString primes;
    while (!atEnd() && (peek() == u'\'' || peek() == u'\u2019')) {
        primes += QChar(0x2032);
        ++m_at;
    }
    if (!primes.isEmpty())
        above.parts.insert(above.parts.begin(), mathSymbol(primes, AtomClass::Ordinary));
}

/// Subscripts, superscripts and primes go to the atom before them, in whatever order they come.
/// Scripts are never the base of others, which would nest without a bound: behind "x_a\limits" they
/// go on.
void MathReader::readScripts(MathNode& row) {
    MathNode scripts{.kind = MathKind::Scripts};
    if (!row.parts.empty() && row.parts.back().kind == MathKind::Scripts) {
        scripts = std::move(row.parts.back());
        row.parts.pop_back();
    } else {
        MathNode base;
        if (!row.parts.empty() && row.parts.back().kind != MathKind::Style) {
            base = std::move(row.parts.back());
            row.parts.pop_back();
        }
        scripts.atom = base.atom;
        scripts.hasLimits = base.hasLimits;
        scripts.parts.push_back(std::move(base));
        scripts.parts.push_back({});
        scripts.parts.push_back({});
    }
    while (!m_hasFailed) {
        skipSpaces();
        if (atEnd())
            break;
        const QChar mark = peek();
        if (mark == u'\'' || mark == u'\u2019') {
            readPrimes(scripts.parts[2]);
            continue;
        }
        if (mark != u'^' && mark != u'_')
            break;
        ++m_at;
        MathNode& place = scripts.parts[mark == u'_' ? 1 : 2];
        const bool isTaken = std::ranges::any_of(
            place.parts, [](const MathNode& part) { return part.text != u"\u2032"; });
        if (isTaken) { // "a^b^c" has no meaning
            fail();
            return;
        }
        if (++m_depth > kDeepestFormula)
            fail();
        place.parts.push_back(readArgument());
        --m_depth;
    }
    row.parts.push_back(std::move(scripts));
}

} // namespace ui
