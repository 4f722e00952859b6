// The KV cache is a pool of pages of kPage tokens.
#pragma once

constexpr int kPage = 16;
