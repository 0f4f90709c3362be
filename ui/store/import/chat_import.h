// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"
#include "ui/store/import/json_pieces.h"

#include <QFile>
#include <QJsonObject>
#include <QStringList>

#include <memory>

namespace ui {

/// The result of a part of an import.
struct ImportSlice {
    QList<Chat> chats;    ///< ids count from 1 in each
    QStringList problems; ///< a sentence each: which file and chat, what, what to do
    int leftOut = 0;      ///< chats that were left out, as `problems` say
    qint64 bytesRead = 0; ///< of all files so far
    qint64 bytesTotal = 0;
    bool isOver = false;
};

/// Reads the chats of files and folders, about a mebibyte at a time, so that other work of the
/// thread gets its turn. Files are JSON or JSON Lines in any of the forms of chat_formats.h; a
/// folder is a thread of Jan, or holds such files and threads. Nothing is ever written. Thread:
/// any, one at a time.
class ChatImport {
public:
    /// A chat above this is left out.
    static constexpr qint64 kMostChatBytes = qint64{64} << 20;
    /// Most files of a folder and its subfolders that are read.
    static constexpr int kMostEntries = 100'000;

    explicit ChatImport(QStringList paths, int mostEntries = kMostEntries);

    /// Continues reading. After the end it says isOver again.
    ImportSlice next();

private:
    void findFiles(ImportSlice& slice);
    void findFilesIn(const QString& path, ImportSlice& slice);
    void openNext(ImportSlice& slice);
    void readOn(ImportSlice& slice);
    void takePiece(const JsonPiece& piece, ImportSlice& slice);
    void takeLine(const JsonPiece& piece, const QJsonObject& json);
    void closeFile(ImportSlice& slice);
    void take(const QJsonObject& json, ImportSlice& slice);
    void leaveOut(const QString& title, const QString& reason, ImportSlice& slice);
    void tellUnknown(ImportSlice& slice) const;
    QString nameOfChat(const QString& title) const;
    QString faultSentence() const;

    QStringList m_paths;
    int m_mostEntries;   ///< of a folder
    QStringList m_files; ///< that wait; of a thread of Jan its thread.json
    bool m_hasFiles = false;
    qint64 m_total = 0;
    qint64 m_before = 0; ///< bytes of the files that are done
    std::unique_ptr<QFile> m_file;
    std::unique_ptr<JsonPieces> m_pieces;
    int m_number = 0;           ///< of the chat in its file, from 1
    int m_unknown = 0;          ///< objects of the file that are no chats
    int m_imported = 0;         ///< chats of the file
    bool m_isThread = false;    ///< the lines of a thread of Jan are being read
    QJsonObject m_thread;       ///< its thread.json
    QList<QJsonObject> m_lines; ///< its messages so far
    qint64 m_lineBytes = 0;     ///< of these
    QString m_threadFault;      ///< why the thread is left out
};

} // namespace ui
