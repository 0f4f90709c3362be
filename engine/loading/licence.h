// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"

#include <string>

namespace engine {

/// The licence that a model's files name, as text for people: "general.license" of a GGUF, or
/// "license" in the head of the README.md that lies in its folder (what a model card begins with:
/// lines between two lines "---"). Empty when neither tells one. Never fails: a file that cannot be
/// read names none.
std::string licenceOf(const ModelFiles& files);

} // namespace engine
