// Conway's game of life on a torus: two boards in turn, a generation a launch, captured once as a graph of two.
#include "../sample.hpp"

__global__ void generation(const unsigned char* now, unsigned char* next, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) alive += now[(y + dy + height) % height * width + (x + dx + width) % width];
  next[y * width + x] = alive == 3 || (alive == 2 && now[y * width + x] != 0);
}

int main() {
  const int width = 45, height = 30, generations = 12;
  Random random(17);
  std::vector<unsigned char> board(width * height), next(board.size());
  for (auto& cell : board) cell = random.below(3) == 0;
  unsigned char *a = to_device(board), *b = device_array<unsigned char>(board.size());
  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  generation<<<grid, block, 0, stream>>>(a, b, width, height);
  generation<<<grid, block, 0, stream>>>(b, a, width, height);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int g = 0; g < generations; g += 2) CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (int g = 0; g < generations; ++g) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int alive = 0;
        for (int k = 0; k < 9; ++k)
          if (k != 4) alive += board[(y + k / 3 - 1 + height) % height * width + (x + k % 3 - 1 + width) % width];
        next[y * width + x] = alive == 3 || (alive == 2 && board[y * width + x] != 0);
      }
    board.swap(next);
  }
  expect_equal(to_host(a, board.size()), board, "board");
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaFree(a));
  CUDA_CHECK(cudaFree(b));
  std::puts("ok");
}
