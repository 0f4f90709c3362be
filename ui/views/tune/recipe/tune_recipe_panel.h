// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/tuning/tuning_session.h"
#include "ui/views/tune/recipe/prompt_sources.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace ui {

class ColumnScroll;
class LiveLabel;
class OutputField;
class TuningRecipeChoice;
class SegmentedControl;

/// What is trained, from which prompts, how long, what it costs and what becomes of it; and Start.
/// Thread: UI.
class TuneRecipePanel : public QWidget {
    Q_OBJECT

public:
    /// Both outlive it.
    TuneRecipePanel(const Theme& theme, const TuningSession& session, QWidget* parent = nullptr);

    PromptSources& sources() { return *m_sources; }

    QPushButton& startButton() { return *m_start; }

    SegmentedControl& length() { return *m_length; }

    QSpinBox& minutes() { return *m_minutes; }

    QCheckBox& use() { return *m_use; }

    QCheckBox& chats() { return *m_chats; }

    QSpinBox& selfPrompts() { return *m_selfPrompts; }

    TuningRecipeChoice& recipe() { return *m_recipe; }

    SegmentedControl& trained() { return *m_trained; }

    QSpinBox& answers() { return *m_answers; }

    OutputField& output() { return *m_output; }

    /// Without it, the user's chats cannot be chosen.
    void offerChats();

    /// Without what the session knows: which model.
    TuningChoice choice() const;

signals:
    void startAsked(const ui::TuningChoice& choice);
    void recipeAsked(ui::TuningRecipe recipe);
    void filesDropped(const QStringList& paths);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    struct Fact {
        QLabel* name;
        LiveLabel* value;
    };

    void build();
    void buildForm(QVBoxLayout& form);
    void buildPrompts(QVBoxLayout& form);
    void buildLength(QVBoxLayout& form);
    void buildCosts(QVBoxLayout& form);
    void buildResult(QVBoxLayout& form);
    QLabel* addTitle(QVBoxLayout& form, const QString& text);
    QLabel* addNote(QVBoxLayout& form);
    Fact addFact(const QString& name);
    static void showFact(const Fact& fact, const QString& value);
    void showSession();
    void showChoice(const TuningChoice& choice);
    void showRecipe();
    TuningModel shownModel() const;
    const TuningRun& shownRun(const TuningChoice& chosen) const;
    void showCosts();
    void showPrices(const std::optional<TuningPrices>& prices);
    void showStart();
    void restyle();

    const Theme& m_theme;
    const TuningSession& m_session;
    ColumnScroll* m_scroll = nullptr;
    QWidget* m_form = nullptr;
    TuningRecipeChoice* m_recipe = nullptr;
    PromptSources* m_sources = nullptr;
    QSpinBox* m_selfPrompts = nullptr;
    QCheckBox* m_chats = nullptr;
    QLabel* m_chatsNote = nullptr;
    SegmentedControl* m_length = nullptr;
    QSpinBox* m_minutes = nullptr;
    QSpinBox* m_answers = nullptr;
    QLabel* m_trainedTitle = nullptr;
    SegmentedControl* m_trained = nullptr; ///< LoRA or all weights
    QGridLayout* m_facts = nullptr;
    Fact m_tokens{};
    Fact m_time{};
    Fact m_memory{};
    Fact m_disk{};
    Fact m_weights{};
    Fact m_size{};
    Fact m_draftPrice{};
    Fact m_rowsPrice{};
    QCheckBox* m_use = nullptr;
    QLabel* m_outputNote = nullptr;
    OutputField* m_output = nullptr;
    QWidget* m_foot = nullptr;
    QLabel* m_obstacle = nullptr;
    QPushButton* m_start = nullptr;
    int m_number = 0; ///< of the training whose choices were shown
};

} // namespace ui
