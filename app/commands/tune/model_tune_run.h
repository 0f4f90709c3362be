// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/tune/tune_work.h"

namespace app {

/// One run of a recipe that changes the model: collects, trains, writes a new model folder and
/// measures it beside the untouched model. A model that does not keep its quality gets the folder
/// OUT-rejected and a note that says why. Errors: those of all these; Cancelled with everything
/// in place for --resume.
engine::Result<void> runModelTuning(TuneWork& work);

} // namespace app
