// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QImage>
#include <QRect>

#include <cstdint>

namespace ui {

/// Writes an animated PNG (W3C PNG, third edition): a file that any program shows as its first
/// picture, and browsers and presentations as a film that repeats. Pixels are compressed by Qt; of
/// each further frame only the part that changes is stored. A frame equal to the one before makes
/// that one last longer. Thread: any, one at a time.
class ApngWriter {
public:
    /// Appends a frame; all have the size of the first. False when Qt cannot compress it, or the
    /// size differs.
    bool add(const QImage& frame, int milliseconds);

    /// The whole file; empty without frames. Nothing can be added after it.
    QByteArray finish();

    /// Frames in the file so far.
    int frameCount() const { return m_frames; }

    qint64 byteCount() const { return m_body.size(); }

private:
    void writePending();

    QImage m_last;     ///< the newest frame, whole
    QRect m_part;      ///< of it, not yet written
    QByteArray m_data; ///< its compressed pixels
    int m_milliseconds = 0;
    QByteArray m_header; ///< IHDR of the first frame
    QByteArray m_body;
    std::uint32_t m_sequence = 0;
    int m_frames = 0;
};

} // namespace ui
