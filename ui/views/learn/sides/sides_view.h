// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/chat/session/chat_session.h"
#include "ui/learn/lessons/lesson_fact_sources.h"
#include "ui/shell/docks/view.h"
#include "ui/views/controls/presets/preset.h"
#include "ui/views/learn/sides/side_words.h"

#include <functional>
#include <optional>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace ui {

class LiveLabel;
class SideColumns;
class TimeLanes;
class VerdictBand;

/// The same prompt answered by two decoders side by side: what they write, in lines of the same
/// tokens, when, and what came of it. Nothing reaches the chat unless the user keeps an answer.
/// Thread: UI.
class SidesView : public View, public LessonFactSource {
    Q_OBJECT

public:
    SidesView(const ViewContext& context, SidesForm form, QWidget* parent = nullptr);

    /// Makes the question as the chat would ask it now: of a message of the chat, none if it is not
    /// shown, or (0) of words that the user typed here.
    using QuestionMaker =
        std::function<std::optional<ChatSession::Aside>(const QString& words, MessageId question)>;

    /// Without it nothing can be asked.
    void setQuestionMaker(QuestionMaker maker);

    /// Where the chat has the question, now that an answer to it was kept.
    void setAsked(const ChatSession::Aside& question) { m_asked = question; }

    /// Beside all decoders, these can be chosen.
    void setPresets(const std::vector<Preset>& presets);

    /// Shows a question that may be asked; on request it is asked at once.
    void setQuestion(const ChatSession::Aside& question, bool isAsked);

    /// At the right, whatever was chosen there before.
    void chooseChatsDecoder();

    /// Asks the question in the field; again if it was asked before.
    void ask();

    void stop() { m_run.stop(); }

    /// Marks where each token came from.
    void setShowsOrigin(bool isShown);

    const SideRun& run() const { return m_run; }

    /// Of the lossless check alone.
    void tellFacts(engine::LessonFacts& facts) const override;

    QLineEdit& questionField() { return *m_question; }

    QString verdictText() const;

    /// Smaller than its parts together: see giveRoom().
    QSize minimumSizeHint() const override { return {theme().scaled(340), theme().scaled(300)}; }

    FigureTable table() const override { return sidesTable(m_run); }

signals:
    /// A run began or ended.
    void stateChanged();

    /// The user wants the chat's newest question here.
    void chatQuestionAsked();

    /// The user keeps these answers to the question; the last one is to be shown.
    void answersKept(const ui::ChatSession::Aside& question,
                     const QList<ui::StoredMessage>& answers);

    /// Back to where the question came from.
    void leaveAsked();

protected:
    void refreshView(Topics changed) override;
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Choice {
        QString label; ///< in the box
        SideDecoder decoder;
    };

    void build();
    QWidget* makeTools();
    QWidget* makeHeads();
    QWidget* makeFoot();
    void arrangeTools();
    std::vector<Choice> makeChoices() const;
    void fillChoices();
    std::optional<SideDecoder> chosen(SideRun::Place side) const;
    void showRun();
    void showState();
    void showCalls();
    void sizeCalls();
    void giveRoom();
    void chooseToken(int token);
    void outline(int token);
    void keep(const std::vector<SideRun::Place>& sides);
    void restyle();

    SidesForm m_form;
    SideRun m_run;
    QuestionMaker m_maker;
    std::vector<Preset> m_presets;
    std::vector<Choice> m_choices;             // of both boxes
    std::optional<ChatSession::Aside> m_given; // as long as its text stands in the field
    QString m_model;                           // that was asked
    ChatSession::Aside m_asked;
    bool m_isDirty = true; // since the last refresh
    QLineEdit* m_question;
    QComboBox* m_left;
    QComboBox* m_right;
    QLabel* m_versus;
    QPushButton* m_ask;
    QPushButton* m_fromChat;
    QGridLayout* m_tools = nullptr;
    VerdictBand* m_verdict;
    std::array<LiveLabel*, 2> m_heads = {};
    QLabel* m_gutterHead;
    SideColumns* m_columns;
    TimeLanes* m_lanes;
    QWidget* m_calls;
    QTableView* m_callTable;
    FigureTableModel* m_callModel;
    std::vector<engine::CloseCall> m_shownCalls;
    QLabel* m_drift;
    QWidget* m_keepRow;
    std::vector<QPushButton*> m_keepButtons;
};

/// Vanilla beside another decoder, which must write the same.
class LosslessView : public SidesView {
public:
    explicit LosslessView(const ViewContext& context)
        : SidesView(context, SidesForm::Check) {}
};

/// Any two decoders or presets, of whose answers the user keeps one or both.
class SplitView : public SidesView {
public:
    explicit SplitView(const ViewContext& context)
        : SidesView(context, SidesForm::Split) {}
};

} // namespace ui
