// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/reading/math_reader.h"

#include <algorithm>
#include <array>
#include <utility>

// Tables: matrices, cases, aligned lines.

namespace ui {

namespace {

using Ending = MathReader::Ending;

constexpr qsizetype kMostColumns = 60;

struct Environment {
    const char* name;
    const char* opening;
    const char* closing;
    const char* columns; ///< the last letter holds for all that follow, two repeat in pairs
    bool isTight;
    bool isLarge; ///< its cells are set large
};

constexpr std::array kEnvironments = {
    Environment{"matrix", "", "", "c", false, false},
    Environment{"pmatrix", "(", ")", "c", false, false},
    Environment{"bmatrix", "[", "]", "c", false, false},
    Environment{"Bmatrix", "{", "}", "c", false, false},
    Environment{"vmatrix", "|", "|", "c", false, false},
    Environment{"Vmatrix", "‖", "‖", "c", false, false},
    Environment{"smallmatrix", "", "", "c", false, false},
    Environment{"array", "", "", "c", false, false},
    Environment{"cases", "{", "", "l", false, false},
    Environment{"dcases", "{", "", "l", false, true},
    Environment{"rcases", "", "}", "l", false, false},
    Environment{"aligned", "", "", "rl", true, true},
    Environment{"align", "", "", "rl", true, true},
    Environment{"align*", "", "", "rl", true, true},
    Environment{"alignat", "", "", "rl", true, true},
    Environment{"alignat*", "", "", "rl", true, true},
    Environment{"alignedat", "", "", "rl", true, true},
    Environment{"split", "", "", "rl", true, true},
    Environment{"eqnarray", "", "", "rcl", false, true},
    Environment{"eqnarray*", "", "", "rcl", false, true},
    Environment{"gather", "", "", "c", false, true},
    Environment{"gather*", "", "", "c", false, true},
    Environment{"gathered", "", "", "c", false, true},
    Environment{"multline", "", "", "c", false, true},
    Environment{"multline*", "", "", "c", false, true},
    Environment{"equation", "", "", "c", false, true},
    Environment{"equation*", "", "", "c", false, true},
    Environment{"substack", "", "", "c", false, false},
};

const Environment* environment(QStringView name) {
    const auto found = std::ranges::find_if(
        kEnvironments, [&](const Environment& known) { return name == QLatin1String(known.name); });
    return found == kEnvironments.end() ? nullptr : &*found;
}

bool endsCell(Ending ending) {
    return ending == Ending::Cell || ending == Ending::Line || ending == Ending::Environment;
}

bool endsBracedCell(Ending ending) { return ending == Ending::Line || ending == Ending::Brace; }

QString alignments(QString spec, qsizetype columns) {
    if (spec == u"rl")
        while (spec.size() < columns)
            spec += QStringLiteral("rl");
    while (spec.size() < columns)
        spec += spec.isEmpty() ? QChar(u'c') : spec.back();
    return spec.left(columns);
}

} // namespace

/// An environment that is not known is shown as it was written.
MathNode MathReader::readEnvironment(qsizetype begin) {
    const QString name = readGroupText().toString();
    if (m_hasFailed)
        return {};
    if (environment(name) != nullptr)
        return readTable(name);
    const QString end = QStringLiteral("\\end{%1}").arg(name);
    const qsizetype found = m_text.indexOf(end, m_at);
    if (found < 0)
        return fail();
    m_at = found + end.size();
    MathNode node{.kind = MathKind::Source, .font = MathFont::Mono};
    node.text = m_text.mid(begin, m_at - begin).toString().simplified();
    return node;
}

MathNode MathReader::readTable(QStringView name) {
    const QString own = name.toString();
    const Environment& known = *environment(own);
    MathNode table{.kind = MathKind::Table, .atom = AtomClass::Inner};
    QString spec = QString::fromLatin1(known.columns);
    if (own == u"array") {
        spec.clear();
        for (const QChar letter : readGroupText())
            if (QStringView(u"lcr").contains(letter))
                spec += letter;
    } else if (own.startsWith(u"aligned") || own.startsWith(u"alignat") || own == u"gathered") {
        readOptionText();
        if (own.startsWith(u"alignat") || own == u"alignedat")
            readGroupText();
    }
    const bool isBraced = own == u"substack";
    if (isBraced) {
        skipSpaces();
        if (peek() != u'{')
            return fail();
        ++m_at;
    }
    std::vector<std::vector<MathNode>> lines(1);
    Ending ending = Ending::Cell;
    const auto isOpen = [&] { return ending == Ending::Cell || ending == Ending::Line; };
    while (isOpen() && !m_hasFailed) {
        if (ending == Ending::Line)
            lines.emplace_back();
        lines.back().push_back(readRow(isBraced ? endsBracedCell : endsCell, ending));
        if (static_cast<qsizetype>(lines.back().size()) > kMostColumns)
            fail();
    }
    if (!isBraced && !m_hasFailed) {
        readCommand();
        if (readGroupText() != own)
            return fail();
    }
    if (m_hasFailed)
        return {};
    const auto isEmptyLine = [](const std::vector<MathNode>& line) {
        return line.size() == 1 && line[0].isEmptyRow();
    };
    if (lines.size() > 1 && isEmptyLine(lines.back()))
        lines.pop_back(); // "\\" behind the last line
    std::size_t columns = 1;
    for (const auto& line : lines)
        columns = std::max(columns, line.size());
    m_nodes += static_cast<int>(columns * lines.size());
    if (!spend())
        return {};
    for (auto& line : lines) {
        line.resize(columns);
        std::ranges::move(line, std::back_inserter(table.parts));
    }
    table.columns = static_cast<int>(columns);
    table.text = alignments(spec, table.columns);
    table.isTight = known.isTight;
    table.isLarge = known.isLarge;
    table.amount = own == u"smallmatrix" || isBraced ? 1.0 : 0.0;
    const QString opening = QString::fromUtf8(known.opening);
    const QString closing = QString::fromUtf8(known.closing);
    if (opening.isEmpty() && closing.isEmpty())
        return table;
    MathNode fenced{.kind = MathKind::Fenced, .atom = AtomClass::Inner};
    fenced.fences = {opening, closing};
    fenced.parts.push_back(std::move(table));
    return fenced;
}

} // namespace ui
