// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/import/json_pieces.h"

#include <QIODevice>

#include <utility>

namespace ui {

namespace {

constexpr qint64 kChunkBytes = 1 << 20;

} // namespace

JsonPieces::JsonPieces(QIODevice& file, qint64 mostBytes)
    : m_file(file)
    , m_mostBytes(mostBytes) {}

bool JsonPieces::stop(Fault fault) {
    m_fault = fault;
    return false;
}

bool JsonPieces::readMore(QList<JsonPiece>& pieces) {
    if (m_fault != Fault::None)
        return false;
    QByteArray chunk(kChunkBytes, Qt::Uninitialized);
    const qint64 count = m_file.read(chunk.data(), chunk.size());
    if (count < 0)
        return stop(Fault::Unreadable);
    if (count == 0)
        return m_depth > 0 || m_isInList ? stop(Fault::Cut) : false;
    chunk.truncate(count);
    return skipMark(chunk) && scan(chunk, pieces);
}

// There may be a byte order mark at the beginning.
bool JsonPieces::skipMark(QByteArray& chunk) {
    if (m_offset > 0)
        return true;
    if (chunk.startsWith("\xff\xfe") || chunk.startsWith("\xfe\xff"))
        return stop(Fault::NoUtf8);
    if (chunk.startsWith("\xef\xbb\xbf")) {
        chunk.remove(0, 3);
        m_offset = 3;
    }
    return true;
}

bool JsonPieces::scan(const QByteArray& chunk, QList<JsonPiece>& pieces) {
    const qint64 chunkOffset = m_offset;
    qsizetype begin = 0; // of the part that belongs to the piece
    for (qsizetype i = 0; i < chunk.size(); ++i) {
        m_offset = chunkOffset + i;
        if (m_depth > 0) {
            scanInside(chunk[i]);
            if (m_depth > 0)
                continue;
            keep(chunk, begin, i + 1);
            pieces.append(std::exchange(m_piece, {}));
        } else if (chunk[i] == '{') {
            m_piece.offset = m_offset;
            m_depth = 1;
            begin = i;
        } else if (!scanBetween(chunk[i])) {
            return stop(Fault::NoJson);
        }
    }
    m_offset = chunkOffset + chunk.size();
    if (m_depth > 0)
        keep(chunk, begin, chunk.size());
    return true;
}

/// False for a character that is not allowed between two objects.
bool JsonPieces::scanBetween(char byte) {
    switch (byte) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
        return true;
    case '[':
        return !std::exchange(m_isInList, true) && !std::exchange(m_hadList, true);
    case ']':
        return std::exchange(m_isInList, false);
    default:
        return false;
    }
}

void JsonPieces::scanInside(char byte) {
    if (m_isEscaped)
        m_isEscaped = false;
    else if (m_isInString && byte == '\\')
        m_isEscaped = true;
    else if (byte == '"')
        m_isInString = !m_isInString;
    else if (!m_isInString && (byte == '{' || byte == '['))
        ++m_depth;
    else if (!m_isInString && (byte == '}' || byte == ']'))
        --m_depth;
}

void JsonPieces::keep(const QByteArray& chunk, qsizetype begin, qsizetype end) {
    if (m_piece.isTooLong || m_piece.bytes.size() + end - begin > m_mostBytes) {
        m_piece.isTooLong = true;
        m_piece.bytes.clear();
        return;
    }
    m_piece.bytes.append(chunk.constData() + begin, end - begin);
}

} // namespace ui
