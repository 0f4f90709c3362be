// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/plain_characters.h"

#include <QSet>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

struct NamedCharacter {
    const char16_t* name;
    char16_t unit;
};

// The entities that answers contain; any other is shown as it is written.
constexpr std::array<NamedCharacter, 30> kNamed{{
    {u"amp", u'&'},         {u"lt", u'<'},          {u"gt", u'>'},          {u"quot", u'"'},
    {u"apos", u'\''},       {u"nbsp", u'\u00A0'},   {u"copy", u'\u00A9'},   {u"reg", u'\u00AE'},
    {u"deg", u'\u00B0'},    {u"plusmn", u'\u00B1'}, {u"middot", u'\u00B7'}, {u"times", u'\u00D7'},
    {u"divide", u'\u00F7'}, {u"ndash", u'\u2013'},  {u"mdash", u'\u2014'},  {u"lsquo", u'\u2018'},
    {u"rsquo", u'\u2019'},  {u"ldquo", u'\u201C'},  {u"rdquo", u'\u201D'},  {u"bull", u'\u2022'},
    {u"hellip", u'\u2026'}, {u"euro", u'\u20AC'},   {u"larr", u'\u2190'},   {u"rarr", u'\u2192'},
    {u"harr", u'\u2194'},   {u"ne", u'\u2260'},     {u"le", u'\u2264'},     {u"ge", u'\u2265'},
    {u"micro", u'\u00B5'},  {u"pi", u'\u03C0'},
}};

QString numericEntity(QStringView digits) {
    bool isNumber = false;
    const bool isHex = digits.startsWith(u'x') || digits.startsWith(u'X');
    const uint code = isHex ? digits.mid(1).toUInt(&isNumber, 16) : digits.toUInt(&isNumber, 10);
    if (!isNumber || code == 0 || code > 0x10FFFF || QChar::isSurrogate(code))
        return QString(QChar::ReplacementCharacter);
    const char32_t point = code;
    return showableText(QString::fromUcs4(&point, 1));
}

/// Behind the marks of quotes and items at the beginning of a line.
qsizetype behindMarks(QStringView text, qsizetype place) {
    while (place < text.size()) {
        const QChar mark = text[place];
        const bool isMark = mark == u' ' || mark == u'\t' || mark == u'>';
        qsizetype end = place;
        while (end < text.size() && text[end] >= u'0' && text[end] <= u'9')
            ++end;
        const bool isNumber =
            end > place && end < text.size() && QStringView(u".)").contains(text[end]);
        const bool isBullet = QStringView(u"-*+").contains(mark);
        if (!isMark && !isNumber && !isBullet)
            break;
        place = isNumber ? end + 1 : place + 1;
    }
    return place;
}

/// The colon behind the label that begins here; -1 = none does.
qsizetype colonOfLabel(QStringView text, qsizetype place) {
    constexpr qsizetype kLongestLabel = 999; // of CommonMark
    if (place >= text.size() || text[place] != u'[')
        return -1;
    const qsizetype last = std::min(text.size() - 1, place + kLongestLabel + 2);
    for (qsizetype end = place + 1; end < last; ++end) {
        if (text[end] == u'\\')
            ++end;
        else if (text[end] == u'[')
            return -1;
        else if (text[end] == u']')
            return text[end + 1] == u':' ? end + 1 : -1;
    }
    return -1;
}

/// The address that stands there, or on the next line.
QStringView addressAt(QStringView text, qsizetype place) {
    while (place < text.size() && text[place].isSpace())
        ++place;
    const bool isBracketed = place < text.size() && text[place] == u'<';
    place += isBracketed ? 1 : 0;
    qsizetype end = place;
    while (end < text.size() &&
           (isBracketed ? text[end] != u'>' && text[end] != u'\n' : !text[end].isSpace()))
        ++end;
    return text.mid(place, end - place);
}

} // namespace

bool isShowable(char16_t unit) {
    if (unit < 0x20)
        return unit == u'\t';
    if (unit < 0x7F)
        return true;
    const bool isControl = unit <= 0x9F;
    const bool isDirection =
        (unit >= 0x202A && unit <= 0x202E) || (unit >= 0x2066 && unit <= 0x2069);
    const bool isSeparator = unit == 0x2028 || unit == 0x2029;
    const bool isNoCharacter = unit >= 0xFFF9 && unit <= 0xFFFC;
    return !isControl && !isDirection && !isSeparator && !isNoCharacter;
}

QString showableText(QStringView text) {
    QString shown = text.toString();
    for (QChar& character : shown) {
        if (character == u'\n')
            character = u' ';
        else if (!isShowable(character.unicode()))
            character = QChar::ReplacementCharacter;
    }
    return shown;
}

QString showableLines(QStringView text, bool isQuoted) {
    QString shown = showableText(text);
    bool isAtStart = false; // of a further line
    for (qsizetype i = 0; i < shown.size(); ++i) {
        if (text[i] == u'\n') {
            shown[i] = QChar::LineSeparator;
            isAtStart = true;
        } else if (isQuoted && isAtStart && text[i] == u'>') {
            shown[i] = u' ';
        } else if (!text[i].isSpace()) {
            isAtStart = false;
        }
    }
    return shown;
}

Block plainBlock(QStringView text, int offset) {
    Block block;
    StyledText part;
    part.text = showableText(text);
    const auto size = static_cast<int>(text.size());
    part.runs.push_back({0, size, offset, offset + size, true, kPlainText, -1});
    block.parts.push_back(std::move(part));
    return block;
}

std::vector<Block> plainLines(QStringView text, int offset) {
    std::vector<Block> blocks;
    for (const QStringView line : text.split(u'\n')) {
        const QStringView words = line.trimmed();
        if (!words.isEmpty()) {
            blocks.push_back(
                plainBlock(words, offset + static_cast<int>(words.data() - line.data())));
            blocks.back().isTight = blocks.size() > 1;
        }
        offset += static_cast<int>(line.size()) + 1;
    }
    return blocks;
}

std::vector<int> unusedDefinitions(QStringView text, const std::vector<Block>& blocks) {
    std::vector<int> colons;
    if (!text.contains(u"]:"))
        return colons;
    QSet<QString> used;
    for (const Block& block : blocks)
        used.unite(QSet<QString>(block.links.begin(), block.links.end()));
    for (qsizetype line = 0; line < text.size();) {
        const qsizetype colon = colonOfLabel(text, behindMarks(text, line));
        const QString address = colon >= 0 ? showableText(addressAt(text, colon + 1)) : QString();
        // A link has these decoded, or without the mark of a quote.
        const bool isWritten =
            !address.contains(u'\\') && !address.contains(u'&') && !address.startsWith(u'>');
        if (colon >= 0 && isWritten && !used.contains(address))
            colons.push_back(static_cast<int>(colon));
        const qsizetype end = text.indexOf(u'\n', line);
        line = end < 0 ? text.size() : end + 1;
    }
    return colons;
}

QString decodedEntity(QStringView entity) {
    if (entity.size() < 3)
        return showableText(entity);
    const QStringView name = entity.mid(1, entity.size() - 2);
    if (name.startsWith(u'#'))
        return numericEntity(name.mid(1));
    const auto* found = std::find_if(kNamed.begin(), kNamed.end(), [&](const NamedCharacter& each) {
        return name == QStringView(each.name);
    });
    return found == kNamed.end() ? showableText(entity) : QString(QChar(found->unit));
}

} // namespace ui
