// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/reading/math_reader.h"
#include "ui/math/reading/math_symbols.h"

#include <algorithm>
#include <array>
#include <utility>

// Commands and their arguments.

namespace ui {

namespace {

using Ending = MathReader::Ending;

bool endsBracket(Ending ending) { return ending == Ending::Bracket; }

bool endsFence(Ending ending) { return ending == Ending::Fence; }

struct NamedFont {
    const char* name;
    MathFont font;
};

constexpr std::array kFonts = {NamedFont{"mathrm", MathFont::Upright},
                               NamedFont{"rm", MathFont::Upright},
                               NamedFont{"mathbf", MathFont::Bold},
                               NamedFont{"bf", MathFont::Bold},
                               NamedFont{"mathit", MathFont::Italic},
                               NamedFont{"mathsf", MathFont::Sans},
                               NamedFont{"mathtt", MathFont::Mono},
                               NamedFont{"boldsymbol", MathFont::BoldItalic},
                               NamedFont{"bm", MathFont::BoldItalic},
                               NamedFont{"pmb", MathFont::BoldItalic}};

constexpr std::array kWords = {NamedFont{"text", MathFont::Upright},
                               NamedFont{"textrm", MathFont::Upright},
                               NamedFont{"textnormal", MathFont::Upright},
                               NamedFont{"mbox", MathFont::Upright},
                               NamedFont{"textbf", MathFont::Bold},
                               NamedFont{"textit", MathFont::Italic},
                               NamedFont{"emph", MathFont::Italic},
                               NamedFont{"textsf", MathFont::Sans},
                               NamedFont{"texttt", MathFont::Mono}};

struct NamedSpace {
    const char* name;
    double ems;
};

constexpr std::array kSpaces = {NamedSpace{",", 3.0 / 18},
                                NamedSpace{":", 4.0 / 18},
                                NamedSpace{">", 4.0 / 18},
                                NamedSpace{";", 5.0 / 18},
                                NamedSpace{"!", -3.0 / 18},
                                NamedSpace{" ", 1.0 / 3},
                                NamedSpace{"enspace", 0.5},
                                NamedSpace{"quad", 1.0},
                                NamedSpace{"qquad", 2.0},
                                NamedSpace{"thinspace", 3.0 / 18}};

template <typename List> const auto* knownIn(const List& list, QStringView name) {
    const auto found = std::ranges::find_if(
        list, [&](const auto& known) { return name == QLatin1String(known.name); });
    return found == list.end() ? nullptr : &*found;
}

/// Between the dollars; an escaped one is a sign of the words.
QList<QStringView> betweenDollars(QStringView text) {
    QList<QStringView> pieces;
    qsizetype begin = 0;
    for (qsizetype at = 0; at < text.size(); ++at) {
        if (text[at] == u'\\') {
            ++at;
        } else if (text[at] == u'$') {
            pieces.append(text.mid(begin, at - begin));
            begin = at + 1;
        }
    }
    pieces.append(text.mid(begin));
    return pieces;
}

} // namespace

bool MathReader::readSpacing(QStringView name, MathNode& node) {
    if (const NamedSpace* known = knownIn(kSpaces, name)) {
        node = mathSpace(known->ems);
        return true;
    }
    if (name == u"displaystyle" || name == u"textstyle" || name == u"scriptstyle") {
        node = MathNode{.kind = MathKind::Style};
        node.amount = name == u"displaystyle" ? 0.0 : name == u"textstyle" ? 1.0 : 2.0;
        return true;
    }
    if (name == u"hspace") {
        m_at += peek() == u'*' ? 1 : 0;
        readGroupText();
        node = mathSpace(1.0);
        return true;
    }
    return false;
}

/// Fonts, alphabets and words.
bool MathReader::readLetters(QStringView name, MathNode& node) {
    if (const NamedFont* known = knownIn(kWords, name)) {
        node = readWords(known->font);
        return true;
    }
    const bool isAlphabet =
        name == u"mathbb" || name == u"mathcal" || name == u"mathscr" || name == u"mathfrak";
    const NamedFont* font = knownIn(kFonts, name);
    if (!isAlphabet && font == nullptr)
        return false;
    if (name == u"rm" || name == u"bf") { // up to the end of the group
        m_font = font->font;
        return true;
    }
    const MathFont outer = m_font;
    const QString outerAlphabet = m_alphabet;
    if (font != nullptr)
        m_font = font->font;
    m_alphabet = isAlphabet ? name.toString() : QString();
    node = readArgument();
    m_font = outer;
    m_alphabet = outerAlphabet;
    return true;
}

/// Words stay words; a formula within them is one again.
MathNode MathReader::readWords(MathFont font) {
    const QStringView inside = readGroupText();
    MathNode row;
    const QList<QStringView> pieces = betweenDollars(inside);
    if (pieces.size() % 2 == 0 || m_depth + 2 > kDeepestFormula)
        return fail();
    for (qsizetype i = 0; i < pieces.size() && !m_hasFailed; ++i) {
        if (pieces[i].isEmpty() || !spend())
            continue;
        if (i % 2 == 1) {
            const auto inner = parseMath(pieces[i]);
            if (!inner)
                return fail();
            m_nodes += static_cast<int>(pieces[i].size());
            row.parts.push_back(*inner);
            continue;
        }
        MathNode word{.kind = MathKind::Word, .font = font};
        word.text = pieces[i].toString().replace(u'\n', u' ').replace(u'~', u' ');
        for (const QLatin1String mark : {QLatin1String("\\_"),
                                         QLatin1String("\\%"),
                                         QLatin1String("\\&"),
                                         QLatin1String("\\#"),
                                         QLatin1String("\\$"),
                                         QLatin1String("\\{"),
                                         QLatin1String("\\}"),
                                         QLatin1String("\\ ")})
            word.text.replace(mark, QString(mark[1]));
        row.parts.push_back(std::move(word));
    }
    return row;
}

bool MathReader::readIgnored(QStringView name) {
    if (name == u"label") {
        readGroupText();
        return true;
    }
    if (name == u"color") {
        readGroupText();
        return true;
    }
    return name == u"nonumber" || name == u"notag" || name == u"hline" || name == u"allowbreak" ||
           name == u"nobreak" || name == u"/";
}

MathNode MathReader::readNamed(QStringView name, qsizetype begin) {
    MathNode node;
    if (readSpacing(name, node) || readLetters(name, node) || readStructure(name, node) ||
        readAround(name, node))
        return node;
    if (readIgnored(name))
        return {};
    if (const auto large = operatorOf(name))
        return *large;
    if (const auto function = functionOf(name))
        return *function;
    if (const MathSymbol* known = symbolOf(name)) {
        const QString sign = QString::fromUtf16(known->sign);
        const bool isSmallGreek = sign[0] >= QChar(0x3B1) && sign[0] <= QChar(0x3F5);
        const bool isLetter = isSmallGreek || name == u"partial" || name == u"imath";
        const bool isBold = m_font == MathFont::Bold || m_font == MathFont::BoldItalic;
        return mathSymbol(sign,
                          known->atom,
                          isLetter ? (isBold ? MathFont::BoldItalic : MathFont::Italic)
                                   : (isBold ? MathFont::Bold : MathFont::Upright));
    }
    if (name == u"begin")
        return readEnvironment(begin);
    return readUnknown(begin);
}

/// As it was written, with the groups that follow at once: they may be its arguments.
MathNode MathReader::readUnknown(qsizetype begin) {
    while (!m_hasFailed && (peek() == u'{' || peek() == u'[')) {
        const qsizetype before = m_at;
        if (peek() == u'{')
            readGroupText();
        else
            readOptionText();
        if (m_at == before)
            break;
    }
    MathNode node{.kind = MathKind::Source, .font = MathFont::Mono};
    node.text = m_text.mid(begin, m_at - begin).toString().simplified();
    return node;
}

bool MathReader::readStructure(QStringView name, MathNode& node) {
    if (name == u"frac" || name == u"dfrac" || name == u"tfrac" || name == u"cfrac" ||
        name == u"binom" || name == u"dbinom" || name == u"tbinom") {
        node = readFraction(name);
    } else if (name == u"sqrt") {
        node = readRoot();
    } else if (name == u"left") {
        node = readFenced();
    } else if (name == u"not") {
        node = readNegated();
    } else if (name == u"operatorname") {
        const bool hasLimits = peek() == u'*';
        m_at += hasLimits ? 1 : 0;
        node = MathNode{.kind = MathKind::Word, .atom = AtomClass::Operator};
        node.font = MathFont::Upright;
        node.text = readGroupText().toString();
        node.text.replace(QLatin1String("\\,"), QString(QChar(0x2009)));
        node.hasLimits = hasLimits;
    } else if (name == u"tag") {
        node = MathNode{.kind = MathKind::Word, .font = MathFont::Upright};
        node.text = QStringLiteral("\u2003(%1)").arg(readGroupText());
    } else if (name == u"bmod" || name == u"mod") {
        node = MathNode{.kind = MathKind::Word, .atom = AtomClass::Binary};
        node.font = MathFont::Upright;
        node.text = QStringLiteral("mod");
    } else if (name == u"pmod") {
        node = MathNode{.kind = MathKind::Fenced, .atom = AtomClass::Inner};
        node.fences = {QStringLiteral("("), QStringLiteral(")")};
        MathNode inside;
        MathNode word{.kind = MathKind::Word, .font = MathFont::Upright};
        word.text = QStringLiteral("mod ");
        inside.parts.push_back(std::move(word));
        inside.parts.push_back(readArgument());
        node.parts.push_back(std::move(inside));
    } else if (name.startsWith(u"big") || name.startsWith(u"Big")) {
        const qsizetype before = m_at;
        node = readDelimiter(name);
        if (node.kind != MathKind::Delimiter) {
            m_at = before;
            return false;
        }
    } else {
        return false;
    }
    return true;
}

MathNode MathReader::readFraction(QStringView name) {
    MathNode node{.kind = MathKind::Fraction, .atom = AtomClass::Inner};
    node.isBare = name.endsWith(u"binom");
    if (node.isBare)
        node.fences = {QStringLiteral("("), QStringLiteral(")")};
    node.amount = name[0] == u'd' || name[0] == u'c' ? 1.0 : name[0] == u't' ? 2.0 : 0.0;
    node.parts.push_back(readArgument());
    node.parts.push_back(readArgument());
    return node;
}

MathNode MathReader::readRoot() {
    MathNode node{.kind = MathKind::Root};
    skipSpaces();
    MathNode index;
    if (peek() == u'[') {
        ++m_at;
        Ending ending = Ending::Text;
        index = readRow(endsBracket, ending);
    }
    node.parts.push_back(readArgument());
    node.parts.push_back(std::move(index));
    return node;
}

QString MathReader::readFence() {
    skipSpaces();
    if (atEnd()) {
        fail();
        return {};
    }
    const qsizetype begin = m_at;
    if (peek() == u'\\')
        readCommand();
    else
        ++m_at;
    const QString fence = fenceOf(m_text.mid(begin, m_at - begin));
    if (fence.isNull())
        fail();
    return fence;
}

MathNode MathReader::readFenced() {
    MathNode node{.kind = MathKind::Fenced, .atom = AtomClass::Inner};
    node.fences << readFence();
    bool isOpen = true;
    while (isOpen && !m_hasFailed) {
        Ending ending = Ending::Text;
        node.parts.push_back(readRow(endsFence, ending));
        isOpen = readCommand() == u"middle";
        node.fences << readFence();
    }
    return node;
}

MathNode MathReader::readDelimiter(QStringView name) {
    const bool hasSide = name.endsWith(u'l') || name.endsWith(u'r') || name.endsWith(u'm');
    const QStringView size = hasSide ? name.chopped(1) : name;
    MathNode node{.kind = MathKind::Delimiter};
    node.amount = size == u"big"    ? 1.2
                  : size == u"Big"  ? 1.8
                  : size == u"bigg" ? 2.4
                  : size == u"Bigg" ? 3.0
                                    : 0.0;
    if (node.amount == 0.0)
        return {};
    node.atom = !hasSide              ? AtomClass::Ordinary
                : name.endsWith(u'l') ? AtomClass::Opening
                : name.endsWith(u'r') ? AtomClass::Closing
                                      : AtomClass::Relation;
    node.fences << readFence();
    return node;
}

/// Fails for what cannot be crossed out: shown without a stroke, it would say the opposite.
MathNode MathReader::readNegated() {
    MathNode node = readArgument();
    if (node.kind == MathKind::Row && node.parts.size() == 1) // "\not{=}"
        node = MathNode(node.parts.front());
    if (node.kind != MathKind::Symbol)
        return fail();
    node.text += QChar(0x0338);
    if (node.text == u"=\u0338")
        node.text = QStringLiteral("≠");
    else if (node.text == u"∈\u0338")
        node.text = QStringLiteral("∉");
    return node;
}

/// What stands over, below or around its argument.
bool MathReader::readAround(QStringView name, MathNode& node) {
    const QString accent = accentOf(name);
    if (!accent.isNull()) {
        node = MathNode{.kind = MathKind::Accent};
        node.text = accent;
        node.isLarge = name.startsWith(u"wide") || name.startsWith(u"over");
    } else if (name == u"overline" || name == u"underline") {
        node = MathNode{.kind = MathKind::Line};
        node.text = name.startsWith(u"over") ? QStringLiteral("over") : QString();
    } else if (name == u"overbrace" || name == u"underbrace") {
        node = MathNode{.kind = MathKind::Brace, .atom = AtomClass::Operator};
        node.text = name.startsWith(u"over") ? QStringLiteral("over") : QString();
        node.hasLimits = true;
    } else if (name == u"boxed" || name == u"fbox") {
        node = MathNode{.kind = MathKind::Frame};
    } else if (name == u"phantom" || name == u"hphantom" || name == u"vphantom") {
        node = MathNode{.kind = MathKind::Hidden};
    } else if (name == u"mathop" || name == u"mathbin" || name == u"mathrel" ||
               name == u"mathord" || name == u"mathopen" || name == u"mathclose") {
        MathNode inside = readArgument();
        node = MathNode{.kind = MathKind::Row};
        node.atom = name == u"mathop"      ? AtomClass::Operator
                    : name == u"mathbin"   ? AtomClass::Binary
                    : name == u"mathrel"   ? AtomClass::Relation
                    : name == u"mathopen"  ? AtomClass::Opening
                    : name == u"mathclose" ? AtomClass::Closing
                                           : AtomClass::Ordinary;
        node.hasLimits = name == u"mathop";
        node.parts.push_back(std::move(inside));
        return true;
    } else if (name == u"textcolor") {
        readGroupText();
        node = readArgument();
        return true;
    } else if (name == u"overset" || name == u"stackrel" || name == u"underset") {
        MathNode small = readArgument();
        node = MathNode{.kind = MathKind::Stack};
        node.parts.push_back(readArgument());
        node.atom = name == u"stackrel" ? AtomClass::Relation : node.parts[0].atom;
        node.parts.push_back(name == u"underset" ? MathNode() : small);
        node.parts.push_back(name == u"underset" ? small : MathNode());
        return true;
    } else if (name == u"xrightarrow" || name == u"xleftarrow") {
        node = MathNode{.kind = MathKind::Arrow, .atom = AtomClass::Relation};
        node.fences << (name == u"xleftarrow" ? QStringLiteral("←") : QStringLiteral("→"));
        MathNode below;
        if (peek() == u'[') {
            ++m_at;
            Ending ending = Ending::Text;
            below = readRow(endsBracket, ending);
        }
        node.parts.push_back(readArgument());
        node.parts.push_back(std::move(below));
        return true;
    } else if (name == u"substack") {
        node = readTable(name);
        return true;
    } else {
        return false;
    }
    node.parts.push_back(readArgument());
    return true;
}

} // namespace ui
