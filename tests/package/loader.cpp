// Runs the consumer from a shared library.
int walk_and_rank();

int main() {
  return walk_and_rank();
}
