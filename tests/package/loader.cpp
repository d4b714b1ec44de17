// Runs the consumer out of a shared library.
int walk_and_rank();

int main() {
  return walk_and_rank();
}
