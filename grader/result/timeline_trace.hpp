// The timeline of a task's measured case as Chrome Trace Event JSON, beside the result: for ui.perfetto.dev and the
// visualizer.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge {

// The name that the submission gives a stream, cleaned and of at most 64 characters; empty where it is unknown.
std::string given_stream_name(const Timeline& timeline, int stream);

// A row for the host, one for each direction's copy engine, and one for the kernels of each stream (more, where a
// stream's run side by side).
std::string timeline_trace(const Result& result, const TaskResult& task);

// Writes those of all tasks to where store() puts the result, and names them in it: call it first. Names are cleaned.
void store_traces(Result& result);

// Takes files beside the result away again: `which` names them, TaskResult::trace or warp_name.
void remove_beside(Result& result, std::string TaskResult::*which);

// Whether a file of the results' folder is a trace (or warps' requests), not a result.
bool is_trace(const fs::path& file);

}  // namespace ridge
