// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QList>

class QIODevice;

namespace ui {

/// One JSON object of a file, as its bytes.
struct JsonPiece {
    qint64 offset = 0; ///< of its first byte in the file
    QByteArray bytes;  ///< empty when isTooLong
    bool isTooLong = false;
};

/// Cuts a file into its outermost JSON objects without holding the whole file: the objects of a
/// list, or objects in sequence as in JSON Lines. Only brackets and strings are examined, so a
/// damaged object does not affect those after it. Thread: any, one at a time.
class JsonPieces {
public:
    enum class Fault {
        None,
        Unreadable, ///< the system refused to read
        NoJson,     ///< something else is where an object or the list's end should be: see offset()
        NoUtf8,     ///< the file is UTF-16
        Cut,        ///< it ends inside of an object or of the list
    };

    /// `file` is open and outlives it. Objects above `mostBytes` come without their bytes.
    JsonPieces(QIODevice& file, qint64 mostBytes);

    /// Reads about a mebibyte and adds the objects that end in it. Returns false when nothing is
    /// left, or nothing can be read after a fault.
    bool readMore(QList<JsonPiece>& pieces);

    Fault fault() const { return m_fault; }

    /// Bytes looked at so far; with a fault, where it is.
    qint64 offset() const { return m_offset; }

private:
    bool skipMark(QByteArray& chunk);
    bool scan(const QByteArray& chunk, QList<JsonPiece>& pieces);
    bool scanBetween(char byte);
    void scanInside(char byte);
    void keep(const QByteArray& chunk, qsizetype begin, qsizetype end);
    bool stop(Fault fault);

    QIODevice& m_file;
    qint64 m_mostBytes;
    qint64 m_offset = 0;
    JsonPiece m_piece; ///< the one that has begun
    Fault m_fault = Fault::None;
    int m_depth = 0; ///< brackets open inside of the piece; 0 = between two
    bool m_isInList = false;
    bool m_hadList = false;
    bool m_isInString = false;
    bool m_isEscaped = false;
};

} // namespace ui
