// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/import/chat_formats.h"

#include "ui/store/import/own_format.h"

#include <QDateTime>
#include <QJsonArray>

#include <algorithm>

namespace ui {

namespace {

constexpr double kSecondsEnd = 1e11; ///< smaller times are seconds, larger ones milliseconds

QString text(const QJsonObject& json, const char* name) {
    return json.value(QLatin1String(name)).toString();
}

QJsonObject object(const QJsonObject& json, const char* name) {
    return json.value(QLatin1String(name)).toObject();
}

QJsonArray list(const QJsonObject& json, const char* name) {
    return json.value(QLatin1String(name)).toArray();
}

qint64 timeMs(const QJsonValue& value) {
    if (value.isString())
        return std::max<qint64>(
            0, QDateTime::fromString(value.toString(), Qt::ISODateWithMs).toMSecsSinceEpoch());
    const double number = value.toDouble();
    if (!(number > 0.0 && number < kSecondsEnd * 1000))
        return 0;
    return static_cast<qint64>(number < kSecondsEnd ? number * 1000 : number);
}

/// A text, or a list of parts of which only those of the kind "text" are taken, as in OpenAI's
/// messages, LM Studio's versions and Jan's lines.
void addContent(ForeignTurn& turn, const QJsonValue& content) {
    if (content.isString()) {
        turn.message.text += content.toString();
        return;
    }
    for (const QJsonValue& part : content.toArray()) {
        const QJsonValue words = part[QLatin1String("text")];
        if (words.isString())
            turn.message.text += words.toString();
        else if (words.isObject())
            turn.message.text += words[QLatin1String("value")].toString();
        else
            ++turn.otherParts;
    }
}

/// Messages in a row, each with "role" and "content".
void addMessages(ForeignChat& chat, const QJsonArray& messages) {
    QString before;
    for (const QJsonValue& value : messages) {
        const QJsonObject message = value.toObject();
        ForeignTurn& turn = addTurn(chat, before);
        turn.role = text(message, "role");
        addContent(turn, message.value(QLatin1String("content")));
        turn.message.createdMs = timeMs(message.value(QLatin1String("timestamp")));
        before = turn.id;
    }
}

/// One of the versions of a message of LM Studio: a question in one step, or an answer in some.
void addVersion(ForeignTurn& turn, const QJsonObject& version) {
    turn.role = text(version, "role");
    turn.message.figures.modelName = text(object(version, "senderInfo"), "senderName");
    if (text(version, "type") != QLatin1String("multiStep"))
        addContent(turn, version.value(QLatin1String("content")));
    for (const QJsonValue& value : list(version, "steps")) {
        const QJsonObject step = value.toObject();
        if (text(step, "type") != QLatin1String("contentBlock"))
            continue;
        // A thought is between its marks, as the model wrote it.
        turn.message.text += text(step, "prefix");
        addContent(turn, step.value(QLatin1String("content")));
        turn.message.text += text(step, "suffix");
    }
}

/// The chat continues after the selected version; the others are branches that end there.
ForeignChat lmStudioChat(const QJsonObject& json) {
    ForeignChat chat;
    chat.record.title = text(json, "name");
    chat.record.createdMs = timeMs(json.value(QLatin1String("createdAt")));
    chat.record.isPinned = json.value(QLatin1String("pinned")).toBool();
    chat.record.systemPrompt = text(json, "systemPrompt");
    for (const QJsonValue& value : list(json, "messages")) {
        const QString before = chat.currentId;
        const QJsonArray versions = value[QLatin1String("versions")].toArray();
        const int selected = value[QLatin1String("currentlySelected")].toInt();
        if (versions.isEmpty()) // reported as a message without a role
            chat.currentId = addTurn(chat, before).id;
        for (qsizetype i = 0; i < versions.size(); ++i) {
            ForeignTurn& turn = addTurn(chat, before);
            addVersion(turn, versions[i].toObject());
            turn.message.createdMs = chat.record.createdMs;
            if (i == selected || i == 0)
                chat.currentId = turn.id;
        }
    }
    return chat;
}

/// An item of the export wraps the chat in an object with its metadata.
ForeignChat openWebUiChat(const QJsonObject& json) {
    const QJsonObject inner = json.contains(QLatin1String("chat")) ? object(json, "chat") : json;
    ForeignChat chat;
    chat.record.title = text(inner, "title");
    if (chat.record.title.isEmpty())
        chat.record.title = text(json, "title");
    chat.record.createdMs = timeMs(json.value(QLatin1String("created_at")));
    chat.record.updatedMs = timeMs(json.value(QLatin1String("updated_at")));
    chat.record.isPinned = json.value(QLatin1String("pinned")).toBool();
    chat.record.isArchived = json.value(QLatin1String("archived")).toBool();
    chat.record.modelName = list(inner, "models").at(0).toString();
    chat.record.systemPrompt = text(object(inner, "params"), "system");
    const QJsonObject history = object(inner, "history");
    const QJsonObject messages = object(history, "messages");
    if (messages.isEmpty()) {
        addMessages(chat, list(inner, "messages"));
        return chat;
    }
    for (auto entry = messages.begin(); entry != messages.end(); ++entry) {
        const QJsonObject message = entry.value().toObject();
        ForeignTurn turn;
        turn.id = entry.key();
        turn.parentId = text(message, "parentId");
        turn.role = text(message, "role");
        addContent(turn, message.value(QLatin1String("content")));
        turn.otherParts += static_cast<int>(list(message, "files").size());
        turn.message.createdMs = timeMs(message.value(QLatin1String("timestamp")));
        turn.message.figures.modelName = text(message, "model");
        chat.turns.append(turn);
    }
    std::ranges::stable_sort(
        chat.turns, {}, [](const ForeignTurn& turn) { return turn.message.createdMs; });
    chat.currentId = text(history, "currentId");
    return chat;
}

ForeignChat shareGptChat(const QJsonObject& json) {
    ForeignChat chat;
    chat.record.title = text(json, "title");
    chat.record.systemPrompt = text(json, "system");
    QString before;
    for (const QJsonValue& value : list(json, "conversations")) {
        const QJsonObject words = value.toObject();
        ForeignTurn& turn = addTurn(chat, before);
        turn.role = text(words, "from");
        addContent(turn, words.value(QLatin1String("value")));
        before = turn.id;
    }
    return chat;
}

ForeignChat plainChat(const QJsonObject& json) {
    ForeignChat chat;
    for (const char* name : {"title", "name"})
        if (chat.record.title.isEmpty())
            chat.record.title = text(json, name);
    addMessages(chat, list(json, "messages"));
    return chat;
}

} // namespace

std::optional<ForeignChat> foreignChat(const QJsonObject& json) {
    if (isOwnFormat(json))
        return ownChat(json);
    if (json.value(QLatin1String("conversations")).isArray())
        return shareGptChat(json);
    if (json.value(QLatin1String("chat")).isObject() ||
        json.value(QLatin1String("history")).isObject())
        return openWebUiChat(json);
    if (!json.value(QLatin1String("messages")).isArray())
        return std::nullopt;
    const QJsonArray messages = list(json, "messages");
    const bool hasVersions = std::ranges::any_of(messages, [](const QJsonValue& message) {
        return message.toObject().contains(QLatin1String("versions"));
    });
    return hasVersions ? lmStudioChat(json) : plainChat(json);
}

ForeignChat janChat(const QJsonObject& thread, const QList<QJsonObject>& lines) {
    ForeignChat chat;
    const QJsonObject assistant = list(thread, "assistants").at(0).toObject();
    chat.record.title = text(thread, "title");
    if (chat.record.title.isEmpty())
        chat.record.title = text(object(thread, "metadata"), "title");
    chat.record.createdMs = timeMs(thread.value(QLatin1String("created")));
    chat.record.updatedMs = timeMs(thread.value(QLatin1String("updated")));
    chat.record.systemPrompt = text(assistant, "instructions");
    chat.record.modelName = text(object(assistant, "model"), "id");
    QString before;
    for (const QJsonObject& line : lines) {
        ForeignTurn& turn = addTurn(chat, before);
        turn.role = text(line, "role");
        addContent(turn, line.value(QLatin1String("content")));
        turn.message.createdMs = timeMs(line.value(QLatin1String("created_at")));
        if (turn.role == QLatin1String("assistant"))
            turn.message.figures.modelName = chat.record.modelName;
        before = turn.id;
    }
    return chat;
}

} // namespace ui
