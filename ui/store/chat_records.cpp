// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/chat_records.h"

#include <QHash>

#include <algorithm>
#include <utility>

namespace ui {

QString roleName(MessageRole role) {
    return role == MessageRole::User ? QStringLiteral("user") : QStringLiteral("assistant");
}

QString stateName(MessageState state) {
    switch (state) {
    case MessageState::Streaming:
        return QStringLiteral("streaming");
    case MessageState::Finished:
        return QStringLiteral("finished");
    case MessageState::Stopped:
        return QStringLiteral("stopped");
    case MessageState::Failed:
        return QStringLiteral("failed");
    case MessageState::Recovered:
        return QStringLiteral("recovered");
    }
    return {};
}

QString decoderTitle(const QString& decoderName) {
    for (const auto& [name, title] : {std::pair("swift", "SWIFT"),
                                      std::pair("self_sd", "Self-SD"),
                                      std::pair("layerskip", "LayerSkip"),
                                      std::pair("layerskip-fs", "LayerSkip FS"),
                                      std::pair("layerskip-dv", "LayerSkip DV"),
                                      std::pair("del", "DEL"),
                                      std::pair("del-ms", "DEL by milliseconds"),
                                      std::pair("space", "SPACE"),
                                      std::pair("clasp", "CLaSp"),
                                      std::pair("knapspec", "KnapSpec"),
                                      std::pair("lookup", "Look-up")})
        if (decoderName == QLatin1String(name))
            return QLatin1String(title);
    QString title = decoderName.left(1).toUpper() + decoderName.mid(1);
    return title.replace(u'_', u'-');
}

QString textWithAttachments(const StoredMessage& message) {
    QString text = message.text;
    for (const Attachment& attachment : message.attachments) {
        QString fence = QStringLiteral("```");
        while (attachment.text.contains(fence))
            fence += u'`';
        if (!text.isEmpty())
            text += QStringLiteral("\n\n");
        text += QStringLiteral("%1:\n%2\n").arg(attachment.name, fence) + attachment.text;
        if (!attachment.text.endsWith(u'\n'))
            text += u'\n';
        text += fence;
    }
    return text;
}

qsizetype measuredTokens(const StoredMessage& message) {
    const qsizetype measured = message.figures.outputTokens;
    return measured > 0 ? std::min(measured, message.tokens.size()) : message.tokens.size();
}

QList<StoredMessage> Chat::currentBranch() const {
    QHash<MessageId, const StoredMessage*> byId;
    for (const StoredMessage& message : messages)
        byId.insert(message.id, &message);
    QList<StoredMessage> branch;
    // take() visits each message once, because parent ids come from a file and may form a cycle.
    for (const StoredMessage* message = byId.take(record.leafId); message != nullptr;
         message = byId.take(message->parentId))
        branch.append(*message);
    std::reverse(branch.begin(), branch.end());
    return branch;
}

QList<MessageId> Chat::childrenOf(MessageId parentId) const {
    QList<MessageId> children;
    for (const StoredMessage& message : messages)
        if (message.parentId == parentId)
            children.append(message.id);
    return children;
}

} // namespace ui
