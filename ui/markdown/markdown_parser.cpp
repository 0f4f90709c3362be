// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/markdown_parser.h"

#include "ui/markdown/formula_finder.h"
#include "ui/markdown/plain_characters.h"
#include "ui/markdown/utf8_text.h"

#include <algorithm>
#include <md4c.h>

namespace ui {

namespace {

constexpr std::size_t kDeepest = 12;     ///< deepest level of containers that is reported; deeper
                                         ///< ones look the same
constexpr std::size_t kMostCells = 4000; ///< of a table
constexpr unsigned kFlags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                            MD_FLAG_NOHTML | MD_FLAG_PERMISSIVEURLAUTOLINKS;

struct OpenList {
    bool isOrdered = false;
    bool isTight = false;
    unsigned next = 1;
    QChar mark;
    bool isFirst = true; ///< no item has come
};

QString without(const std::vector<int>& hidden, QString text) {
    for (const int place : hidden)
        text[place] = u'.';
    return text;
}

/// Where a link or a picture leads.
const MD_ATTRIBUTE& targetOf(MD_SPANTYPE type, void* detail) {
    return type == MD_SPAN_A ? static_cast<MD_SPAN_A_DETAIL*>(detail)->href
                             : static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src;
}

/// Takes md4c's callbacks and builds the blocks.
class BlockBuilder {
public:
    /// md4c does not see the characters that are `hidden`, which are shown all the same.
    BlockBuilder(QStringView text, int offset, const std::vector<int>& hidden = {})
        : m_text(text)
        , m_offset(offset)
        , m_formulas(findFormulas(text))
        , m_utf8(without(hidden, withoutFormulas(text, m_formulas)))
        , m_budget(64 + 8 * text.size()) {}

    /// False when the text expanded beyond measure.
    bool build() {
        MD_PARSER parser{};
        parser.flags = kFlags;
        parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
            return static_cast<BlockBuilder*>(self)->enterBlock(type, detail);
        };
        parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
            return static_cast<BlockBuilder*>(self)->leaveBlock(type);
        };
        parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
            return static_cast<BlockBuilder*>(self)->enterSpan(type, detail);
        };
        parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
            return static_cast<BlockBuilder*>(self)->leaveSpan(type, detail);
        };
        parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
            return static_cast<BlockBuilder*>(self)->addText(type, text, size);
        };
        const int result = md_parse(
            m_utf8.bytes().constData(), static_cast<MD_SIZE>(m_utf8.bytes().size()), &parser, this);
        closeLeaf();
        return result == 0;
    }

    std::vector<Block> takeBlocks() { return std::move(m_blocks); }

private:
    int spend() { return --m_budget < 0 ? 1 : 0; }

    int enterBlock(MD_BLOCKTYPE type, void* detail);
    int leaveBlock(MD_BLOCKTYPE type);
    int enterSpan(MD_SPANTYPE type, void* detail);
    int leaveSpan(MD_SPANTYPE type, void* detail);
    int addText(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size);

    void enterItem(const MD_BLOCK_LI_DETAIL& detail);
    void leaveItem();
    void enterCell(MD_ALIGN align);
    void leaveContainer();
    void openLeaf(BlockKind kind);
    void closeLeaf();
    StyledText& part();
    void addRun(const QString& shown, int begin, int end, bool isVerbatim);
    void addWritten(int begin, int end);
    void addFormula(const FormulaSpan& formula);
    void addLineEnd(MD_TEXTTYPE type);
    void addCodeText(const MD_CHAR* text, MD_SIZE size);
    void placeMarkers(int textBegin);
    void addAddress(const MD_ATTRIBUTE& address);
    QString attributeText(const MD_ATTRIBUTE& attribute) const;

    QStringView m_text;
    int m_offset;
    std::vector<FormulaSpan> m_formulas;
    Utf8Text m_utf8;
    qsizetype m_budget; ///< limit of callbacks, and of characters that are shown once more
    std::vector<Block> m_blocks;
    std::vector<Container> m_containers;
    std::size_t m_sharedDepth = 0; ///< containers that were not left since the newest leaf
    std::vector<OpenList> m_lists;
    std::vector<ItemMarker> m_markers; ///< of items whose first leaf has not come
    bool m_isLeafOpen = false;
    bool m_isTightNext = false;
    bool m_isLinkBlank = false; ///< nothing is shown of the innermost link or picture
    std::vector<unsigned> m_styles{kPlainText};
    std::vector<int> m_linkOfSpan{-1};
    int m_cursor = 0;     ///< in m_text, after the text shown last
    int m_codeIndent = 0; ///< spaces that md4c reported without their position
    bool m_isCodeLineNew = true;
    std::size_t m_column = 0;
};

int BlockBuilder::enterBlock(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
    case MD_BLOCK_QUOTE:
        closeLeaf();
        m_containers.push_back(Container::Quote);
        break;
    case MD_BLOCK_UL: {
        const auto& list = *static_cast<MD_BLOCK_UL_DETAIL*>(detail);
        m_lists.push_back({false, list.is_tight != 0, 0, QLatin1Char(list.mark)});
        break;
    }
    case MD_BLOCK_OL: {
        const auto& list = *static_cast<MD_BLOCK_OL_DETAIL*>(detail);
        m_lists.push_back({true, list.is_tight != 0, list.start, QLatin1Char(list.mark_delimiter)});
        break;
    }
    case MD_BLOCK_LI:
        enterItem(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
        break;
    case MD_BLOCK_HR:
        openLeaf(BlockKind::Rule);
        break;
    case MD_BLOCK_H:
        openLeaf(BlockKind::Heading);
        m_blocks.back().headingLevel =
            static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
    case MD_BLOCK_CODE:
        openLeaf(BlockKind::Code);
        m_blocks.back().language =
            showableText(attributeText(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang).left(32));
        m_isCodeLineNew = true;
        break;
    case MD_BLOCK_TABLE:
        openLeaf(BlockKind::Table);
        m_blocks.back().columns.resize(static_cast<MD_BLOCK_TABLE_DETAIL*>(detail)->col_count);
        break;
    case MD_BLOCK_TR:
        m_column = 0;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        if (m_blocks.back().parts.size() >= kMostCells)
            return 1;
        enterCell(static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align);
        break;
    case MD_BLOCK_P:
    case MD_BLOCK_HTML:
        openLeaf(BlockKind::Paragraph);
        break;
    default:
        break;
    }
    return spend();
}

void BlockBuilder::enterCell(MD_ALIGN align) {
    Block& table = m_blocks.back();
    table.parts.emplace_back();
    if (m_column >= table.columns.size())
        return;
    table.columns[m_column++] = align == MD_ALIGN_RIGHT    ? CellAlignment::Right
                                : align == MD_ALIGN_CENTER ? CellAlignment::Centre
                                                           : CellAlignment::Left;
}

int BlockBuilder::leaveBlock(MD_BLOCKTYPE type) {
    switch (type) {
    case MD_BLOCK_QUOTE:
        closeLeaf();
        leaveContainer();
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        m_lists.pop_back();
        break;
    case MD_BLOCK_LI:
        leaveItem();
        break;
    case MD_BLOCK_HR:
    case MD_BLOCK_H:
    case MD_BLOCK_CODE:
    case MD_BLOCK_TABLE:
    case MD_BLOCK_P:
    case MD_BLOCK_HTML:
        closeLeaf();
        break;
    default:
        break;
    }
    return spend();
}

void BlockBuilder::enterItem(const MD_BLOCK_LI_DETAIL& detail) {
    closeLeaf();
    OpenList& list = m_lists.back();
    ItemMarker marker;
    if (detail.is_task != 0)
        marker.text.text =
            detail.task_mark == ' ' ? QStringLiteral("\u2610") : QStringLiteral("\u2611");
    else if (list.isOrdered)
        marker.text.text = QString::number(list.next) + list.mark;
    else
        marker.text.text = QStringLiteral("\u2022");
    ++list.next;
    // The first item of an outermost list keeps its distance from what is before the list.
    m_isTightNext = list.isTight && (!list.isFirst || m_lists.size() > 1);
    list.isFirst = false;
    marker.level = static_cast<int>(m_containers.size());
    m_containers.push_back(Container::Item);
    m_markers.push_back(std::move(marker));
}

void BlockBuilder::leaveItem() {
    const bool isEmpty =
        !m_markers.empty() && m_markers.back().level == static_cast<int>(m_containers.size()) - 1;
    if (isEmpty && !m_isLeafOpen)
        openLeaf(BlockKind::Paragraph);
    closeLeaf();
    leaveContainer();
}

void BlockBuilder::leaveContainer() {
    m_containers.pop_back();
    m_sharedDepth = std::min(m_sharedDepth, m_containers.size());
}

void BlockBuilder::openLeaf(BlockKind kind) {
    closeLeaf();
    Block block;
    block.kind = kind;
    block.isTight = m_isTightNext;
    m_isTightNext = !m_lists.empty() && m_lists.back().isTight;
    block.containers = m_containers;
    block.containers.resize(std::min(m_containers.size(), kDeepest));
    block.sharedContainers = std::min(m_sharedDepth, kDeepest);
    m_sharedDepth = m_containers.size();
    for (ItemMarker& marker : m_markers)
        if (marker.level < static_cast<int>(kDeepest))
            block.markers.push_back(std::move(marker));
    m_markers.clear();
    if (kind == BlockKind::Paragraph || kind == BlockKind::Heading)
        block.parts.emplace_back();
    m_blocks.push_back(std::move(block));
    m_isLeafOpen = true;
}

void BlockBuilder::closeLeaf() {
    if (m_isLeafOpen && m_blocks.back().kind == BlockKind::Paragraph) {
        // A line break at the very end has nothing after it.
        StyledText& last = part();
        while (!last.text.isEmpty() && last.text.back() == QChar::LineSeparator) {
            last.text.chop(1);
            last.runs.pop_back();
        }
    }
    m_isLeafOpen = false;
}

StyledText& BlockBuilder::part() {
    if (!m_isLeafOpen)
        openLeaf(BlockKind::Paragraph); // md4c announces none in tight lists
    if (m_blocks.back().parts.empty())
        m_blocks.back().parts.emplace_back();
    return m_blocks.back().parts.back();
}

int BlockBuilder::enterSpan(MD_SPANTYPE type, void* detail) {
    part();
    const unsigned style = type == MD_SPAN_STRONG                      ? kStrong
                           : type == MD_SPAN_CODE                      ? kInlineCode
                           : type == MD_SPAN_DEL                       ? kStrikethrough
                           : type == MD_SPAN_A                         ? kLink
                           : type == MD_SPAN_EM || type == MD_SPAN_IMG ? kEmphasis
                                                                       : kPlainText;
    int link = m_linkOfSpan.back();
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
        link = static_cast<int>(m_blocks.back().links.size());
        m_blocks.back().links.push_back(showableText(attributeText(targetOf(type, detail))));
        m_isLinkBlank = true;
    }
    m_styles.push_back(m_styles.back() | style);
    m_linkOfSpan.push_back(link);
    return spend();
}

int BlockBuilder::leaveSpan(MD_SPANTYPE type, void* detail) {
    if (m_isLinkBlank && (type == MD_SPAN_A || type == MD_SPAN_IMG))
        addAddress(targetOf(type, detail));
    m_styles.pop_back();
    m_linkOfSpan.pop_back();
    return spend();
}

/// A link without words and a picture without a description show their address.
void BlockBuilder::addAddress(const MD_ATTRIBUTE& address) {
    const QString shown = showableText(attributeText(address));
    const int begin = m_utf8.unitOf(address.text);
    int opening = begin;
    while (opening > m_cursor && (m_text[opening - 1].isSpace() || m_text[opening - 1] == u'<'))
        --opening;
    const bool isHere = opening > m_cursor && m_text[opening - 1] == u'(';
    const int from = isHere ? begin : m_cursor;
    const auto length = isHere ? static_cast<int>(shown.size()) : 1; // or copies would leave it out
    addRun(shown, from, std::min(from + length, static_cast<int>(m_text.size())), isHere);
    m_budget -= isHere ? 0 : shown.size(); // many links may repeat the address of a definition
}

QString BlockBuilder::attributeText(const MD_ATTRIBUTE& attribute) const {
    // An address may hold what looks like a formula, which md4c does not see.
    if (const int begin = m_utf8.unitOf(attribute.text); begin >= 0)
        return m_text.mid(begin, m_utf8.unitOf(attribute.text + attribute.size) - begin).toString();
    return QString::fromUtf8(attribute.text, static_cast<qsizetype>(attribute.size));
}

int BlockBuilder::addText(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size) {
    part();
    if (m_blocks.back().kind == BlockKind::Code) {
        addCodeText(text, size);
        return spend();
    }
    const int begin = m_utf8.unitOf(text);
    if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR || (begin < 0 && size == 1 && *text == ' ')) {
        addLineEnd(type);
    } else if (begin >= 0 && size > 0) {
        const int end = m_utf8.unitOf(text + size);
        if (type == MD_TEXT_ENTITY)
            addRun(decodedEntity(m_text.mid(begin, end - begin)), begin, end, false);
        else if (type == MD_TEXT_CODE)
            addRun(showableText(m_text.mid(begin, end - begin)), begin, end, true);
        else
            addWritten(begin, end);
    }
    return spend();
}

/// Text and the formulas in it.
void BlockBuilder::addWritten(int begin, int end) {
    auto next = std::ranges::lower_bound(m_formulas, begin, {}, &FormulaSpan::begin);
    for (; next != m_formulas.end() && next->end <= end; ++next) {
        if (next->begin > begin)
            addRun(showableText(m_text.mid(begin, next->begin - begin)), begin, next->begin, true);
        addFormula(*next);
        begin = next->end;
        while (!m_isLeafOpen && begin < end && m_text[begin] == u' ')
            ++begin; // in front of a line
    }
    if (begin < end)
        addRun(showableText(m_text.mid(begin, end - begin)), begin, end, true);
}

/// One on a line of its own is a block, except in a heading or a table.
void BlockBuilder::addFormula(const FormulaSpan& formula) {
    const bool isQuoted = std::ranges::count(m_containers, Container::Quote) > 0;
    const QString shown =
        showableLines(m_text.mid(formula.begin, formula.end - formula.begin), isQuoted);
    part();
    const bool isBlock = formula.isDisplay && m_blocks.back().kind == BlockKind::Paragraph;
    if (isBlock) {
        if (!part().runs.empty())
            openLeaf(BlockKind::Paragraph);
        m_blocks.back().kind = BlockKind::Formula;
    }
    m_styles.push_back(m_styles.back() | kFormula);
    addRun(shown, formula.begin, formula.end, true);
    m_styles.pop_back();
    if (isBlock)
        closeLeaf();
}

void BlockBuilder::addLineEnd(MD_TEXTTYPE type) {
    const auto found = static_cast<int>(m_text.indexOf(u'\n', m_cursor));
    const int begin = found < 0 ? m_cursor : found;
    // Verses and lists without marks rely on their line ends; only inline code shows a space.
    const bool isBreak = type == MD_TEXT_BR || type == MD_TEXT_SOFTBR;
    const bool isBehindFormula = part().runs.empty() && m_blocks.size() > 1 &&
                                 m_blocks[m_blocks.size() - 2].kind == BlockKind::Formula;
    if (isBreak && isBehindFormula) {
        m_cursor = found < 0 ? m_cursor : found + 1;
        return;
    }
    const QChar shown = isBreak ? QChar(QChar::LineSeparator) : QChar(u' ');
    addRun(shown, begin, found < 0 ? begin : begin + 1, false);
}

void BlockBuilder::addCodeText(const MD_CHAR* text, MD_SIZE size) {
    std::vector<StyledText>& lines = m_blocks.back().parts;
    if (m_isCodeLineNew && lines.size() == 1 && lines[0].runs.empty() && lines[0].newline < 0)
        m_isCodeLineNew = false;
    if (m_isCodeLineNew)
        lines.emplace_back();
    m_isCodeLineNew = false;
    const int begin = m_utf8.unitOf(text);
    if (begin >= 0) {
        int from = begin;
        while (m_codeIndent > 0 && from > m_cursor && m_text[from - 1] == u' ') {
            --from;
            --m_codeIndent;
        }
        if (m_codeIndent > 0)
            addRun(QString(m_codeIndent, u' '), from, from, false);
        m_codeIndent = 0;
        const int end = m_utf8.unitOf(text + size);
        addRun(showableText(m_text.mid(from, end - from)), from, end, true);
    } else if (size > 0 && *text == '\n') {
        const auto found = static_cast<int>(m_text.indexOf(u'\n', m_cursor));
        lines.back().newline = found < 0 ? -1 : m_offset + found;
        m_cursor = found < 0 ? m_cursor : found + 1;
        m_codeIndent = 0;
        m_isCodeLineNew = true;
    } else if (size > 0 && *text == ' ') {
        m_codeIndent += static_cast<int>(size);
    }
}

void BlockBuilder::addRun(const QString& shown, int begin, int end, bool isVerbatim) {
    StyledText& target = part();
    if (target.runs.empty())
        placeMarkers(begin);
    target.runs.push_back({static_cast<int>(target.text.size()),
                           static_cast<int>(shown.size()),
                           m_offset + begin,
                           m_offset + end,
                           isVerbatim,
                           m_styles.back(),
                           m_linkOfSpan.back()});
    target.text += shown;
    m_isLinkBlank = m_isLinkBlank && QStringView(shown).trimmed().isEmpty();
    m_cursor = std::max(m_cursor, end);
}

/// md4c does not report the position of a marker: it is right before its item's text and its signs.
void BlockBuilder::placeMarkers(int textBegin) {
    std::vector<ItemMarker>& markers = m_blocks.back().markers;
    if (markers.empty() || !markers.back().text.runs.empty())
        return;
    StyledText& marker = markers.back().text;
    const auto isSpace = [&](int place) { return m_text[place] == u' ' || m_text[place] == u'\t'; };
    int end = textBegin;
    while (end > m_cursor && !isSpace(end - 1) && m_text[end - 1] != u'\n')
        --end;
    while (end > m_cursor && isSpace(end - 1))
        --end;
    const auto length = static_cast<int>(marker.text.size());
    const bool isTask = marker.text == u"\u2610" || marker.text == u"\u2611";
    const bool isBullet = marker.text == u"\u2022";
    const int begin = end - (isTask ? 3 : length);
    if (begin < m_cursor || begin == end)
        return;
    const QStringView written = m_text.mid(begin, end - begin);
    const bool isFound = isTask     ? written[0] == u'[' && written[2] == u']'
                         : isBullet ? QStringView(u"-*+").contains(written[0])
                                    : written == marker.text;
    if (isFound)
        marker.runs.push_back(
            {0, length, m_offset + begin, m_offset + end, !isTask && !isBullet, kPlainText, -1});
}

} // namespace

std::vector<Block> parseMarkdown(QStringView text, int offset) {
    BlockBuilder builder(text, offset);
    if (!builder.build())
        return {plainBlock(text, offset)};
    std::vector<Block> blocks = builder.takeBlocks();
    if (blocks.empty())
        return plainLines(text, offset);
    const std::vector<int> unused = unusedDefinitions(text, blocks);
    if (unused.empty())
        return blocks;
    BlockBuilder again(text, offset, unused);
    return again.build() ? again.takeBlocks() : std::vector{plainBlock(text, offset)};
}

} // namespace ui
