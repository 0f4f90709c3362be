// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/formula_finder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace ui {

namespace {

constexpr qsizetype kLongest = 4000;

bool isWordCharacter(QChar character) { return character.isLetterOrNumber(); }

bool hasBlankLine(QStringView text) {
    bool isBlank = false;
    for (const QChar character : text) {
        if (character == u'\n' && isBlank)
            return true;
        if (character == u'\n')
            isBlank = true;
        else if (!character.isSpace() && character != u'>')
            isBlank = false;
    }
    return false;
}

/// The end of the group in braces that may begin here.
qsizetype behindGroup(QStringView text, qsizetype at) {
    if (at >= text.size() || text[at] != u'{')
        return at;
    int depth = 0;
    for (; at < text.size(); ++at) {
        depth += text[at] == u'{' ? 1 : text[at] == u'}' ? -1 : 0;
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/// Two words beside each other that are neither commands nor within \text{...} and its like.
bool hasProse(QStringView inside) {
    int words = 0;
    for (qsizetype at = 0; at < inside.size();) {
        if (inside[at] == u'\\') {
            qsizetype end = at + 1;
            while (end < inside.size() && inside[end].isLetter())
                ++end;
            const QStringView name = inside.mid(at + 1, end - at - 1);
            const bool holdsWords = name.startsWith(u"text") || name.startsWith(u"math") ||
                                    name.startsWith(u"operatorname") || name == u"mbox" ||
                                    name == u"begin" || name == u"end" || name == u"label";
            at = holdsWords ? behindGroup(inside, end) : std::max(end, at + 2);
            words = 0;
            continue;
        }
        if (inside[at].isLetter()) {
            const qsizetype begin = at;
            while (at < inside.size() && (inside[at].isLetter() || inside[at] == u'\''))
                ++at;
            words = at - begin >= 2 ? words + 1 : 0;
            if (words == 2)
                return true;
            continue;
        }
        words = inside[at].isSpace() ? words : 0;
        ++at;
    }
    return false;
}

bool hasMathSign(QStringView inside) {
    return std::ranges::any_of(
        inside, [](QChar character) { return QStringView(u"\\^_=<>+*/|{").contains(character); });
}

bool isInScheme(QChar character) {
    const bool isPlain = character < QChar(0x7F) && character.isLetterOrNumber();
    return isPlain || QStringView(u"+-._${}").contains(character);
}

bool isInAddress(QChar character) {
    return character > u' ' && character < QChar(0x7F) &&
           !QStringView(u"`<>\"").contains(character);
}

/// From its first to behind its last character.
struct Address {
    qsizetype begin = 0;
    qsizetype end = 0;
};

/// The web addresses and their like in a text, ascending: a scheme, "://", and what follows, up to
/// a space or a character that is encoded in addresses, such as those of other scripts.
std::vector<Address> addressesIn(QStringView text) {
    std::vector<Address> found;
    qsizetype from = 0;
    for (qsizetype at = text.indexOf(u"://"); at >= 0; at = text.indexOf(u"://", from)) {
        Address address{at, at};
        while (address.begin > from && isInScheme(text[address.begin - 1]))
            --address.begin;
        while (address.end < text.size() && isInAddress(text[address.end]))
            ++address.end;
        from = address.end;
        found.push_back(address);
    }
    return found;
}

/// Behind the title of a link that may begin here, and the spaces around it; -1 when it does not
/// end on its line.
qsizetype behindTitle(QStringView text, qsizetype at) {
    const auto skipSpaces = [&] {
        while (at < text.size() && (text[at] == u' ' || text[at] == u'\t'))
            ++at;
    };
    skipSpaces();
    if (at >= text.size() || !QStringView(u"\"'(").contains(text[at]))
        return at;
    const QChar open = text[at];
    const QChar close = open == u'(' ? QChar(u')') : open;
    for (++at; at < text.size() && text[at] != close; ++at) {
        if (text[at] == u'\n' || text[at] == open)
            return -1;
        if (text[at] == u'\\')
            ++at;
    }
    if (at >= text.size())
        return -1;
    ++at;
    skipSpaces();
    return at;
}

/// The end of a link's address that begins here, without its title; -1 when it has none.
qsizetype behindAddress(QStringView text, qsizetype at) {
    constexpr int kMostParentheses = 32; // as readers of Markdown bound it
    const bool hasBrackets = at < text.size() && text[at] == u'<';
    int depth = 0;
    for (at += hasBrackets ? 1 : 0; at < text.size(); ++at) {
        const QChar here = text[at];
        if (here == u'`' || here == u'\n' || (hasBrackets && here == u'<'))
            return -1; // code goes before links
        if (hasBrackets && here == u'>')
            return at + 1;
        if (here == u'\\')
            ++at;
        else if (!hasBrackets && (here <= u' ' || (here == u')' && depth-- == 0)))
            return at;
        else if (!hasBrackets && here == u'(' && ++depth > kMostParentheses)
            return -1;
    }
    return -1;
}

/// What stands in parentheses behind the texts of links and pictures, ascending: an address, often
/// a relative one, and a title.
std::vector<Address> linksIn(QStringView text) {
    std::vector<Address> found;
    if (!text.contains(u"]("))
        return found;
    int open = 0; // brackets
    for (qsizetype at = 0; at < text.size(); ++at) {
        const QChar here = text[at];
        const QChar next = at + 1 < text.size() ? text[at + 1] : QChar();
        if (here == u'\\')
            ++at;
        else if (here == u'[')
            ++open;
        else if (here == u'\n' && next == u'\n')
            open = 0;
        if (here != u']' || open == 0)
            continue;
        --open;
        if (next != u'(')
            continue;
        qsizetype begin = at + 2;
        while (begin < text.size() && (text[begin] == u' ' || text[begin] == u'\t'))
            ++begin;
        const qsizetype address = behindAddress(text, begin);
        const qsizetype end = address < 0 ? -1 : behindTitle(text, address);
        if (end < 0 || end >= text.size() || text[end] != u')')
            continue;
        found.push_back({begin, end});
        at = end;
    }
    return found;
}

bool isWithin(const std::vector<Address>& addresses, qsizetype place) {
    const auto next = std::ranges::upper_bound(addresses, place, {}, &Address::begin);
    return next != addresses.begin() && place < std::prev(next)->end;
}

/// One pass over a text.
class Finder {
public:
    explicit Finder(QStringView text)
        : m_text(text)
        , m_addresses(addressesIn(text))
        , m_links(linksIn(text)) {}

    std::vector<FormulaSpan> find() {
        for (m_at = 0; m_at < m_text.size();) {
            const QChar here = m_text[m_at];
            if (here == u'`')
                skipCode();
            else if (here == u'\\')
                readBackslash();
            else if (here == u'$')
                readDollar();
            else
                ++m_at;
        }
        return std::move(m_found);
    }

private:
    QChar at(qsizetype place) const {
        return place >= 0 && place < m_text.size() ? m_text[place] : QChar();
    }

    qsizetype runLength(qsizetype begin) const {
        qsizetype end = begin;
        while (end < m_text.size() && m_text[end] == m_text[begin])
            ++end;
        return end - begin;
    }

    /// Over inline code, or a fenced block.
    void skipCode() {
        const qsizetype length = runLength(m_at);
        const qsizetype begin = m_at;
        m_at += length;
        for (qsizetype next = m_at; next < m_text.size();) {
            next = m_text.indexOf(u'`', next);
            if (next < 0)
                return;
            const qsizetype closing = runLength(next);
            if (closing == length) {
                if (length >= 3 || !hasBlankLine(m_text.mid(begin, next - begin)))
                    m_at = next + closing;
                return;
            }
            next += closing;
        }
    }

    /// The next place of a closing mark; each is searched once however many opening ones there are.
    qsizetype closing(std::size_t which, QStringView mark, qsizetype from) {
        std::optional<qsizetype>& known = m_closing.at(which);
        if (!known || (*known >= 0 && *known < from)) {
            qsizetype next = m_text.indexOf(mark, from);
            while (next > 0 && isEscaped(next))
                next = m_text.indexOf(mark, next + 1);
            known = next;
        }
        return *known;
    }

    bool isEscaped(qsizetype place) const {
        qsizetype slashes = 0;
        while (slashes < place && m_text[place - 1 - slashes] == u'\\')
            ++slashes;
        return slashes % 2 == 1;
    }

    bool add(qsizetype begin, qsizetype end, bool isDisplay) {
        if (end - begin > kLongest || hasBlankLine(m_text.mid(begin, end - begin)))
            return false;
        m_found.push_back({static_cast<int>(begin), static_cast<int>(end), isDisplay});
        m_at = end;
        return true;
    }

    void readBackslash() {
        const qsizetype begin = m_at;
        const QChar next = at(begin + 1);
        m_at += 2;
        if ((next != u'(' && next != u'[') || isWithin(m_links, begin))
            return;
        const bool isDisplay = next == u'[';
        const qsizetype end = closing(isDisplay ? 1 : 0, isDisplay ? u"\\]" : u"\\)", begin + 2);
        if (end < 0 || end - begin > kLongest)
            return;
        const QStringView inside = m_text.mid(begin + 2, end - begin - 2).trimmed();
        const bool isNote = std::ranges::all_of(inside, [](QChar character) {
            return character.isDigit() || QStringView(u", -").contains(character);
        });
        // Markdown writes brackets so too: \[1\], \[see below\].
        const bool isText = isNote || (hasProse(inside) && !hasMathSign(inside));
        if (!isText || (isNote && !isDisplay && !inside.isEmpty()))
            add(begin, end + 2, isDisplay);
    }

    bool isWithinAddress(qsizetype place) const {
        return isWithin(m_addresses, place) || isWithin(m_links, place);
    }

    void readDollar() {
        const qsizetype begin = m_at;
        if (isWithinAddress(begin)) {
            ++m_at;
            return;
        }
        if (at(begin + 1) == u'$') {
            m_at += 2;
            const qsizetype end = closing(2, u"$$", begin + 2);
            if (end > begin + 2 && end - begin <= kLongest)
                add(begin, end + 2, true);
            return;
        }
        ++m_at;
        if (isWordCharacter(at(begin - 1)))
            return;
        const qsizetype end = at(begin + 1).isSpace() ? paddedEnd(begin) : inlineEnd(begin + 1);
        if (end < 0 || end - begin > kLongest)
            return;
        const QStringView inside = m_text.mid(begin + 1, end - begin - 1);
        const bool isAmount = !inside.isEmpty() && inside.front().isDigit();
        if (isAmount && inside.contains(u' ') && !hasMathSign(inside))
            return; // from $5 to 10$
        if (!inside.trimmed().isEmpty() && !hasProse(inside))
            add(begin, end + 1, false);
    }

    bool mayClose(qsizetype place) const {
        const QChar behind = at(place + 1);
        return !behind.isDigit() && !behind.isUpper() && behind != u'$' && !isEscaped(place) &&
               !isWithinAddress(place);
    }

    /// The next dollar that can close a formula.
    qsizetype inlineEnd(qsizetype from) {
        if (!m_dollar || (*m_dollar >= 0 && *m_dollar < from)) {
            qsizetype next = m_text.indexOf(u'$', from);
            while (next >= 0 && (!mayClose(next) || at(next - 1).isSpace()))
                next = m_text.indexOf(u'$', next + 1);
            m_dollar = next;
        }
        return *m_dollar;
    }

    /// "$ x = 1 $": both marks keep a distance, and it is no amount.
    qsizetype paddedEnd(qsizetype begin) const {
        const qsizetype end = m_text.indexOf(u'$', begin + 1);
        if (end < 0 || !mayClose(end) || !at(end - 1).isSpace())
            return -1;
        return hasMathSign(m_text.mid(begin + 1, end - begin - 1)) ? end : -1;
    }

    QStringView m_text;
    std::vector<Address> m_addresses;
    std::vector<Address> m_links;
    qsizetype m_at = 0;
    std::array<std::optional<qsizetype>, 3> m_closing;
    std::optional<qsizetype> m_dollar;
    std::vector<FormulaSpan> m_found;
};

} // namespace

std::vector<FormulaSpan> findFormulas(QStringView text) {
    if (!text.contains(u'$') && !text.contains(u'\\'))
        return {};
    return Finder(text).find();
}

QString withoutFormulas(QStringView text, const std::vector<FormulaSpan>& formulas) {
    QString shown = text.toString();
    for (const FormulaSpan& formula : formulas)
        std::fill(shown.begin() + formula.begin, shown.begin() + formula.end, QChar(0xE000));
    return shown;
}

} // namespace ui
