#pragma once
constexpr unsigned kThreads = 256;
