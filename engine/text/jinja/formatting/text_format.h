// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/containers.h"

namespace engine::jinja {

/// Python's format % values: %s %r %d %i %f %e %g %x %o %c %% with flags, width and precision,
/// and %(name)s. Errors: too few or too many values, a wrong type, widths beyond the limit.
Result<Value>
percentFormatted(RenderContext& context, const std::string& format, const Value& values);

/// Python's format.format(...): {}, {0}, {name}, {name.attribute}, {name[key]} with !s, !r and
/// fill, align, sign, width, precision and type. Errors: as above.
Result<Value>
braceFormatted(RenderContext& context, const std::string& format, const Arguments& arguments);

} // namespace engine::jinja
