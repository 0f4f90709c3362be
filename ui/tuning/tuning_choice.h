// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QJsonObject>
#include <QString>
#include <QStringList>

#include <optional>

namespace ui {

/// The model that is trained for.
struct TuningModel {
    QString path;
    QString name;
    bool isPlanted = false; ///< the lesson model made from it
    int hiddenSize = 0;

    bool isSame(const TuningModel& other) const {
        return path == other.path && isPlanted == other.isPlanted;
    }
};

enum class TuningLength { Quick, Full, Overnight, Minutes };

/// Everything that a run of `swift-run tune` is told. A plain value.
struct TuningChoice {
    TuningModel model;
    QStringList data;       ///< files and folders with prompts
    int selfPrompts = 0;    ///< that the model writes itself
    bool usesChats = false; ///< the first questions of the user's own chats
    TuningLength length = TuningLength::Full;
    int minutes = 60;   ///< with TuningLength::Minutes
    bool isUsed = true; ///< the result drafts for this model from its next load on

    bool hasPrompts() const { return !data.isEmpty() || selfPrompts > 0 || usesChats; }

    /// Answer tokens that are trained on: with Minutes, at most.
    qint64 answerTokens() const;

    /// Bytes on the disk for so many answer tokens.
    qint64 diskBytes() const;
};

/// Without --resume and --overwrite.
QStringList argumentsOf(const TuningChoice& choice, const QString& adapter);

/// Beside an adapter: the questions of the user's chats, if these are chosen.
QString chatPromptsPath(const QString& adapter);

QJsonObject toJson(const TuningChoice& choice);

/// None if it lacks what a training needs.
std::optional<TuningChoice> tuningChoiceOf(const QJsonObject& object);

} // namespace ui
