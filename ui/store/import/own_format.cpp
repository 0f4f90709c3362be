// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/import/own_format.h"

#include "ui/store/sqlite/record_blobs.h"

#include <QDateTime>
#include <QJsonArray>

namespace ui {

namespace {

qint64 isoTimeMs(const QJsonValue& value) {
    const QDateTime time = QDateTime::fromString(value.toString(), Qt::ISODateWithMs);
    return time.isValid() ? time.toMSecsSinceEpoch() : 0;
}

/// 0 is the id of none; the keys of turns are texts.
QString keyOf(const QJsonValue& id) {
    return id.toInteger() == 0 ? QString() : QString::number(id.toInteger());
}

MessageState stateOf(const QString& name) {
    for (const MessageState state :
         {MessageState::Finished, MessageState::Stopped, MessageState::Failed})
        if (stateName(state) == name)
            return state;
    return MessageState::Recovered;
}

} // namespace

bool isOwnFormat(const QJsonObject& json) {
    return json.value(QLatin1String("format")) == QLatin1String("swift-studio-chat");
}

ForeignChat ownChat(const QJsonObject& json) {
    const auto text = [&](const char* name) { return json.value(QLatin1String(name)).toString(); };
    ForeignChat chat;
    ChatRecord& record = chat.record;
    record.title = text("title");
    record.createdMs = isoTimeMs(json.value(QLatin1String("created")));
    record.updatedMs = isoTimeMs(json.value(QLatin1String("updated")));
    record.modelName = text("model");
    record.decoderName = text("decoder");
    record.systemPrompt = text("system_prompt");
    record.folder = text("folder");
    record.isPinned = json.value(QLatin1String("pinned")).toBool();
    record.isArchived = json.value(QLatin1String("archived")).toBool();
    record.settings = json.value(QLatin1String("settings")).toObject();
    const QJsonValue speedup = json.value(QLatin1String("speedup"));
    if (speedup.isDouble())
        record.speedup = speedup.toDouble();
    chat.currentId = keyOf(json.value(QLatin1String("current_leaf")));
    for (const QJsonValue& value : json.value(QLatin1String("messages")).toArray()) {
        ForeignTurn turn;
        turn.id = keyOf(value[QLatin1String("id")]);
        turn.parentId = keyOf(value[QLatin1String("parent")]);
        turn.role = value[QLatin1String("role")].toString();
        turn.message.text = value[QLatin1String("text")].toString();
        turn.message.createdMs = isoTimeMs(value[QLatin1String("created")]);
        turn.message.state = stateOf(value[QLatin1String("state")].toString());
        turn.message.attachments =
            attachmentsFromJson(value[QLatin1String("attachments")].toArray());
        turn.message.figures = figuresFromJson(value[QLatin1String("figures")].toObject());
        chat.turns.append(turn);
    }
    return chat;
}

} // namespace ui
