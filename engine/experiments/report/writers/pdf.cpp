// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/writers/pdf.h"

#include "engine/experiments/report/writers/escaped_text.h"

#include <algorithm>
#include <cairo/cairo-pdf.h>
#include <cmath>
#include <memory>
#include <numbers>

namespace engine {

namespace {

constexpr double kPointsPerPixel = 0.75;
constexpr double kHatchPeriod = 6.0;

struct SurfaceDeleter {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

struct ContextDeleter {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
};

cairo_status_t appendBytes(void* closure, const unsigned char* data, unsigned int length) {
    auto* const text = static_cast<std::string*>(closure);
    text->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

/// Paints the marks of a drawing.
class PdfPainter {
public:
    PdfPainter(cairo_t* cairo, const Palette& palette)
        : m_cairo(cairo)
        , m_palette(palette) {}

    void paint(const Drawing& drawing) {
        setInk(Ink::Panel);
        cairo_paint(m_cairo);
        for (const Mark& mark : drawing.marks) {
            if (!mark.points.empty())
                paintMark(mark);
        }
    }

private:
    void setInk(Ink ink) {
        const InkColour& colour = colourOf(m_palette, ink);
        cairo_set_source_rgba(
            m_cairo, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0, colour.alpha);
    }

    void paintMark(const Mark& mark) {
        const DrawingPoint at = mark.points.front();
        if (mark.shape == MarkShape::Text) {
            paintText(mark);
            return;
        }
        cairo_new_path(m_cairo);
        switch (mark.shape) {
        case MarkShape::Line:
            for (const DrawingPoint& point : mark.points)
                cairo_line_to(m_cairo, point.x, point.y);
            break;
        case MarkShape::Rectangle:
            if (mark.points.size() > 1)
                cairo_rectangle(m_cairo,
                                std::min(at.x, mark.points[1].x),
                                std::min(at.y, mark.points[1].y),
                                std::abs(mark.points[1].x - at.x),
                                std::abs(mark.points[1].y - at.y));
            break;
        case MarkShape::Circle:
            cairo_arc(m_cairo, at.x, at.y, mark.radius, 0.0, 2.0 * std::numbers::pi);
            break;
        case MarkShape::Diamond:
            cairo_move_to(m_cairo, at.x, at.y - mark.radius);
            cairo_line_to(m_cairo, at.x + mark.radius, at.y);
            cairo_line_to(m_cairo, at.x, at.y + mark.radius);
            cairo_line_to(m_cairo, at.x - mark.radius, at.y);
            cairo_close_path(m_cairo);
            break;
        case MarkShape::Text:
            break;
        }
        if (mark.fill) {
            setInk(*mark.fill);
            cairo_fill_preserve(m_cairo);
        }
        if (mark.hatch != HatchKind::None)
            paintHatch(mark);
        if (mark.stroke) {
            setInk(*mark.stroke);
            cairo_set_line_width(m_cairo, mark.strokeWidth);
            cairo_set_dash(m_cairo, mark.dashes.data(), static_cast<int>(mark.dashes.size()), 0.0);
            cairo_stroke(m_cairo);
        }
    }

    /// Draws the hatch inside the path at work, and keeps the path.
    void paintHatch(const Mark& mark) {
        const DrawingPoint a = mark.points[0];
        const DrawingPoint b = mark.points.back();
        const double left = std::min(a.x, b.x);
        const double right = std::max(a.x, b.x);
        const double top = std::min(a.y, b.y);
        const double bottom = std::max(a.y, b.y);
        cairo_save(m_cairo);
        cairo_clip_preserve(m_cairo);
        const std::unique_ptr<cairo_path_t, void (*)(cairo_path_t*)> outline(
            cairo_copy_path(m_cairo), cairo_path_destroy);
        cairo_new_path(m_cairo);
        setInk(Ink::Hatch);
        cairo_set_line_width(m_cairo, 1.6);
        cairo_set_dash(m_cairo, nullptr, 0, 0.0);
        if (mark.hatch == HatchKind::Dots) {
            for (double y = top + kHatchPeriod / 2.0; y < bottom; y += kHatchPeriod) {
                for (double x = left + kHatchPeriod / 2.0; x < right; x += kHatchPeriod) {
                    cairo_new_sub_path(m_cairo);
                    cairo_arc(m_cairo, x, y, 1.3, 0.0, 2.0 * std::numbers::pi);
                }
            }
            cairo_fill(m_cairo);
        } else if (mark.hatch == HatchKind::Horizontal) {
            for (double y = top + kHatchPeriod / 2.0; y < bottom; y += kHatchPeriod) {
                cairo_move_to(m_cairo, left, y);
                cairo_line_to(m_cairo, right, y);
            }
            cairo_stroke(m_cairo);
        } else {
            for (double x = left; x < right + bottom - top; x += kHatchPeriod * 1.4) {
                cairo_move_to(m_cairo, x, top);
                cairo_line_to(m_cairo, x - (bottom - top), bottom);
            }
            cairo_stroke(m_cairo);
        }
        cairo_new_path(m_cairo);
        cairo_append_path(m_cairo, outline.get());
        cairo_restore(m_cairo);
    }

    void paintText(const Mark& mark) {
        const std::string text = printableText(mark.text);
        cairo_select_font_face(m_cairo,
                               mark.style.isMono ? "Noto Sans Mono" : "Inter",
                               CAIRO_FONT_SLANT_NORMAL,
                               mark.style.isBold ? CAIRO_FONT_WEIGHT_BOLD
                                                 : CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_font_size(m_cairo, mark.style.size);
        cairo_text_extents_t extents{};
        cairo_text_extents(m_cairo, text.c_str(), &extents);
        const double shift = mark.anchor == TextAnchor::Start    ? 0.0
                             : mark.anchor == TextAnchor::Middle ? extents.x_advance / 2.0
                                                                 : extents.x_advance;
        setInk(mark.fill.value_or(Ink::Text));
        cairo_save(m_cairo);
        cairo_translate(m_cairo, mark.points[0].x, mark.points[0].y);
        cairo_rotate(m_cairo, mark.turn * std::numbers::pi / 180.0);
        cairo_move_to(m_cairo, -shift, 0.0);
        cairo_show_text(m_cairo, text.c_str());
        cairo_restore(m_cairo);
    }

    cairo_t* m_cairo;
    const Palette& m_palette;
};

} // namespace

Result<std::string> pdfDocument(const Drawing& drawing, const Palette& palette) {
    std::string bytes;
    const std::unique_ptr<cairo_surface_t, SurfaceDeleter> surface(
        cairo_pdf_surface_create_for_stream(appendBytes,
                                            &bytes,
                                            std::max(drawing.width, 1.0) * kPointsPerPixel,
                                            std::max(drawing.height, 1.0) * kPointsPerPixel));
    cairo_pdf_surface_set_metadata(
        surface.get(), CAIRO_PDF_METADATA_TITLE, printableText(drawing.summary).c_str());
    {
        const std::unique_ptr<cairo_t, ContextDeleter> context(cairo_create(surface.get()));
        cairo_scale(context.get(), kPointsPerPixel, kPointsPerPixel);
        PdfPainter(context.get(), palette).paint(drawing);
        cairo_show_page(context.get());
        if (const cairo_status_t status = cairo_status(context.get());
            status != CAIRO_STATUS_SUCCESS)
            return Error{status == CAIRO_STATUS_NO_MEMORY ? ErrorCode::NoMemory : ErrorCode::Io,
                         fmt::format("A figure could not be written as PDF: {}.",
                                     cairo_status_to_string(status)),
                         "The other formats of the report hold the same figure."};
    }
    cairo_surface_finish(surface.get());
    if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS)
        return Error{ErrorCode::Io,
                     fmt::format("A figure could not be written as PDF: {}.",
                                 cairo_status_to_string(cairo_surface_status(surface.get()))),
                     "The other formats of the report hold the same figure."};
    return bytes;
}

} // namespace engine
