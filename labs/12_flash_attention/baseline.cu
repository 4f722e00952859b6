#include "flash_attention.hpp"
