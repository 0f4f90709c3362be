// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/bridge/run_store.h"
#include "ui/plots/picture_file.h"
#include "ui/shell/selection.h"
#include "ui/theme/theme.h"

#include <QString>
#include <QStringList>
#include <QWidget>

#include <vector>

class QPainter;
class QUndoStack;

namespace ui {

/// What every view is constructed from; all of it outlives the view.
struct ViewContext {
    const Theme& theme;
    const RunStore& store;
    EngineBridge& bridge;
    Selection& selection;
    QUndoStack& undoStack; ///< for changes of the run: skip sets, settings
};

/// A description of a view, for docks, menus and users.
struct ViewInfo {
    QString id;          ///< for layouts: "layer_map"; never shown
    QString title;       ///< "Layer map"
    QString explanation; ///< one paragraph: what the view shows, and the paper's figure to compare
                         ///< it with
    Topics topics;       ///< what it shows
    int intervalMs = 0;  ///< shortest time between two refreshes while an answer is generated
};

/// A view of the run. It does not paint by itself: the bridge refreshes it at most once per tick
/// while it is visible and not frozen, and passes all changes since the last refresh together.
class View : public QWidget, public Picture, public PictureSource {
    Q_OBJECT

public:
    View(const ViewContext& context, ViewInfo info, QWidget* parent = nullptr);
    ~View() override;

    const ViewInfo& info() const { return m_info; }

    /// The muted text beside the title, which says which data is shown. Emits subtitleChanged().
    const QString& subtitle() const { return m_subtitle; }

    /// A badge beside the title, "live" or "step 300"; empty = none. Emits subtitleChanged().
    const QString& badge() const { return m_badge; }

    /// Shown in the dock's title at the right; owned by the view's dock. May be null.
    virtual QWidget* makeLegend(QWidget* /*parent*/) { return nullptr; }

    /// The picture's numbers. Empty when it has none.
    FigureTable table() const override { return {}; }

    QSize pictureSize() const override { return size(); }

    void drawPicture(QPaintDevice& device, QSize size) final;

    /// Draws the picture for a file, in `size` device-independent pixels; by default what is on
    /// the screen.
    virtual void drawFigure(QPainter& painter, const QSize& size);

    /// Frozen: nothing is refreshed until it is unfrozen.
    bool isFrozen() const { return m_isFrozen; }

    void setFrozen(bool isFrozen);

    /// Whether it is not hidden, not in a minimised window, not behind another dock's tab (Qt
    /// leaves such a dock visible, outside the window) and not frozen.
    bool isShowing() const override;

    int leastIntervalMs() const override { return m_info.intervalMs; }

    /// How often it was refreshed; for tests.
    int refreshCount() const { return m_refreshCount; }

    void refresh(Topics changed) final;

signals:
    void subtitleChanged();
    void frozenChanged(bool isFrozen);

protected:
    /// Brings the picture up to date.
    virtual void refreshView(Topics changed) = 0;

    void setSubtitle(const QString& subtitle);
    void setBadge(const QString& badge);

    /// The badge of a view that shows the newest data: "live", or "replay" in a replay.
    QString newestBadge() const;

    const Theme& theme() const { return m_context.theme; }

    const RunStore& store() const { return m_context.store; }

    Selection& selection() const { return m_context.selection; }

    const ViewContext& context() const { return m_context; }

private:
    ViewContext m_context;
    ViewInfo m_info;
    QString m_subtitle;
    QString m_badge;
    bool m_isFrozen = false;
    int m_refreshCount = 0;
};

} // namespace ui
