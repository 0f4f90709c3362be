// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/pending_changes.h"
#include "ui/shell/docks/view.h"

class QPushButton;

namespace ui {

class ColumnSlider;
class HistoryColumns;
class LiveLabel;
class TransportButton;

/// The best sets of the search, a column for each change, with a slider that selects the time shown
/// by all views. While it is frozen, picture and table are those of that moment; the slider moves
/// among its columns. Thread: UI.
class HistoryView : public View {
    Q_OBJECT

public:
    /// Ticks of the bridge that a column stays while playing.
    static constexpr int kTicksPerColumn = 8;

    explicit HistoryView(const ViewContext& context, QWidget* parent = nullptr);

    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    HistoryColumns& columns() { return *m_columns; }

    ColumnSlider& slider() { return *m_slider; }

    bool isPlaying() const { return m_isPlaying; }

    /// Plays on from the column shown, or from the first one if that is the newest.
    void setPlaying(bool isPlaying);

    QSize sizeHint() const override;

protected:
    void refreshView(Topics changed) override;

private:
    void build();
    void styleParts();
    void followFreezing(bool isFrozen);
    FigureTable newestTable() const;
    void leaveGonePlace();
    void showColumns();
    void updateAll();
    void updateInfo();
    void updateEmpty();
    void useSearch();
    void goTo(int index);
    void goToLive();
    void select(std::optional<int> index);
    void playOn();
    int newestCount() const;
    int count() const;
    bool isStillThere(int index) const;
    int current() const;

    PendingChanges m_choices; // of the decoder
    HistoryColumns* m_columns = nullptr;
    QWidget* m_transport = nullptr;
    TransportButton* m_previous = nullptr;
    TransportButton* m_play = nullptr;
    TransportButton* m_next = nullptr;
    ColumnSlider* m_slider = nullptr;
    LiveLabel* m_info = nullptr;
    LiveLabel* m_reason = nullptr; // why there is no column
    QPushButton* m_backToLive = nullptr;
    QPushButton* m_useSearch = nullptr;
    std::string m_task;   // of the search, whose places can be selected
    FigureTable m_frozen; // the table at the moment of freezing
    int m_trials = 0;     // search steps of what is shown
    QString m_problem;    // with choosing the decoder that searches
    bool m_isPlaying = false;
    int m_ticks = 0;
};

} // namespace ui
