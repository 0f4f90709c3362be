// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <functional>

namespace ui {

/// Whether the adapter that was trained here is the one that drafts for its model from the next
/// load on. Files are compared and written on a thread of their own, because adapters can be large.
/// Thread: UI.
class AdapterUse : public QObject {
    Q_OBJECT

public:
    /// What lies where the user's adapter for the model has its place.
    enum class Used {
        Unknown, ///< not looked at yet
        None,
        Result, ///< what was trained here, byte for byte
        Other,
    };

    explicit AdapterUse(QObject* parent = nullptr);

    /// Waits for what is being written.
    ~AdapterUse() override;

    /// Looks what lies there now. An empty place: there is none.
    void look(const QString& adapter, const QString& place);

    Used used() const { return m_used; }

    /// The trained adapter gets the place. Another one that has it is kept, see
    /// engine::keepUsedAdapter().
    void use();

    /// The trained adapter leaves the place, if it has it, and is still where it was trained.
    void remove();

signals:
    void changed();

    /// `before`: as what the other adapter is kept; empty: there was none.
    void placed(const QString& before);
    void removed();
    void failed(const QString& sentence);

private:
    struct Deed {
        bool isDone = false;
        QString before = {};
        QString problem = {};
    };

    using Task = std::function<Deed(const QString& adapter, const QString& place)>;

    static Deed put(const QString& adapter, const QString& place);
    static Deed takeAway(const QString& adapter, const QString& place);
    static Deed keepOther(const QString& place);
    void later(const Task& task, const std::function<void(const Deed&)>& tell);
    void setUsed(Used used);

    QString m_adapter;
    QString m_place;
    Used m_used = Used::None;
    int m_number = 0; ///< of adapter and place: what is found for others comes too late
    QThreadPool m_thread{this};
};

} // namespace ui
