// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/import/chat_import.h"

#include "ui/store/import/chat_formats.h"

#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QJsonDocument>
#include <QLocale>

#include <utility>

namespace ui {

namespace {

struct Import {
    Q_DECLARE_TR_FUNCTIONS(Import)
};

const QString kThreadFile = QStringLiteral("thread.json");
const QString kLinesFile = QStringLiteral("messages.jsonl");
const QStringList kSuffixes = {QStringLiteral("json"), QStringLiteral("jsonl")};

QString shown(const QString& path) { return QDir::toNativeSeparators(path); }

QString unreadable(const QFile& file) {
    return Import::tr("%1 cannot be read (%2). Allow reading it, then import it again.")
        .arg(shown(file.fileName()), file.errorString());
}

/// Why an object of the file cannot be read; `offset` is its place in the file.
QString faultOf(const QJsonParseError& error, qint64 offset) {
    const qint64 place = offset + error.offset;
    switch (error.error) {
    case QJsonParseError::IllegalUTF8String:
        return Import::tr("byte %1 of the file is not valid UTF-8. Save the file as UTF-8 or "
                          "export the chat again, then import it again.")
            .arg(place);
    case QJsonParseError::DeepNesting:
        return Import::tr("it is nested too deeply. Export it again.");
    default:
        return Import::tr("the file is damaged near byte %1. Export the chat again and import it "
                          "again.")
            .arg(place);
    }
}

} // namespace

ChatImport::ChatImport(QStringList paths, int mostEntries)
    : m_paths(std::move(paths))
    , m_mostEntries(mostEntries) {}

ImportSlice ChatImport::next() {
    ImportSlice slice;
    if (!std::exchange(m_hasFiles, true))
        findFiles(slice);
    else if (m_file == nullptr)
        openNext(slice);
    else
        readOn(slice);
    slice.bytesRead = m_before + (m_pieces ? m_pieces->offset() : 0);
    slice.bytesTotal = m_total;
    slice.isOver = m_file == nullptr && m_files.isEmpty();
    return slice;
}

void ChatImport::findFiles(ImportSlice& slice) {
    for (const QString& path : std::as_const(m_paths))
        findFilesIn(path, slice);
    m_files.removeDuplicates();
    for (const QString& file : std::as_const(m_files))
        m_total += QFileInfo(file).size();
}

void ChatImport::findFilesIn(const QString& path, ImportSlice& slice) {
    const QFileInfo info(path);
    if (info.isFile()) {
        const bool isLines = info.fileName() == kLinesFile;
        const QString thread = info.dir().filePath(kThreadFile);
        m_files.append(isLines && QFileInfo::exists(thread) ? thread : path);
        return;
    }
    if (!info.isDir()) {
        slice.problems +=
            Import::tr("%1 is neither a file nor a folder. Choose a JSON file of chats, "
                       "or a folder with such files.")
                .arg(shown(path));
        return;
    }
    const qsizetype before = m_files.size();
    QDirIterator entries(path, QDir::Files | QDir::NoSymLinks, QDirIterator::Subdirectories);
    for (int i = 0; i < m_mostEntries && entries.hasNext(); ++i) {
        const QFileInfo file(entries.next());
        const bool isThreads = file.fileName() == kLinesFile && file.dir().exists(kThreadFile);
        if (!isThreads && kSuffixes.contains(file.suffix().toLower()))
            m_files.append(file.filePath());
    }
    if (entries.hasNext())
        slice.problems +=
            Import::tr("The folder %1 has more than %2 files, and only the first ones were "
                       "looked at. Import its folders one by one.")
                .arg(shown(path), QLocale().toString(m_mostEntries));
    if (m_files.size() == before)
        slice.problems +=
            Import::tr("The folder %1 has no JSON files. Choose the folder to which the chats were "
                       "exported.")
                .arg(shown(path));
}

/// Of a Jan thread, the message lines are read piece by piece; its own file is small.
void ChatImport::openNext(ImportSlice& slice) {
    if (m_files.isEmpty())
        return;
    QString path = m_files.takeFirst();
    m_number = 0;
    m_unknown = 0;
    m_imported = 0;
    m_thread = {};
    m_lines.clear();
    m_lineBytes = 0;
    m_threadFault.clear();
    const QFileInfo info(path);
    m_isThread = info.fileName() == kThreadFile && info.dir().exists(kLinesFile);
    if (m_isThread) {
        QFile thread(path);
        QJsonParseError error{};
        if (thread.open(QIODevice::ReadOnly))
            m_thread = QJsonDocument::fromJson(thread.read(kMostChatBytes), &error).object();
        else
            m_threadFault = unreadable(thread);
        if (error.error != QJsonParseError::NoError)
            m_threadFault = faultOf(error, 0);
        path = info.dir().filePath(kLinesFile);
    }
    m_file = std::make_unique<QFile>(path);
    if (m_file->open(QIODevice::ReadOnly)) {
        m_pieces = std::make_unique<JsonPieces>(*m_file, kMostChatBytes);
        return;
    }
    slice.problems += unreadable(*m_file);
    m_file.reset();
}

void ChatImport::readOn(ImportSlice& slice) {
    QList<JsonPiece> pieces;
    const bool hasMore = m_pieces->readMore(pieces);
    for (const JsonPiece& piece : std::as_const(pieces))
        takePiece(piece, slice);
    if (!hasMore)
        closeFile(slice);
}

void ChatImport::takePiece(const JsonPiece& piece, ImportSlice& slice) {
    if (!m_isThread)
        ++m_number;
    QJsonParseError error{};
    const QJsonObject json =
        piece.isTooLong ? QJsonObject() : QJsonDocument::fromJson(piece.bytes, &error).object();
    QString fault;
    if (piece.isTooLong)
        fault = Import::tr("it is longer than %1 MB. Split it into shorter chats.")
                    .arg(kMostChatBytes >> 20);
    else if (error.error != QJsonParseError::NoError)
        fault = faultOf(error, piece.offset);
    if (m_isThread && fault.isEmpty())
        takeLine(piece, json);
    else if (m_isThread)
        m_threadFault = fault;
    else if (fault.isEmpty())
        take(json, slice);
    else
        leaveOut({}, fault, slice);
}

void ChatImport::takeLine(const JsonPiece& piece, const QJsonObject& json) {
    m_lineBytes += piece.bytes.size();
    if (m_lineBytes <= kMostChatBytes) {
        m_lines.append(json);
        return;
    }
    m_lines.clear();
    m_threadFault = Import::tr("it is longer than %1 MB. Split it into shorter chats.")
                        .arg(kMostChatBytes >> 20);
}

void ChatImport::take(const QJsonObject& json, ImportSlice& slice) {
    const std::optional<ForeignChat> foreign =
        m_isThread ? janChat(m_thread, m_lines) : foreignChat(json);
    if (!foreign) {
        ++m_unknown;
        return;
    }
    ImportedChat imported = chatOf(*foreign);
    const QString title = foreign->record.title;
    if (!imported.chat) {
        leaveOut(title, imported.reason, slice);
        return;
    }
    if (!imported.reason.isEmpty())
        slice.problems += Import::tr("%1: %2").arg(nameOfChat(title), imported.reason);
    slice.chats.append(std::move(*imported.chat));
    ++m_imported;
}

void ChatImport::leaveOut(const QString& title, const QString& reason, ImportSlice& slice) {
    ++slice.leftOut;
    slice.problems += Import::tr("%1 was left out: %2").arg(nameOfChat(title), reason);
}

/// "Chat 3 of export.json ("Trip")".
QString ChatImport::nameOfChat(const QString& title) const {
    const QString path =
        shown(m_isThread ? QFileInfo(m_file->fileName()).path() : m_file->fileName());
    const QString name = m_isThread
                             ? Import::tr("The thread %1").arg(path)
                             : Import::tr("Chat %1 of %2").arg(QString::number(m_number), path);
    const QString shortTitle = title.simplified().left(60);
    return shortTitle.isEmpty() ? name : Import::tr("%1 (\"%2\")").arg(name, shortTitle);
}

void ChatImport::closeFile(ImportSlice& slice) {
    const QString fault = faultSentence();
    if (!fault.isEmpty())
        slice.problems += fault;
    if (m_isThread && !fault.isEmpty())
        ++slice.leftOut;
    else if (m_isThread && !m_threadFault.isEmpty())
        leaveOut(m_thread.value(QLatin1String("title")).toString(), m_threadFault, slice);
    else if (m_isThread)
        take({}, slice);
    else if (fault.isEmpty() || m_imported > 0)
        tellUnknown(slice);
    m_before += m_file->size();
    m_pieces.reset();
    m_file.reset();
}

void ChatImport::tellUnknown(ImportSlice& slice) const {
    const QString path = shown(m_file->fileName());
    const QString hint =
        Import::tr("Choose what LM Studio, Jan, Open WebUI, a ShareGPT tool or this "
                   "program exported.");
    if (m_unknown == m_number) {
        slice.problems += Import::tr("%1 has no chats in a known format. %2").arg(path, hint);
    } else if (m_unknown > 0) {
        slice.leftOut += m_unknown;
        slice.problems +=
            (m_unknown == 1
                 ? Import::tr("%1 of the %2 entries of %3 is not a chat in a known format and was "
                              "left out. %4")
                 : Import::tr("%1 of the %2 entries of %3 are not chats in a known format and "
                              "were left out. %4"))
                .arg(QString::number(m_unknown), QString::number(m_number), path, hint);
    }
}

QString ChatImport::faultSentence() const {
    const QString path = shown(m_file->fileName());
    const QString place = QString::number(m_pieces->offset());
    const QString kept = m_isThread        ? Import::tr("This thread was left out.")
                         : m_imported == 0 ? Import::tr("Nothing of it was imported.")
                                           : Import::tr("Everything before it was imported.");
    switch (m_pieces->fault()) {
    case JsonPieces::Fault::None:
        return {};
    case JsonPieces::Fault::Unreadable:
        return Import::tr(
                   "%1 cannot be read from byte %2 on (%3). %4 Check the disk and import the "
                   "file again.")
            .arg(path, place, m_file->errorString(), kept);
    case JsonPieces::Fault::NoJson:
        return Import::tr(
                   "%1 is not valid JSON at byte %2. %3 Choose another file, or export this one "
                   "again.")
            .arg(path, place, kept);
    case JsonPieces::Fault::NoUtf8:
        return Import::tr("%1 is saved as UTF-16. Save it as UTF-8 and import it again.").arg(path);
    case JsonPieces::Fault::Cut:
        return Import::tr("%1 ends in the middle of a chat, at byte %2. %3 Export the file again.")
            .arg(path, place, kept);
    }
    return {};
}

} // namespace ui
