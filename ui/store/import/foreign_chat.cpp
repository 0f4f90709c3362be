// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/import/foreign_chat.h"

#include <QCoreApplication>
#include <QHash>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

struct ForeignText {
    Q_DECLARE_TR_FUNCTIONS(ForeignText)
};

constexpr int kTitleLength = 60;
constexpr int kLongestName = 200;

/// In one line, and not longer than lists can show: they measure all of it whenever they are drawn.
QString nameOf(const QString& written, qsizetype longest) {
    QString name = written.simplified().left(longest);
    if (!name.isEmpty() && name.back().isHighSurrogate()) // half a character
        name.chop(1);
    return name;
}

enum class Role { User, Assistant, System, Unknown };

Role roleOf(const QString& name) {
    static const QHash<QString, Role> kRoles = {{QStringLiteral("user"), Role::User},
                                                {QStringLiteral("human"), Role::User},
                                                {QStringLiteral("assistant"), Role::Assistant},
                                                {QStringLiteral("gpt"), Role::Assistant},
                                                {QStringLiteral("chatgpt"), Role::Assistant},
                                                {QStringLiteral("model"), Role::Assistant},
                                                {QStringLiteral("bot"), Role::Assistant},
                                                {QStringLiteral("system"), Role::System}};
    return kRoles.value(name.toLower(), Role::Unknown);
}

/// Makes one chat, turn by turn. Works without recursion: a tree may be as deep as it is long.
class ChatMaker {
public:
    explicit ChatMaker(const ForeignChat& foreign)
        : m_foreign(foreign) {
        m_chat.record = foreign.record;
    }

    ImportedChat make() {
        QString fault = order();
        for (qsizetype i = 0; i < m_order.size() && fault.isEmpty(); ++i)
            fault = take(m_order[i]);
        if (fault.isEmpty() && m_chat.messages.isEmpty())
            fault = ForeignText::tr("it has no messages.");
        if (!fault.isEmpty())
            return {std::nullopt, fault};
        finish();
        return {std::move(m_chat), note()};
    }

private:
    /// Parents before children. The file may list them in any order, or in none.
    QString order() {
        QHash<QString, QList<qsizetype>> children;
        QHash<QString, qsizetype> places;
        for (qsizetype i = 0; i < m_foreign.turns.size(); ++i) {
            const ForeignTurn& turn = m_foreign.turns[i];
            if (turn.id.isEmpty() || std::exchange(places[turn.id], i + 1) != 0)
                return ForeignText::tr("two of its messages have the same id. Export it again.");
            children[turn.parentId].append(i);
        }
        m_order = children.value(QString());
        for (qsizetype i = 0; i < m_order.size(); ++i)
            m_order += children.value(m_foreign.turns[m_order[i]].id);
        if (m_order.size() == m_foreign.turns.size())
            return {};
        return ForeignText::tr(
            "some of its messages reply to a message that is not in the file. Export it again.");
    }

    QString take(qsizetype place) {
        const ForeignTurn& turn = m_foreign.turns[place];
        const Role role = roleOf(turn.role);
        if (role == Role::Unknown)
            return ForeignText::tr(
                       "message %1 has the unknown role \"%2\". Remove the message from the file "
                       "and import it again.")
                .arg(place + 1)
                .arg(turn.role.left(40).simplified());
        const MessageId parent = m_ids.value(turn.parentId);
        m_otherParts += turn.otherParts;
        if (role == Role::System)
            return takeSystem(turn, place, parent);
        const bool followsAnswer =
            parent == 0 || m_chat.messages[parent - 1].role == MessageRole::Assistant;
        if (role == Role::Assistant && followsAnswer)
            return ForeignText::tr(
                       "message %1 is an answer without a question. Add the question to the file "
                       "or remove the answer, then import it again.")
                .arg(place + 1);
        StoredMessage message = turn.message;
        message.figures.modelName = nameOf(message.figures.modelName, kLongestName);
        message.parentId = parent;
        message.role = role == Role::User ? MessageRole::User : MessageRole::Assistant;
        if (role == Role::User && !followsAnswer)
            message.parentId = addMissingAnswer(parent);
        m_ids.insert(turn.id, add(std::move(message)));
        return {};
    }

    QString takeSystem(const ForeignTurn& turn, qsizetype place, MessageId parent) {
        if (parent != 0)
            return ForeignText::tr(
                       "message %1 changes the system prompt in the middle of the chat, which is "
                       "not supported. Remove it from the file and import it again.")
                .arg(place + 1);
        QString& prompt = m_chat.record.systemPrompt;
        prompt += (prompt.isEmpty() ? QString() : QStringLiteral("\n\n")) + turn.message.text;
        m_ids.insert(turn.id, 0);
        return {};
    }

    MessageId addMissingAnswer(MessageId question) {
        StoredMessage answer;
        answer.parentId = question;
        answer.role = MessageRole::Assistant;
        answer.state = MessageState::Stopped;
        answer.createdMs = m_chat.messages[question - 1].createdMs;
        ++m_missingAnswers;
        return add(std::move(answer));
    }

    MessageId add(StoredMessage message) {
        message.id = m_chat.messages.size() + 1;
        m_chat.messages.append(std::move(message));
        return m_chat.messages.last().id;
    }

    void finish() {
        ChatRecord& record = m_chat.record;
        record.leafId = m_ids.value(m_foreign.currentId);
        if (record.leafId == 0)
            record.leafId = m_ids.value(m_foreign.turns.last().id);
        if (record.leafId == 0)
            record.leafId = m_chat.messages.last().id;
        for (QString* name :
             {&record.title, &record.folder, &record.modelName, &record.decoderName})
            *name = nameOf(*name, kLongestName);
        if (record.title.isEmpty())
            record.title = nameOf(m_chat.messages.first().text, kTitleLength);
        if (record.title.isEmpty())
            record.title = ForeignText::tr("Imported chat");
        if (record.createdMs == 0)
            record.createdMs = m_chat.messages.first().createdMs;
        for (const StoredMessage& message : std::as_const(m_chat.messages))
            record.updatedMs = std::max(record.updatedMs, message.createdMs);
    }

    QString note() const {
        QStringList sentences;
        if (m_missingAnswers == 1)
            sentences +=
                ForeignText::tr("one question had no answer. It was given an empty one; Answer "
                                "again fills it.");
        else if (m_missingAnswers > 1)
            sentences +=
                ForeignText::tr("%1 questions had no answer. Each was given an empty one; Answer "
                                "again fills it.")
                    .arg(m_missingAnswers);
        if (m_otherParts == 1)
            sentences +=
                ForeignText::tr("content that is not text (once) was left out; it is still in the "
                                "file.");
        else if (m_otherParts > 1)
            sentences +=
                ForeignText::tr("content that is not text (%1 times) was left out; it is still in "
                                "the file.")
                    .arg(m_otherParts);
        return sentences.join(u' ');
    }

    const ForeignChat& m_foreign;
    Chat m_chat;
    QList<qsizetype> m_order;
    QHash<QString, MessageId> m_ids; ///< of turns taken; 0 for a system message
    int m_missingAnswers = 0;
    int m_otherParts = 0;
};

} // namespace

ForeignTurn& addTurn(ForeignChat& chat, const QString& before) {
    ForeignTurn turn;
    turn.id = QString::number(chat.turns.size() + 1);
    turn.parentId = before;
    chat.turns.append(std::move(turn));
    return chat.turns.last();
}

ImportedChat chatOf(const ForeignChat& foreign) { return ChatMaker(foreign).make(); }

} // namespace ui
