// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/recording/session_records.h"

#include <QJsonObject>
#include <QList>
#include <QMetaType>
#include <QString>

#include <cstdint>
#include <optional>

namespace ui {

// The records of chats: plain values, copied freely between the window and the store's thread.
// Times are milliseconds since 1970 in UTC; 0 as an id means "none".

using ChatId = qint64;
using MessageId = qint64;

enum class MessageRole : std::uint8_t { User, Assistant };

enum class MessageState : std::uint8_t {
    Streaming, ///< still being written
    Finished,
    Stopped,   ///< by the user; the text is the part that was written
    Failed,    ///< by an error of the engine
    Recovered, ///< was streaming when the program ended; the text is the part that had been saved
};

QString roleName(MessageRole role);    ///< "user", "assistant": in files, never shown
QString stateName(MessageState state); ///< "streaming", "finished", ...

/// A decoder's name as it is shown, even if no model is loaded that could give its title: "SWIFT",
/// "Vanilla", "Self-sd".
QString decoderTitle(const QString& decoderName);

/// A text file attached to a user's message.
struct Attachment {
    QString name;   ///< without its folders
    QString text;   ///< all of it
    int tokens = 0; ///< as counted by the model used at the time; 0 = not counted

    bool operator==(const Attachment&) const = default;
};

/// The unsent content of the input field.
struct Draft {
    QString text;
    QList<Attachment> attachments;

    bool isEmpty() const { return text.isEmpty() && attachments.isEmpty(); }

    bool operator==(const Draft&) const = default;
};

/// The value of `round` for a token that the user has chosen.
inline constexpr int kChosenByUser = -2;

/// One token of an answer, and where it came from.
struct TokenTrace {
    engine::TokenId id = engine::kNoToken;
    int begin = 0; ///< first UTF-16 unit of the message's text
    int end = 0;   ///< after its last one; equal to begin for a token without text
    engine::TokenFact fact;
    int step = -1;       ///< round of the answer, from 0; or kChosenByUser
    double stepMs = 0.0; ///< what that whole round took
    /// The tokens that the full model found most probable here, best first; empty if they were not
    /// kept.
    QList<engine::TokenChoice> choices;
};

/// The figures below an answer; for a continued answer, those of its last part. What was not
/// measured is empty, never 0.
struct MessageFigures {
    QString modelName;
    QString decoderName; ///< DecoderInfo::name: "swift", "vanilla", ...
    int promptTokens = 0;
    int outputTokens = 0;
    int steps = 0;
    std::optional<double> firstTokenMs;
    std::optional<double> decodeMs;
    std::optional<double> tokensPerSecond;
    std::optional<double> tokensPerStep; ///< M
    qint64 acceptedTokens = 0;           ///< numerator of the acceptance
    qint64 draftSteps = 0;               ///< its denominator; 0 = nothing was drafted
    std::optional<double> speedup;       ///< against the measured baseline
    std::optional<double> baselineTokensPerSecond;
    std::optional<quint64> seed;
    QString task; ///< recognised from the prompt; empty = it was not looked for
    /// How like the nearest known prompt of the task it was, a cosine; empty = a new task.
    std::optional<double> taskLikeness;
    QString finishReason; ///< as the engine names it, or "edited"; empty while streaming

    bool operator==(const MessageFigures&) const = default;
};

/// A node of a chat's tree. Several children of one parent are branches.
struct StoredMessage {
    MessageId id = 0;
    ChatId chatId = 0;
    MessageId parentId = 0;
    MessageRole role = MessageRole::User;
    MessageState state = MessageState::Finished;
    qint64 createdMs = 0;
    QString text;
    QList<TokenTrace> tokens;      ///< of an answer; an end id included
    bool isTraced = true;          ///< false: only the ids of the tokens are known
    QList<Attachment> attachments; ///< of the user's message
    MessageFigures figures;
};

/// The message as the model reads it: the text, then each file between fences that are longer than
/// any in the file.
QString textWithAttachments(const StoredMessage& message);

/// How many tokens at the end of the answer the figures cover: all, unless it was continued.
qsizetype measuredTokens(const StoredMessage& message);

/// A chat without its messages.
struct ChatRecord {
    ChatId id = 0;
    QString title;
    qint64 createdMs = 0;
    qint64 updatedMs = 0;
    qint64 deletedMs = 0;          ///< 0 = not deleted
    QString modelName;             ///< that was loaded when it was last used
    QString decoderName;           ///< of the newest finished answer
    std::optional<double> speedup; ///< of the newest finished answer
    QString systemPrompt;
    MessageId leafId = 0; ///< end of the branch that is shown
    QJsonObject settings; ///< sampling and decoder settings, as the window writes them
    QString folder;       ///< the user's name for it; empty = in none
    bool isPinned = false;
    bool isArchived = false;
};

/// A chat with all its messages, oldest first; parents come before their children.
struct Chat {
    ChatRecord record;
    QList<StoredMessage> messages;
    Draft draft;

    /// From the first message to the present leaf.
    QList<StoredMessage> currentBranch() const;

    /// All children of a parent (0 = the roots), oldest first, as counted by "2 of 3".
    QList<MessageId> childrenOf(MessageId parentId) const;
};

/// One result of a search.
struct ChatMatch {
    ChatRecord record;
    QString excerpt;         ///< plain text around the match; empty when only the title matched
    MessageId messageId = 0; ///< the message that was found; 0 when only the title matched
};

/// A recovered answer that was interrupted by the end of the program.
struct RecoveredAnswer {
    ChatId chatId = 0;
    MessageId messageId = 0;
    QString chatTitle;
    qsizetype tokenCount = 0;
};

enum class StoreFaultKind : std::uint8_t {
    Damaged,   ///< the file cannot be read; it was renamed
    Newer,     ///< the file belongs to a newer program; it was renamed
    Locked,    ///< another program has it open
    ReadOnly,  ///< it cannot be created or written there
    Full,      ///< no space left
    DiskError, ///< the operating system refused to read or write, or gave no memory
};

/// A fault that the user has to know about. While chats cannot be saved, they are kept in memory
/// and the store retries by itself.
struct StoreFault {
    StoreFaultKind kind = StoreFaultKind::DiskError;
    QString sentence; ///< what happened, where, and what to do; plain text
    QString details;  ///< of the database or the system, for *Details*; plain text
    QString path;     ///< of the file; of the copy that was set aside, where there is one

    /// Whether chats stay in memory until the fault is over; otherwise it is only a notice.
    bool isLasting() const {
        return kind != StoreFaultKind::Damaged && kind != StoreFaultKind::Newer;
    }
};

} // namespace ui

Q_DECLARE_METATYPE(ui::ChatRecord)
Q_DECLARE_METATYPE(ui::StoreFault)
Q_DECLARE_METATYPE(QList<ui::RecoveredAnswer>)
