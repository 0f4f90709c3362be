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
    qint64 weights = 0;      ///< of all of it; 0 = not known
    qint64 loraWeights = 0;  ///< that LoRA trains for it; 0 = not known
    bool isFloat32 = false;  ///< its weights are, and so are those of a copy
    qint64 draftWeights = 0; ///< of a draft layer for it; 0 = not known
    /// What the model is, wherever it lies, as the engine has it; empty = not known.
    QString fingerprint = {};

    /// Two copies of a model in different folders are the same.
    bool isSame(const TuningModel& other) const {
        if (!fingerprint.isEmpty() && !other.fingerprint.isEmpty())
            return fingerprint == other.fingerprint;
        return path == other.path && isPlanted == other.isPlanted;
    }
};

/// What is trained: a layer beside the model, or a copy of the model that drafts by itself.
enum class TuningRecipe { Draft, LayerSkip, Space };

enum class TuningLength { Quick, Full, Overnight, Minutes };

/// Everything that a run of `swift-run tune` is told. A plain value.
struct TuningChoice {
    TuningModel model;
    TuningRecipe recipe = TuningRecipe::Draft;
    QStringList data;       ///< files and folders with prompts
    int selfPrompts = 0;    ///< that the model writes itself
    bool usesChats = false; ///< the first questions of the user's own chats
    TuningLength length = TuningLength::Full;
    int minutes = 60;   ///< with TuningLength::Minutes
    qint64 tokens = 0;  ///< answer tokens; 0 = those of the length
    bool isUsed = true; ///< the adapter drafts for this model from its next load on
    // Of a copy of the model:
    bool isFull = false; ///< all weights are trained, else LoRA
    QString output;      ///< its folder

    bool changesModel() const { return recipe != TuningRecipe::Draft; }

    bool hasPrompts() const { return !data.isEmpty() || selfPrompts > 0 || usesChats; }

    /// Answer tokens that are trained on: with Minutes, at most.
    qint64 answerTokens() const;
};

/// "draft", "layerskip" or "space", as the command calls it.
QString recipeKey(TuningRecipe recipe);

/// Draft for another text.
TuningRecipe recipeOfKey(const QString& key);

/// Without --resume, --overwrite and --anew. `adapter`: where one is kept for the model; what else
/// is kept lies beside it.
QStringList argumentsOf(const TuningChoice& choice, const QString& adapter);

/// Beside an adapter: the questions of the user's chats, if these are chosen.
QString chatPromptsPath(const QString& adapter);

QJsonObject toJson(const TuningChoice& choice);

/// None if it lacks what a training needs.
std::optional<TuningChoice> tuningChoiceOf(const QJsonObject& object);

} // namespace ui
