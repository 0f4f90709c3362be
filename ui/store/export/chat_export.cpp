// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/export/chat_export.h"

#include "ui/files/whole_file.h"
#include "ui/store/sqlite/record_blobs.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>

namespace ui {

namespace {

struct Exports {
    Q_DECLARE_TR_FUNCTIONS(Exports)
};

QString isoTime(qint64 timeMs) {
    return QDateTime::fromMSecsSinceEpoch(timeMs, Qt::UTC).toString(Qt::ISODateWithMs);
}

QJsonObject tokenToJson(const TokenTrace& token, bool isTraced) {
    QJsonObject json{{QStringLiteral("id"), token.id}};
    if (!isTraced)
        return json;
    const std::string_view origin = engine::tokenOriginName(token.fact.origin);
    json.insert(QStringLiteral("begin"), token.begin);
    json.insert(QStringLiteral("end"), token.end);
    json.insert(QStringLiteral("origin"),
                QString::fromLatin1(origin.data(), static_cast<qsizetype>(origin.size())));
    json.insert(QStringLiteral("rank"), token.fact.rank);
    json.insert(QStringLiteral("draft_probability"), token.fact.draftProbability);
    json.insert(QStringLiteral("target_probability"), token.fact.targetProbability);
    json.insert(QStringLiteral("step"), token.step);
    json.insert(QStringLiteral("step_ms"), token.stepMs);
    QJsonArray choices;
    for (const engine::TokenChoice& choice : token.choices)
        choices.append(QJsonObject{{QStringLiteral("id"), choice.id},
                                   {QStringLiteral("text"), QString::fromStdString(choice.text)},
                                   {QStringLiteral("probability"), choice.probability}});
    if (!choices.isEmpty())
        json.insert(QStringLiteral("choices"), choices);
    return json;
}

QJsonObject messageToJson(const StoredMessage& message) {
    QJsonArray tokens;
    for (const TokenTrace& token : message.tokens)
        tokens.append(tokenToJson(token, message.isTraced));
    return {{QStringLiteral("id"), message.id},
            {QStringLiteral("parent"), message.parentId},
            {QStringLiteral("role"), roleName(message.role)},
            {QStringLiteral("state"), stateName(message.state)},
            {QStringLiteral("created"), isoTime(message.createdMs)},
            {QStringLiteral("text"), message.text},
            {QStringLiteral("tokens"), tokens},
            {QStringLiteral("attachments"), attachmentsToJson(message.attachments)},
            {QStringLiteral("figures"), figuresToJson(message.figures)}};
}

QByteArray contentOf(const Chat& chat, const ExportRequest& request) {
    switch (request.format) {
    case ExportFormat::Markdown:
        return chatToMarkdown(chat);
    case ExportFormat::Html:
        return chatToHtml(chat, request.hasOrigin);
    case ExportFormat::Json:
        return chatToJson(chat);
    case ExportFormat::Pdf:
        return chatToPdf(chat, request.hasOrigin);
    }
    return {};
}

} // namespace

QString figuresLine(const StoredMessage& message) {
    const MessageFigures& figures = message.figures;
    QStringList parts;
    if (figures.speedup)
        parts.append(Exports::tr("%1x as fast as vanilla").arg(*figures.speedup, 0, 'f', 2));
    if (figures.tokensPerSecond)
        parts.append(Exports::tr("%1 tokens/s").arg(*figures.tokensPerSecond, 0, 'f', 1));
    if (figures.firstTokenMs)
        parts.append(
            Exports::tr("%1 s to first token").arg(*figures.firstTokenMs / 1e3, 0, 'f', 2));
    if (figures.tokensPerStep)
        parts.append(Exports::tr("%1 tokens per step (M)").arg(*figures.tokensPerStep, 0, 'f', 2));
    if (figures.draftSteps > 0)
        parts.append(Exports::tr("accepted %1 of %2 drafted")
                         .arg(figures.acceptedTokens)
                         .arg(figures.draftSteps));
    if (figures.taskLikeness) // the name of a new task is only the beginning of its prompt
        parts.append(Exports::tr("task \u201C%1\u201D").arg(figures.task.simplified()));
    const QString line = parts.join(QStringLiteral(", "));
    const qsizetype measured = measuredTokens(message);
    if (line.isEmpty() || measured == message.tokens.size())
        return line;
    return Exports::tr("last %1 of %2 tokens:").arg(measured).arg(message.tokens.size()) +
           QLatin1Char(' ') + line;
}

QByteArray chatToMarkdown(const Chat& chat) {
    QString text = QStringLiteral("# ") + chat.record.title.simplified() + QStringLiteral("\n\n");
    if (!chat.record.systemPrompt.isEmpty())
        text += Exports::tr("System prompt:") + QStringLiteral("\n\n") + chat.record.systemPrompt +
                QStringLiteral("\n\n");
    for (const StoredMessage& message : chat.currentBranch()) {
        const bool isUser = message.role == MessageRole::User;
        const QString model = message.figures.modelName.simplified();
        const QString name = isUser            ? Exports::tr("You")
                             : model.isEmpty() ? Exports::tr("Assistant")
                                               : model;
        text += QStringLiteral("## ") + name + QStringLiteral("\n\n") +
                textWithAttachments(message) + QStringLiteral("\n\n");
        const QString figures = figuresLine(message);
        if (!figures.isEmpty())
            text += QStringLiteral("*") + figures + QStringLiteral("*\n\n");
    }
    return text.toUtf8();
}

QByteArray chatToJson(const Chat& chat) {
    QJsonArray messages;
    for (const StoredMessage& message : chat.messages)
        messages.append(messageToJson(message));
    QJsonObject json{{QStringLiteral("format"), QStringLiteral("swift-studio-chat")},
                     {QStringLiteral("version"), 1},
                     {QStringLiteral("id"), chat.record.id},
                     {QStringLiteral("title"), chat.record.title},
                     {QStringLiteral("created"), isoTime(chat.record.createdMs)},
                     {QStringLiteral("updated"), isoTime(chat.record.updatedMs)},
                     {QStringLiteral("model"), chat.record.modelName},
                     {QStringLiteral("decoder"), chat.record.decoderName},
                     {QStringLiteral("system_prompt"), chat.record.systemPrompt},
                     {QStringLiteral("current_leaf"), chat.record.leafId},
                     {QStringLiteral("settings"), chat.record.settings},
                     {QStringLiteral("folder"), chat.record.folder},
                     {QStringLiteral("pinned"), chat.record.isPinned},
                     {QStringLiteral("archived"), chat.record.isArchived},
                     {QStringLiteral("messages"), messages}};
    if (chat.record.speedup)
        json.insert(QStringLiteral("speedup"), *chat.record.speedup);
    return QJsonDocument(json).toJson();
}

QString writeExport(const Chat& chat, const ExportRequest& request) {
    const QString reason = saveWhole(contentOf(chat, request), request.path);
    if (reason.isEmpty())
        return {};
    return Exports::tr(
               "The chat could not be written to %1 (%2). Choose another folder, or free some "
               "space there.")
        .arg(QDir::toNativeSeparators(request.path), reason);
}

} // namespace ui
