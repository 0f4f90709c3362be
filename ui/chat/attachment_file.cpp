// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/attachment_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>
#include <optional>
#include <utility>

namespace ui {

namespace {

struct AttachmentFiles {
    Q_DECLARE_TR_FUNCTIONS(AttachmentFiles)
};

AttachmentFile refusal(const QString& sentence) { return {{}, sentence}; }

/// Text has no control characters except these.
bool isControl(char character) {
    const auto code = static_cast<unsigned char>(character);
    return (code < 0x20 && code != '\t' && code != '\n' && code != '\r' && code != '\f') ||
           code == 0x7f;
}

/// The first line that is not text, from 1; none in text. What is not valid UTF-8 does not survive
/// the round trip, even if only its last character is cut.
std::optional<qsizetype> lineAtFault(const QByteArray& bytes, const QString& text) {
    const QByteArray again = text.toUtf8();
    const char* const invalid =
        std::mismatch(bytes.cbegin(), bytes.cend(), again.cbegin(), again.cend()).first;
    const char* const fault = std::find_if(bytes.cbegin(), invalid, isControl);
    if (fault == bytes.cend() && again.size() == bytes.size())
        return std::nullopt;
    return std::count(bytes.cbegin(), fault, '\n') + 1;
}

} // namespace

AttachmentFile readAttachment(const QString& path) {
    using T = AttachmentFiles;
    const QFileInfo info(path);
    const QString name = info.fileName();
    if (!info.exists())
        return refusal(T::tr("There is no file %1.").arg(path));
    // A pipe or a device could give text without end.
    if (!info.isFile())
        return refusal(T::tr("%1 is not a regular file. Attach a text file instead.").arg(path));
    const QString tooLarge =
        T::tr("%1 is larger than 1 MB, which is more than any context holds. Attach a part of it.")
            .arg(name);
    if (info.size() > kMostAttachmentBytes)
        return refusal(tooLarge);
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return refusal(T::tr("%1 cannot be read (%2).").arg(name, file.errorString()));
    const QByteArray content = file.read(kMostAttachmentBytes + 1);
    if (file.error() != QFileDevice::NoError)
        return refusal(T::tr("%1 cannot be read (%2).").arg(name, file.errorString()));
    if (content.size() > kMostAttachmentBytes)
        return refusal(tooLarge);
    const QByteArray mark = QByteArrayLiteral("\xEF\xBB\xBF");
    const QByteArray body = content.startsWith(mark) ? content.mid(mark.size()) : content;
    const QString text = QString::fromUtf8(body);
    if (const auto line = lineAtFault(body, text))
        return refusal(T::tr("%1 cannot be read as text (line %2). Save it as plain UTF-8 text.")
                           .arg(name, QString::number(*line)));
    if (text.trimmed().isEmpty())
        return refusal(T::tr("%1 is empty.").arg(name));
    return {{name, text, 0}, {}};
}

void readAttachment(const QString& path,
                    QObject* context,
                    std::function<void(AttachmentFile)> done) {
    QThreadPool::globalInstance()->start(
        [path, guard = QPointer<QObject>(context), done = std::move(done)]() mutable {
            AttachmentFile file = readAttachment(path);
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [guard, done = std::move(done), file = std::move(file)] {
                    if (guard)
                        done(file);
                },
                Qt::QueuedConnection);
        });
}

} // namespace ui
