// A binary search tree of pointers in managed memory: built by the host, searched and summed by the device, changed there.
#include <new>
#include <set>

#include "sample.hpp"

struct Node {
  int key;
  float payload;
  Node *left, *right;
};

// Allocates nodes from one managed block.
class Tree {
 public:
  explicit Tree(int capacity) {
    CUDA_CHECK(cudaMallocManaged(&nodes_, capacity * sizeof(Node)));
    CUDA_CHECK(cudaMallocManaged(&root_, sizeof(Node*)));
    *root_ = nullptr;
  }
  ~Tree() {
    cudaFree(nodes_);
    cudaFree(root_);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  bool insert(int key) {
    Node** at = root_;
    while (*at != nullptr) {
      if ((*at)->key == key) return false;
      at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    }
    *at = new (&nodes_[size_++]) Node{key, 0.0f, nullptr, nullptr};
    return true;
  }
  Node** root() const { return root_; }
  Node* nodes() const { return nodes_; }
  int size() const { return size_; }

 private:
  Node *nodes_ = nullptr, **root_ = nullptr;
  int size_ = 0;
};

__device__ const Node* find(const Node* node, int key, int& depth) {
  for (depth = 0; node != nullptr && node->key != key; ++depth) node = key < node->key ? node->left : node->right;
  return node;
}

__global__ void lookup(Node* const* root, const int* keys, int* depths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int depth;
  depths[i] = find(*root, keys[i], depth) != nullptr ? depth : -1;
}

__global__ void set_payloads(Node* nodes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) nodes[i].payload = 0.5f * nodes[i].key;
}

// A walk with an own stack: one thread a subtree of the root.
__global__ void sum_subtrees(Node* const* root, float* sums) {
  const Node* stack[64];
  int top = 0;
  float sum = 0;
  const Node* start = threadIdx.x == 0 ? (*root)->left : (*root)->right;
  if (start != nullptr) stack[top++] = start;
  while (top > 0) {
    const Node* node = stack[--top];
    sum += node->payload;
    if (node->left != nullptr) stack[top++] = node->left;
    if (node->right != nullptr) stack[top++] = node->right;
  }
  sums[threadIdx.x] = sum;
}

int main() {
  const int n = 403, asked = 1001;
  Random random(22);
  Tree tree(n);
  std::set<int> keys;
  for (int i = 0; i < n; ++i) {
    int key = random.below(1000);
    expect(tree.insert(key) == keys.insert(key).second, "insertion on the host");
  }
  int *questions, *depths;
  float* sums;
  CUDA_CHECK(cudaMallocManaged(&questions, asked * sizeof(int)));
  CUDA_CHECK(cudaMallocManaged(&depths, asked * sizeof(int)));
  CUDA_CHECK(cudaMallocManaged(&sums, 2 * sizeof(float)));
  for (int i = 0; i < asked; ++i) questions[i] = i;
  lookup<<<blocks_for(asked, 128), 128>>>(tree.root(), questions, depths, asked);
  set_payloads<<<blocks_for(tree.size(), 128), 128>>>(tree.nodes(), tree.size());
  sum_subtrees<<<1, 2>>>(tree.root(), sums);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());  // the host may look only now
  for (int i = 0; i < asked; ++i) {
    int depth = 0;
    const Node* node = *tree.root();
    for (; node != nullptr && node->key != i; ++depth) node = i < node->key ? node->left : node->right;
    expect(depths[i] == (node == nullptr ? -1 : depth), "depth of a key");
    expect((node != nullptr) == (keys.count(i) == 1), "which keys there are");
  }
  float wanted = 0;
  for (int key : keys) wanted += 0.5f * key;
  expect(sums[0] + sums[1] + (*tree.root())->payload == wanted, "sums of the subtrees");  // small halves: exact
  CUDA_CHECK(cudaFree(questions));
  CUDA_CHECK(cudaFree(depths));
  CUDA_CHECK(cudaFree(sums));
  std::puts("ok");
}
